-- A pull is one accepted date, and changes of titles are numbered in a table of their own.

ALTER TABLE conciliation.pull DROP CONSTRAINT pull_window_check;
DROP INDEX conciliation.pull_window_idx;
ALTER TABLE conciliation.pull DROP COLUMN window_to;
ALTER TABLE conciliation.pull RENAME COLUMN window_from TO date;
ALTER TABLE conciliation.pull
  ADD COLUMN date_was_closed boolean,
  ADD COLUMN withheld        integer,
  ADD COLUMN hold_reason     text,
  ADD COLUMN decided_at      timestamptz,
  ADD COLUMN decided_by      text,
  ADD COLUMN reason          text,
  ADD CONSTRAINT pull_withheld_check CHECK (withheld >= 0);
CREATE INDEX pull_date_idx ON conciliation.pull (date);

COMMENT ON TABLE conciliation.pull IS
  'One row for every pull: the request for the titles of one accepted date, with all its attempts. This table is what makes work exist; the queue only wakes the workers up. Read by date, newest first, it is the history of a day.';
COMMENT ON COLUMN conciliation.pull.origin IS
  'Why the pull was made. daily: the day before. lookback: one of the days before that, pulled again. backfill: part of a backfill. sweep: a sweep found that the date differs. manual: a person asked for the date.';
COMMENT ON COLUMN conciliation.pull.date IS
  'The accepted date that is asked for (conciliationDate).';
COMMENT ON COLUMN conciliation.pull.date_was_closed IS
  'Whether the date was over in the configured time zone when the request of the latest attempt was sent. Only such a pull makes a date reconciled. Null: no response was merged or held yet.';
COMMENT ON COLUMN conciliation.pull.state IS
  'queued: due at next_attempt_at. running: an attempt is under way. merged: titles changed, by the pull itself or by the release of a person (decided_at). unchanged: the platform stated what was already here. held: waits for a person''s release. superseded: a newer fetch had decided the date first; nothing was changed. failed: no attempt is left, or repeating is pointless. cancelled: a person stopped it.';
COMMENT ON COLUMN conciliation.pull.inserted IS
  'Titles seen for the first time. Of a held pull: what a release would insert. Null: no whole response yet.';
COMMENT ON COLUMN conciliation.pull.changed IS
  'Titles restated. Of a held pull: what a release would change. Null: no whole response yet.';
COMMENT ON COLUMN conciliation.pull.withdrawn IS
  'Titles that vanished. Of a held pull: what a release would withdraw. Null: no whole response yet.';
COMMENT ON COLUMN conciliation.pull.restored IS
  'Withdrawn titles that reappeared. Of a held pull: what a release would restore. Null: no whole response yet.';
COMMENT ON COLUMN conciliation.pull.unchanged IS
  'Titles found as they were. Null: no whole response yet.';
COMMENT ON COLUMN conciliation.pull.withheld IS
  'Titles that the response does not state and that stay current all the same, because one of its rejected titles may be them. Null: no whole response yet.';
COMMENT ON COLUMN conciliation.pull.hold_reason IS
  'Why the pull was held. emptied: the response has no title for a date that has some. unreadable: the response has titles, all of them rejected. withdrawal_limit: it would withdraw more than the configured share. Null: it was not held.';
COMMENT ON COLUMN conciliation.pull.decided_at IS
  'When a person released the pull. Null: no person decided.';
COMMENT ON COLUMN conciliation.pull.decided_by IS
  'The person who released it. Null: no person decided. Personal data.';
COMMENT ON COLUMN conciliation.pull.reason IS
  'The reason in the words of that person. Null: no person decided.';

DROP TABLE conciliation.pull_date;


-- Changes of titles ------------------------------------------------------------------------------

DROP VIEW conciliation.title_feed;
DROP INDEX conciliation.title_change_seq_key;
ALTER TABLE conciliation.title DROP COLUMN change_seq;

CREATE TABLE conciliation.title_change (
  change_seq bigserial PRIMARY KEY,
  title_id   bigint    NOT NULL,
  kind       text      NOT NULL,
  pull_id    bigint    NOT NULL,

  CONSTRAINT title_change_kind_check CHECK (kind IN ('inserted', 'changed', 'withdrawn', 'restored'))
);

COMMENT ON TABLE conciliation.title_change IS
  'One row for every change of a title, in the order in which the changes became visible. Append-only. A merge numbers its changes in its closing phase, which holds the lock of closing_lock until the commit: when a change_seq is visible, no smaller one can still appear.';
COMMENT ON COLUMN conciliation.title_change.change_seq IS
  'Position of the change. Not dense: numbers may be skipped. Never used twice.';
COMMENT ON COLUMN conciliation.title_change.title_id IS
  'title.id of the title that changed.';
COMMENT ON COLUMN conciliation.title_change.kind IS
  'inserted: seen for the first time. changed: some field was restated. withdrawn: the title vanished from its date. restored: a withdrawn title reappeared, perhaps restated.';
COMMENT ON COLUMN conciliation.title_change.pull_id IS
  'pull.id of the pull that brought the change.';

CREATE TRIGGER title_change_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON conciliation.title_change
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();

CREATE VIEW conciliation.title_feed AS
SELECT
  change.change_seq,
  change.kind AS change_kind,
  title.id,
  title.status,
  title.order_uid,
  title.occurrence,
  title.accepted_date,
  title.anticipated_due_date,
  title.buyer_identification,
  title.provider_external_id,
  title.provider_identification,
  title.provider_bank,
  title.provider_agency,
  title.provider_agency_digit,
  title.provider_account,
  title.provider_account_digit,
  title.financial_agent_type,
  title.financial_agent_identification,
  title.financial_agent_name,
  title.buyer_is_financial,
  title.payment_type,
  title.payment_bank,
  title.payment_agency,
  title.payment_agency_digit,
  title.payment_account,
  title.payment_account_digit,
  title.original_value,
  title.platform_discounted_value,
  title.financial_discounted_value,
  title.buyer_discounted_value,
  title.billing_fee,
  title.money_transfer_fee,
  title.platform_commission,
  title.extra,
  title.first_pull_id,
  title.last_change_pull_id,
  title.created_at,
  title.changed_at
FROM conciliation.title_change change
JOIN conciliation.title title ON title.id = change.title_id;

COMMENT ON VIEW conciliation.title_feed IS
  'What an ERP consumer reads: WHERE change_seq > :last ORDER BY change_seq, where :last is the greatest change_seq that the consumer has processed (0 at first). One row for every change of a title; every row shows the title as it is now, so store titles by id. A consumer misses no change: when a change_seq is visible, no smaller one can still appear.';
COMMENT ON COLUMN conciliation.title_feed.change_kind IS
  'title_change.kind: what the change was. The other columns show the title as it is now, which a later change may have made.';
COMMENT ON COLUMN conciliation.title_feed.change_seq IS
  'Position in the feed; remember the greatest one processed. Not dense: numbers may be skipped.';
COMMENT ON COLUMN conciliation.title_feed.id IS
  'title.id: the key to store the title by.';
COMMENT ON COLUMN conciliation.title_feed.status IS
  'current: to be reconciled. withdrawn: no longer stated by the platform; undo what was done with the title.';

-- The other columns mean what they mean in title.
DO $$
DECLARE
  field record;
BEGIN
  FOR field IN
    SELECT seen.attname AS name, col_description(source.attrelid, source.attnum) AS description
    FROM pg_attribute AS seen
    JOIN pg_attribute AS source ON source.attname = seen.attname
    WHERE seen.attrelid = 'conciliation.title_feed'::regclass
      AND source.attrelid = 'conciliation.title'::regclass
      AND seen.attnum > 0
      AND col_description(seen.attrelid, seen.attnum) IS NULL
  LOOP
    EXECUTE format('COMMENT ON COLUMN conciliation.title_feed.%I IS %L', field.name, field.description);
  END LOOP;
END
$$;

CREATE TABLE conciliation.closing_lock (
  id integer PRIMARY KEY DEFAULT 1,

  CONSTRAINT closing_lock_single_row_check CHECK (id = 1)
);
INSERT INTO conciliation.closing_lock DEFAULT VALUES;

COMMENT ON TABLE conciliation.closing_lock IS
  'For the program only: a single row, which a merge locks for its closing phase. A row and not an advisory lock, because a role that may only read cannot lock a row.';
COMMENT ON COLUMN conciliation.closing_lock.id IS
  'Always 1.';

COMMENT ON COLUMN conciliation.title.extra IS
  'Fields that the documented interface does not have, at the place where they stood, as of the last change of a documented field. Null: there were none. May be personal data.';
COMMENT ON COLUMN conciliation.title.content_hash IS
  'Hash of every documented field that the platform stated; equal exactly for titles that agree in all of them. 1.5 and 1.50 are equal.';


-- Rejects ----------------------------------------------------------------------------------------

ALTER TABLE conciliation.rejected_title ADD COLUMN order_uid text;
ALTER TABLE conciliation.rejected_title ALTER COLUMN date SET NOT NULL;
COMMENT ON COLUMN conciliation.rejected_title.date IS
  'The accepted date whose response contained it.';
COMMENT ON COLUMN conciliation.rejected_title.order_uid IS
  'order.uid of the rejected title. Null: it cannot be read. A current title that the response lacks stays current while a reject of unknown or equal order_uid may be that title.';


-- Staging of one attempt: all rows of a fence belong to one date -----------------------------------

ALTER TABLE conciliation.staged_reject DROP COLUMN date, ADD COLUMN order_uid text;
COMMENT ON COLUMN conciliation.staged_reject.order_uid IS
  'As rejected_title.order_uid.';
ALTER TABLE conciliation.staged_missing DROP COLUMN date;
COMMENT ON TABLE conciliation.staged_missing IS
  'For the program only: current titles of the date whose text the response does not have. Unlogged.';
ALTER TABLE conciliation.staged_change DROP COLUMN date;

ALTER TABLE conciliation.staged_date DROP COLUMN date;
ALTER TABLE conciliation.staged_date RENAME TO staged_base;
ALTER INDEX conciliation.staged_date_fence_idx RENAME TO staged_base_fence_idx;
COMMENT ON TABLE conciliation.staged_base IS
  'For the program only: the state of the day whose current titles an attempt had at hand while it read the response, so that only the difference was staged. No row: all titles were staged. Unlogged.';
COMMENT ON COLUMN conciliation.staged_base.base_changed_at IS
  'day.changed_at at that time: what was staged is a difference from those titles and no others.';

CREATE UNLOGGED TABLE conciliation.staged_account (
  fence          bigint  NOT NULL,
  kind           text    NOT NULL,
  party_key      text    NOT NULL,
  account_hash   uuid    NOT NULL,
  bank           text,
  agency         text,
  agency_digit   text,
  account        text    NOT NULL,
  account_digit  text,
  first_id       bigint  NOT NULL,
  is_restated    boolean NOT NULL
) WITH (
  autovacuum_vacuum_insert_threshold = -1
);

CREATE INDEX staged_account_fence_idx ON conciliation.staged_account (fence);

COMMENT ON TABLE conciliation.staged_account IS
  'For the program only: the bank accounts that the titles changed by a merge name, gathered before its closing phase. Empty outside of a merge. Unlogged. Holds personal data.';
COMMENT ON COLUMN conciliation.staged_account.fence IS
  'pull.fence of the attempt.';
COMMENT ON COLUMN conciliation.staged_account.kind IS
  'provider or financial_agent.';
COMMENT ON COLUMN conciliation.staged_account.party_key IS
  'As party_account.party_key. May be personal data.';
COMMENT ON COLUMN conciliation.staged_account.account_hash IS
  'As party_account.account_hash.';
COMMENT ON COLUMN conciliation.staged_account.bank IS
  'Bank code. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.staged_account.agency IS
  'Branch number. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.staged_account.agency_digit IS
  'Check digit of the branch number. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.staged_account.account IS
  'Account number. Personal data.';
COMMENT ON COLUMN conciliation.staged_account.account_digit IS
  'Check digit of the account number. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.staged_account.first_id IS
  'Orders the accounts by the titles that name them.';
COMMENT ON COLUMN conciliation.staged_account.is_restated IS
  'Whether a title that was here before the merge names it since.';
