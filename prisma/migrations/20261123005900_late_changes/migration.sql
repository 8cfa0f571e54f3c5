-- Changes that are committed while another transaction works.

ALTER TABLE conciliation.match_run ADD COLUMN payables_seen numeric NOT NULL DEFAULT 0;

COMMENT ON COLUMN conciliation.match_run.payables_seen IS
  'The sum of erp_payable.changed_at in seconds, of the payables that the run saw and that had changed within a day before. Another sum at a later time means that a payable was committed since, whenever its transaction began.';

ALTER TABLE conciliation.program_lock DROP CONSTRAINT program_lock_name_check;
ALTER TABLE conciliation.program_lock ADD CONSTRAINT program_lock_name_check
  CHECK (name IN ('closing', 'planner', 'alerts', 'push', 'audit', 'matching', 'checks'));
INSERT INTO conciliation.program_lock (name) VALUES ('checks');
COMMENT ON COLUMN conciliation.program_lock.name IS
  'closing: the closing phase of a merge. planner: the planning of pulls and sweeps. alerts: the derivation of alerts. push: the requests with providers. audit: the end of the audit chain. matching: the changes of matches. checks: the checks of the titles of a date.';
