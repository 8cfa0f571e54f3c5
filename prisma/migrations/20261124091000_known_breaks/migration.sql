ALTER TABLE conciliation.match_run
  ADD COLUMN breaks       integer NOT NULL DEFAULT 0,
  ADD COLUMN broken_dates date[]  NOT NULL DEFAULT '{}';

COMMENT ON COLUMN conciliation.match_run.breaks IS
  'Number of breaks after the run.';
COMMENT ON COLUMN conciliation.match_run.broken_dates IS
  'The accepted dates with a break after the run. AUTO_SIGN_OFF signs none of them.';
