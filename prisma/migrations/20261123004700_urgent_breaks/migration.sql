ALTER TABLE conciliation.match_run
  ADD COLUMN urgent_known  boolean NOT NULL DEFAULT false,
  ADD COLUMN urgent_dates  date[]  NOT NULL DEFAULT '{}',
  ADD COLUMN urgent_breaks integer NOT NULL DEFAULT 0;

COMMENT ON COLUMN conciliation.match_run.urgent_known IS
  'Whether the run has counted the urgent breaks, and no person has decided about a match or a break since.';
COMMENT ON COLUMN conciliation.match_run.urgent_dates IS
  'The accepted dates with an urgent break after the run.';
COMMENT ON COLUMN conciliation.match_run.urgent_breaks IS
  'Number of urgent breaks after the run.';
