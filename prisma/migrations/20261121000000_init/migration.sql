-- The staging schema. Its readers are the ERP and finance, so every table and column says what it
-- holds in a COMMENT, and docs/data-dictionary.md is generated from those.
--
-- Money is numeric without a scale: what the platform wrote is what the column holds. States are
-- text with a CHECK, which every ERP tool can read.

DO $$
BEGIN
  -- Where an administrator has made the schema, the program needs no right to create one.
  IF to_regnamespace('conciliation') IS NULL THEN
    CREATE SCHEMA conciliation;
  END IF;
END
$$;

COMMENT ON SCHEMA conciliation IS
  'Accepted anticipations of receivables, pulled from the platform day by day, and the ledger of what was pulled. Everything but provider is written by erp-conciliation-sync alone; the ERP and finance read. Instants are timestamptz, dates are calendar dates without a time zone.';


-- Titles ---------------------------------------------------------------------------------------

CREATE TABLE conciliation.title (
  id                             bigserial   PRIMARY KEY,
  order_uid                      text        NOT NULL,
  occurrence                     integer     NOT NULL,
  status                         text        NOT NULL DEFAULT 'current',
  accepted_date                  date        NOT NULL,
  anticipated_due_date           date,
  buyer_identification           text,
  provider_external_id           text,
  provider_identification        text,
  provider_bank                  text,
  provider_agency                text,
  provider_agency_digit          text,
  provider_account               text,
  provider_account_digit         text,
  financial_agent_type           text,
  financial_agent_identification text,
  financial_agent_name           text,
  buyer_is_financial             boolean,
  payment_type                   text,
  payment_bank                   text,
  payment_agency                 text,
  payment_agency_digit           text,
  payment_account                text,
  payment_account_digit          text,
  original_value                 numeric     NOT NULL,
  platform_discounted_value      numeric,
  financial_discounted_value     numeric,
  buyer_discounted_value         numeric,
  billing_fee                    numeric,
  money_transfer_fee             numeric,
  platform_commission            text,
  extra                          jsonb,
  identity_hash                  uuid        NOT NULL,
  content_hash                   uuid        NOT NULL,
  raw_hash                       uuid        NOT NULL,
  change_seq                     bigint      NOT NULL,
  first_pull_id                  bigint      NOT NULL,
  last_change_pull_id            bigint      NOT NULL,
  created_at                     timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  changed_at                     timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,

  CONSTRAINT title_status_check CHECK (status IN ('current', 'withdrawn')),
  CONSTRAINT title_occurrence_check CHECK (occurrence >= 1)
);

-- Reads by date are served by title_identity_key, which begins with it; the feed by
-- title_change_seq_key.
CREATE UNIQUE INDEX title_identity_key ON conciliation.title (accepted_date, identity_hash, occurrence);
CREATE UNIQUE INDEX title_change_seq_key ON conciliation.title (change_seq);
CREATE INDEX title_order_uid_idx ON conciliation.title (order_uid);
CREATE INDEX title_provider_idx ON conciliation.title (provider_external_id, accepted_date);

-- Drawn under the lock that the view below tells of. A cache would hand numbers out of order to two
-- sessions.
CREATE SEQUENCE conciliation.title_change_seq CACHE 1 OWNED BY conciliation.title.change_seq;
ALTER TABLE conciliation.title
  ALTER COLUMN change_seq SET DEFAULT nextval('conciliation.title_change_seq');

COMMENT ON SEQUENCE conciliation.title_change_seq IS
  'Numbers the changes of titles. Drawn only by a merge that holds the change-feed lock; numbers may be skipped, never used twice.';

COMMENT ON TABLE conciliation.title IS
  'One row for every title (accepted anticipation) ever seen, as the platform stated it last. Rows are never deleted: a title that vanished from its day is kept as withdrawn. A column that mirrors the platform is null where its field was absent or null in the response; empty text is empty text.';
COMMENT ON COLUMN conciliation.title.id IS
  'Key of the title here; stays the same through every later change and is never used again. The platform gives titles no identifier.';
COMMENT ON COLUMN conciliation.title.order_uid IS
  'order.uid: the order that the receivable belongs to. Several titles may share it.';
COMMENT ON COLUMN conciliation.title.occurrence IS
  'Numbers, from 1, the titles of one accepted date that agree in order_uid, buyer_identification, provider_external_id, anticipated_due_date and original_value. Two equal titles in one response are two rows.';
COMMENT ON COLUMN conciliation.title.status IS
  'current: the latest merged response for the date contained the title. withdrawn: it no longer did, so the title must not be counted; the row shows what was last stated.';
COMMENT ON COLUMN conciliation.title.accepted_date IS
  'acceptedDate: the day on which the anticipation was accepted, and so the day that the title is reconciled in.';
COMMENT ON COLUMN conciliation.title.anticipated_due_date IS
  'anticipatedDueDate. Null: not stated.';
COMMENT ON COLUMN conciliation.title.buyer_identification IS
  'buyerIdentification: the buyer, who has to pay. Null: not stated. May be personal data.';
COMMENT ON COLUMN conciliation.title.provider_external_id IS
  'providerExternalId: the provider (supplier) in the ERP''s own numbering; joins provider.external_id. Null: not stated.';
COMMENT ON COLUMN conciliation.title.provider_identification IS
  'provider.identification: tax identifier (CPF or CNPJ) of the provider, as written. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.title.provider_bank IS
  'provider.bankAccount.bank: bank of the provider''s account. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.title.provider_agency IS
  'provider.bankAccount.agency: branch, without its check digit. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.title.provider_agency_digit IS
  'provider.bankAccount.agencyDigit: check digit of the branch. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.title.provider_account IS
  'provider.bankAccount.account: account number, without its check digit. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.title.provider_account_digit IS
  'provider.bankAccount.accountDigit: check digit of the account. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.title.financial_agent_type IS
  'financialAgent.type, for example INDIVIDUAL; other values are kept as written. Null: not stated.';
COMMENT ON COLUMN conciliation.title.financial_agent_identification IS
  'financialAgent.identificationNumber: tax identifier of the financial agent. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.title.financial_agent_name IS
  'financialAgent.name. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.title.buyer_is_financial IS
  'financialAgent.buyerIsFinancial: true where the buyer itself is the financial agent. Null: not stated, which is not the same as false.';
COMMENT ON COLUMN conciliation.title.payment_type IS
  'financialAgent.payment.type, for example BANK_TRANSFER; other values are kept as written. Null: not stated.';
COMMENT ON COLUMN conciliation.title.payment_bank IS
  'financialAgent.payment.bank: bank of the account to be paid. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.title.payment_agency IS
  'financialAgent.payment.agency: branch, without its check digit. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.title.payment_agency_digit IS
  'financialAgent.payment.agencyDigit: check digit of the branch. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.title.payment_account IS
  'financialAgent.payment.account: account number, without its check digit. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.title.payment_account_digit IS
  'financialAgent.payment.accountDigit: check digit of the account. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.title.original_value IS
  'originalValue, as the platform wrote it; neither currency nor scale is assumed.';
COMMENT ON COLUMN conciliation.title.platform_discounted_value IS
  'platformDiscountedValue, as the platform wrote it; neither currency nor scale is assumed. Null: not stated, which is not zero.';
COMMENT ON COLUMN conciliation.title.financial_discounted_value IS
  'financialDiscountedValue, as the platform wrote it; neither currency nor scale is assumed. Null: not stated, which is not zero.';
COMMENT ON COLUMN conciliation.title.buyer_discounted_value IS
  'buyerDiscountedValue, as the platform wrote it; neither currency nor scale is assumed. Null: not stated, which is not zero.';
COMMENT ON COLUMN conciliation.title.billing_fee IS
  'billingFee, as the platform wrote it; neither currency nor scale is assumed. Null: not stated, which is not zero.';
COMMENT ON COLUMN conciliation.title.money_transfer_fee IS
  'moneyTransferFee, as the platform wrote it; neither currency nor scale is assumed. Null: not stated, which is not zero.';
COMMENT ON COLUMN conciliation.title.platform_commission IS
  'platformCommission: text in the interface, so text here; its meaning and unit are not documented. Null: not stated.';
COMMENT ON COLUMN conciliation.title.extra IS
  'Fields that the documented interface does not have, at the place where they stood. Null: there were none. May be personal data.';
COMMENT ON COLUMN conciliation.title.identity_hash IS
  'Hash of what makes titles the same obligation: order_uid, buyer_identification, provider_external_id, accepted_date, anticipated_due_date and original_value. For matching inside the program.';
COMMENT ON COLUMN conciliation.title.content_hash IS
  'Hash of every field that the platform stated; equal exactly for titles that agree in all of them. 1.5 and 1.50 are equal.';
COMMENT ON COLUMN conciliation.title.raw_hash IS
  'Hash of the title''s text in the response that the row was read from, and of the version of the reader. A response that has the same text again need not be read again.';
COMMENT ON COLUMN conciliation.title.change_seq IS
  'Number of the latest change of this row: first sight, change, withdrawal or restoration. Grows with every change and orders changes as they became visible; see title_feed.';
COMMENT ON COLUMN conciliation.title.first_pull_id IS
  'pull.id of the pull that saw the title first.';
COMMENT ON COLUMN conciliation.title.last_change_pull_id IS
  'pull.id of the pull that made the latest change. A pull that found the title unchanged is not noted here.';
COMMENT ON COLUMN conciliation.title.created_at IS
  'When the title was first merged.';
COMMENT ON COLUMN conciliation.title.changed_at IS
  'When the latest change was merged.';


CREATE VIEW conciliation.title_feed AS
SELECT
  change_seq,
  id,
  status,
  order_uid,
  occurrence,
  accepted_date,
  anticipated_due_date,
  buyer_identification,
  provider_external_id,
  provider_identification,
  provider_bank,
  provider_agency,
  provider_agency_digit,
  provider_account,
  provider_account_digit,
  financial_agent_type,
  financial_agent_identification,
  financial_agent_name,
  buyer_is_financial,
  payment_type,
  payment_bank,
  payment_agency,
  payment_agency_digit,
  payment_account,
  payment_account_digit,
  original_value,
  platform_discounted_value,
  financial_discounted_value,
  buyer_discounted_value,
  billing_fee,
  money_transfer_fee,
  platform_commission,
  extra,
  first_pull_id,
  last_change_pull_id,
  created_at,
  changed_at
FROM conciliation.title;

COMMENT ON VIEW conciliation.title_feed IS
  'What an ERP consumer reads: WHERE change_seq > :last ORDER BY change_seq, where :last is the greatest change_seq it has processed (0 at first). A consumer never misses a change: every merge takes one advisory lock before it draws its first change_seq and keeps it until it has committed, so when a change_seq is visible no smaller one can still appear. A title stands here once, with its latest state, so store it by id; a title changed twice between two reads is delivered once.';
COMMENT ON COLUMN conciliation.title_feed.change_seq IS
  'Position in the feed; remember the greatest one processed. Not dense: numbers may be skipped.';
COMMENT ON COLUMN conciliation.title_feed.id IS
  'title.id: the key to store the title by.';
COMMENT ON COLUMN conciliation.title_feed.status IS
  'current: to be reconciled. withdrawn: no longer stated by the platform; undo what was done with it.';

-- The other columns mean what they mean in title, so they say the same.
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


CREATE TABLE conciliation.title_revision (
  title_id   bigint      NOT NULL,
  revision   integer     NOT NULL,
  kind       text        NOT NULL,
  pull_id    bigint      NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  before     jsonb       NOT NULL,
  after      jsonb       NOT NULL,

  CONSTRAINT title_revision_pkey PRIMARY KEY (title_id, revision),
  CONSTRAINT title_revision_title_id_fkey FOREIGN KEY (title_id)
    REFERENCES conciliation.title (id) ON DELETE NO ACTION ON UPDATE NO ACTION,
  CONSTRAINT title_revision_kind_check CHECK (kind IN ('changed', 'withdrawn', 'restored')),
  CONSTRAINT title_revision_revision_check CHECK (revision >= 1)
);

CREATE INDEX title_revision_pull_idx ON conciliation.title_revision (pull_id);

COMMENT ON TABLE conciliation.title_revision IS
  'One row for every change of a title after its first sight. Append-only: UPDATE, DELETE and TRUNCATE are refused. Taking before of the newest revisions over the row in title, one after the other, gives any earlier state.';
COMMENT ON COLUMN conciliation.title_revision.title_id IS
  'title.id of the title that changed.';
COMMENT ON COLUMN conciliation.title_revision.revision IS
  'Numbers the changes of one title from 1, without a gap.';
COMMENT ON COLUMN conciliation.title_revision.kind IS
  'changed: some field was restated. withdrawn: the title vanished from its date. restored: a withdrawn title reappeared, perhaps restated.';
COMMENT ON COLUMN conciliation.title_revision.pull_id IS
  'pull.id of the pull that brought the change.';
COMMENT ON COLUMN conciliation.title_revision.changed_at IS
  'When the change was merged.';
COMMENT ON COLUMN conciliation.title_revision.before IS
  'The columns of title that differ, with their values before the change; JSON null for SQL null. Holds personal data where such a column changed.';
COMMENT ON COLUMN conciliation.title_revision.after IS
  'The same columns with their values after the change. Holds personal data where such a column changed.';


-- The ledger of days ---------------------------------------------------------------------------

CREATE TABLE conciliation.day (
  date                           date    PRIMARY KEY,
  state                          text    NOT NULL DEFAULT 'pending',
  title_count                    integer NOT NULL DEFAULT 0,
  withdrawn_count                integer NOT NULL DEFAULT 0,
  rejected_count                 integer NOT NULL DEFAULT 0,
  original_value_sum             numeric NOT NULL DEFAULT 0,
  platform_discounted_value_sum  numeric NOT NULL DEFAULT 0,
  financial_discounted_value_sum numeric NOT NULL DEFAULT 0,
  buyer_discounted_value_sum     numeric NOT NULL DEFAULT 0,
  billing_fee_sum                numeric NOT NULL DEFAULT 0,
  money_transfer_fee_sum         numeric NOT NULL DEFAULT 0,
  content_digest                 text,
  last_pull_id                   bigint,
  held_pull_id                   bigint,
  verified_at                    timestamptz,
  changed_at                     timestamptz,
  signed_off_at                  timestamptz,
  signed_off_by                  text,
  signed_off_digest              text,
  restated_after_sign_off        boolean NOT NULL DEFAULT false,

  CONSTRAINT day_state_check
    CHECK (state IN ('pending', 'reconciled', 'attention', 'held', 'failed')),
  CONSTRAINT day_counts_check
    CHECK (title_count >= 0 AND withdrawn_count >= 0 AND rejected_count >= 0)
);

CREATE INDEX day_state_idx ON conciliation.day (state);

COMMENT ON TABLE conciliation.day IS
  'One row for every accepted date that is to be reconciled. Counts and sums are written in the same transaction as the titles, so they always agree with title. The amount sums are over current titles only, and a title that does not state an amount adds nothing to its sum.';
COMMENT ON COLUMN conciliation.day.date IS
  'The accepted date, on the calendar of the configured time zone.';
COMMENT ON COLUMN conciliation.day.state IS
  'pending: not reconciled yet, or not over yet. reconciled: over, and equal to the platform''s latest merged response; 0 titles is a valid outcome. attention: merged, but titles that broke the contract wait in rejected_title. held: the newest response would withdraw so much that a person must release it; the row still shows the last merged state. failed: every attempt was spent and the date was never reconciled.';
COMMENT ON COLUMN conciliation.day.title_count IS
  'Titles of the date with status current.';
COMMENT ON COLUMN conciliation.day.withdrawn_count IS
  'Titles of the date with status withdrawn.';
COMMENT ON COLUMN conciliation.day.rejected_count IS
  'Rejected titles of the date that are open or accepted: stated by the platform, in no sum.';
COMMENT ON COLUMN conciliation.day.original_value_sum IS
  'Exact sum of original_value; neither currency nor scale is assumed.';
COMMENT ON COLUMN conciliation.day.platform_discounted_value_sum IS
  'Exact sum of platform_discounted_value; neither currency nor scale is assumed.';
COMMENT ON COLUMN conciliation.day.financial_discounted_value_sum IS
  'Exact sum of financial_discounted_value; neither currency nor scale is assumed.';
COMMENT ON COLUMN conciliation.day.buyer_discounted_value_sum IS
  'Exact sum of buyer_discounted_value; neither currency nor scale is assumed.';
COMMENT ON COLUMN conciliation.day.billing_fee_sum IS
  'Exact sum of billing_fee; neither currency nor scale is assumed.';
COMMENT ON COLUMN conciliation.day.money_transfer_fee_sum IS
  'Exact sum of money_transfer_fee; neither currency nor scale is assumed.';
COMMENT ON COLUMN conciliation.day.content_digest IS
  'Digest over the contents of the current titles, whatever their order: equal digests mean equal titles. Null: nothing was merged yet.';
COMMENT ON COLUMN conciliation.day.last_pull_id IS
  'pull.id of the newest pull that was merged into the date, changed or not. Null: none yet.';
COMMENT ON COLUMN conciliation.day.held_pull_id IS
  'pull.id of the pull that waits for a release. Null: none waits.';
COMMENT ON COLUMN conciliation.day.verified_at IS
  'When a response was last merged into the date, even if it changed nothing. Null: never.';
COMMENT ON COLUMN conciliation.day.changed_at IS
  'When counts or sums were last brought up to date because titles changed. Null: never.';
COMMENT ON COLUMN conciliation.day.signed_off_at IS
  'When finance signed the date off. Null: not signed off.';
COMMENT ON COLUMN conciliation.day.signed_off_by IS
  'Who signed the date off. Null: not signed off. Personal data.';
COMMENT ON COLUMN conciliation.day.signed_off_digest IS
  'content_digest that was signed off. Null: not signed off.';
COMMENT ON COLUMN conciliation.day.restated_after_sign_off IS
  'True once the platform restated the date after it was signed off, so that what was signed is no longer what title holds.';


-- Pulls ----------------------------------------------------------------------------------------

CREATE TABLE conciliation.backfill (
  id           bigserial   PRIMARY KEY,
  from_date    date        NOT NULL,
  to_date      date        NOT NULL,
  state        text        NOT NULL DEFAULT 'running',
  concurrency  integer     NOT NULL DEFAULT 2,
  requested_by text        NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  finished_at  timestamptz,

  CONSTRAINT backfill_state_check CHECK (state IN ('running', 'done', 'cancelled')),
  CONSTRAINT backfill_range_check CHECK (to_date >= from_date),
  CONSTRAINT backfill_concurrency_check CHECK (concurrency >= 1)
);

COMMENT ON TABLE conciliation.backfill IS
  'One row for every backfill: a person''s request to pull a range of past dates, day by day.';
COMMENT ON COLUMN conciliation.backfill.id IS
  'Key of the backfill.';
COMMENT ON COLUMN conciliation.backfill.from_date IS
  'First accepted date of the range.';
COMMENT ON COLUMN conciliation.backfill.to_date IS
  'Last accepted date of the range, included.';
COMMENT ON COLUMN conciliation.backfill.state IS
  'running: dates are still to be pulled, now or once the program runs again. done: every date has its pull behind it, well or badly. cancelled: a person stopped it; dates already pulled stay.';
COMMENT ON COLUMN conciliation.backfill.concurrency IS
  'Dates pulled at the same time, at most.';
COMMENT ON COLUMN conciliation.backfill.requested_by IS
  'Who asked for it. Personal data.';
COMMENT ON COLUMN conciliation.backfill.created_at IS
  'When it was asked for.';
COMMENT ON COLUMN conciliation.backfill.finished_at IS
  'When it was done or cancelled. Null: still running.';


CREATE TABLE conciliation.pull (
  id               bigserial   PRIMARY KEY,
  origin           text        NOT NULL,
  window_from      date        NOT NULL,
  window_to        date,
  state            text        NOT NULL DEFAULT 'queued',
  attempts         integer     NOT NULL DEFAULT 0,
  fence            bigint,
  requested_by     text        NOT NULL,
  slot_at          timestamptz,
  backfill_id      bigint,
  next_attempt_at  timestamptz,
  created_at       timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  fetch_started_at timestamptz,
  finished_at      timestamptz,
  http_status      integer,
  response_bytes   bigint,
  titles           integer,
  inserted         integer,
  changed          integer,
  withdrawn        integer,
  restored         integer,
  unchanged        integer,
  rejected         integer,
  error_code       text,
  error_message    text,

  CONSTRAINT pull_origin_check
    CHECK (origin IN ('daily', 'lookback', 'backfill', 'sweep', 'manual')),
  CONSTRAINT pull_state_check
    CHECK (state IN ('queued', 'running', 'merged', 'unchanged', 'held', 'superseded', 'failed', 'cancelled')),
  CONSTRAINT pull_window_check CHECK (window_to >= window_from),
  -- A count that is null passes: no response was merged yet.
  CONSTRAINT pull_counts_check
    CHECK (attempts >= 0 AND response_bytes >= 0 AND titles >= 0 AND inserted >= 0 AND changed >= 0
           AND withdrawn >= 0 AND restored >= 0 AND unchanged >= 0 AND rejected >= 0)
);

CREATE UNIQUE INDEX pull_fence_key ON conciliation.pull (fence);
CREATE UNIQUE INDEX pull_slot_key ON conciliation.pull (origin, window_from, slot_at);
CREATE INDEX pull_window_idx ON conciliation.pull (window_from);
CREATE INDEX pull_state_idx ON conciliation.pull (state, next_attempt_at);
CREATE INDEX pull_backfill_idx ON conciliation.pull (backfill_id);

CREATE SEQUENCE conciliation.pull_fence_seq CACHE 1 OWNED BY conciliation.pull.fence;

COMMENT ON SEQUENCE conciliation.pull_fence_seq IS
  'Numbers the attempts at pulls. Drawn before the request is sent, so a greater fence is a newer fetch.';

COMMENT ON TABLE conciliation.pull IS
  'One row for every pull: one request to the platform for a window of accepted dates, with all its attempts. This table is what makes work exist; the queue only wakes the workers up.';
COMMENT ON COLUMN conciliation.pull.id IS
  'Key of the pull.';
COMMENT ON COLUMN conciliation.pull.origin IS
  'Why it was made. daily: the day before. lookback: one of the days before that, pulled again. backfill: part of a backfill. sweep: everything accepted since a date, in one request. manual: a person asked for the date.';
COMMENT ON COLUMN conciliation.pull.window_from IS
  'First accepted date of the window.';
COMMENT ON COLUMN conciliation.pull.window_to IS
  'Last accepted date of the window: equal to window_from for a day. Null: open, everything since window_from (a sweep).';
COMMENT ON COLUMN conciliation.pull.state IS
  'queued: due at next_attempt_at. running: an attempt is under way. merged: titles changed. unchanged: the platform stated what was already here. held: at least one date waits for a person''s release. superseded: a newer fetch had decided its dates first; nothing was changed. failed: no attempt is left, or repeating is pointless. cancelled: a person stopped it.';
COMMENT ON COLUMN conciliation.pull.attempts IS
  'Attempts spent. One that ended because the program stopped or the token was refused is not spent.';
COMMENT ON COLUMN conciliation.pull.fence IS
  'Number of the latest attempt; whatever an older attempt still tries to write is refused. Null: never attempted.';
COMMENT ON COLUMN conciliation.pull.requested_by IS
  'Who or what asked for it: a part of the program or a person. May be personal data.';
COMMENT ON COLUMN conciliation.pull.slot_at IS
  'The scheduled instant that made the pull due; no window is pulled twice for one slot. Null: not scheduled, but asked for.';
COMMENT ON COLUMN conciliation.pull.backfill_id IS
  'backfill.id it belongs to. Null: none.';
COMMENT ON COLUMN conciliation.pull.next_attempt_at IS
  'While queued: not before this instant. Null: at once.';
COMMENT ON COLUMN conciliation.pull.created_at IS
  'When the pull was asked for.';
COMMENT ON COLUMN conciliation.pull.fetch_started_at IS
  'When the latest attempt began. Null: never attempted.';
COMMENT ON COLUMN conciliation.pull.finished_at IS
  'When it reached a final state. Null: not yet; a held pull is not finished.';
COMMENT ON COLUMN conciliation.pull.http_status IS
  'Status of the latest answer. Null: there was none.';
COMMENT ON COLUMN conciliation.pull.response_bytes IS
  'Bytes of the latest answer''s body that arrived. Null: there was none.';
COMMENT ON COLUMN conciliation.pull.titles IS
  'Titles in the response, rejected ones included. Null: no whole response yet.';
COMMENT ON COLUMN conciliation.pull.inserted IS
  'Titles seen for the first time, over the dates that were merged. Null: no whole response yet.';
COMMENT ON COLUMN conciliation.pull.changed IS
  'Titles restated, over the dates that were merged. Null: no whole response yet.';
COMMENT ON COLUMN conciliation.pull.withdrawn IS
  'Titles that vanished, over the dates that were merged. Null: no whole response yet.';
COMMENT ON COLUMN conciliation.pull.restored IS
  'Withdrawn titles that reappeared, over the dates that were merged. Null: no whole response yet.';
COMMENT ON COLUMN conciliation.pull.unchanged IS
  'Titles found as they were, over the dates that were merged. Null: no whole response yet.';
COMMENT ON COLUMN conciliation.pull.rejected IS
  'Titles of the response that broke the contract. Null: no whole response yet.';
COMMENT ON COLUMN conciliation.pull.error_code IS
  'Stable code of the latest attempt''s failure, for example PLATFORM_UNAVAILABLE. Null: it did not fail.';
COMMENT ON COLUMN conciliation.pull.error_message IS
  'The failure in words, free of personal data. Null: it did not fail.';


CREATE TABLE conciliation.pull_date (
  pull_id     bigint  NOT NULL,
  date        date    NOT NULL,
  outcome     text    NOT NULL,
  hold_reason text,
  titles      integer NOT NULL,
  inserted    integer NOT NULL,
  changed     integer NOT NULL,
  withdrawn   integer NOT NULL,
  restored    integer NOT NULL,
  unchanged   integer NOT NULL,
  rejected    integer NOT NULL,
  decided_at  timestamptz,
  decided_by  text,
  reason      text,

  CONSTRAINT pull_date_pkey PRIMARY KEY (pull_id, date),
  CONSTRAINT pull_date_pull_id_fkey FOREIGN KEY (pull_id)
    REFERENCES conciliation.pull (id) ON DELETE NO ACTION ON UPDATE NO ACTION,
  CONSTRAINT pull_date_outcome_check
    CHECK (outcome IN ('merged', 'unchanged', 'held', 'superseded', 'released')),
  CONSTRAINT pull_date_counts_check
    CHECK (titles >= 0 AND inserted >= 0 AND changed >= 0 AND withdrawn >= 0 AND restored >= 0
           AND unchanged >= 0 AND rejected >= 0)
);

CREATE INDEX pull_date_date_idx ON conciliation.pull_date (date);

COMMENT ON TABLE conciliation.pull_date IS
  'What one pull did to one date: one row for a day, one row for each date of a sweep. Read by date, newest pull first, it is the history of a day.';
COMMENT ON COLUMN conciliation.pull_date.pull_id IS
  'pull.id of the pull.';
COMMENT ON COLUMN conciliation.pull_date.date IS
  'The accepted date.';
COMMENT ON COLUMN conciliation.pull_date.outcome IS
  'merged: titles of the date changed. unchanged: nothing differed. held: waits for a person. released: was held, then merged by a person. superseded: a newer fetch decided the date.';
COMMENT ON COLUMN conciliation.pull_date.hold_reason IS
  'Why the date was held. emptied: the response has no title for a date that has some. withdrawal_limit: it would withdraw more than the configured share. undated_rejects: titles would be withdrawn while others of the response could not be placed on any date. Null: it was not held.';
COMMENT ON COLUMN conciliation.pull_date.titles IS
  'Titles of the response for this date that kept the contract.';
COMMENT ON COLUMN conciliation.pull_date.inserted IS
  'Titles seen for the first time. For a held date: what a release would insert.';
COMMENT ON COLUMN conciliation.pull_date.changed IS
  'Titles restated. For a held date: what a release would change.';
COMMENT ON COLUMN conciliation.pull_date.withdrawn IS
  'Titles that vanished. For a held date: what a release would withdraw.';
COMMENT ON COLUMN conciliation.pull_date.restored IS
  'Withdrawn titles that reappeared. For a held date: what a release would restore.';
COMMENT ON COLUMN conciliation.pull_date.unchanged IS
  'Titles found as they were.';
COMMENT ON COLUMN conciliation.pull_date.rejected IS
  'Titles of the response that broke the contract and name this date.';
COMMENT ON COLUMN conciliation.pull_date.decided_at IS
  'When a person released the date. Null: no person decided.';
COMMENT ON COLUMN conciliation.pull_date.decided_by IS
  'Who released it. Null: no person decided. Personal data.';
COMMENT ON COLUMN conciliation.pull_date.reason IS
  'Why, in that person''s words. Null: no person decided.';


CREATE TABLE conciliation.checkpoint (
  id                   integer     PRIMARY KEY DEFAULT 1,
  start_date           date        NOT NULL,
  last_reconciled_date date,
  pull_id              bigint,
  updated_at           timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,

  CONSTRAINT checkpoint_single_row_check CHECK (id = 1)
);

COMMENT ON TABLE conciliation.checkpoint IS
  'A single row: up to which date everything is reconciled without a gap. It only ever moves forward; a date restated later does not move it back, see day.';
COMMENT ON COLUMN conciliation.checkpoint.id IS
  'Always 1.';
COMMENT ON COLUMN conciliation.checkpoint.start_date IS
  'First accepted date that is reconciled here; decided at the first start and remembered.';
COMMENT ON COLUMN conciliation.checkpoint.last_reconciled_date IS
  'Every date from start_date up to and including this one has been reconciled. Null: not even start_date has.';
COMMENT ON COLUMN conciliation.checkpoint.pull_id IS
  'pull.id of the pull whose merge moved it last. Null: never moved.';
COMMENT ON COLUMN conciliation.checkpoint.updated_at IS
  'When it moved last.';


-- What needs a person --------------------------------------------------------------------------

CREATE TABLE conciliation.rejected_title (
  id            bigserial   PRIMARY KEY,
  date          date,
  first_pull_id bigint      NOT NULL,
  last_pull_id  bigint      NOT NULL,
  ordinal       integer     NOT NULL,
  reasons       text[]      NOT NULL,
  raw           text        NOT NULL,
  raw_bytes     bigint      NOT NULL,
  raw_hash      uuid        NOT NULL,
  status        text        NOT NULL DEFAULT 'open',
  created_at    timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  decided_at    timestamptz,
  decided_by    text,
  reason        text,

  CONSTRAINT rejected_title_status_check CHECK (status IN ('open', 'accepted', 'resolved')),
  CONSTRAINT rejected_title_counts_check CHECK (ordinal >= 0 AND raw_bytes >= 0)
);

CREATE INDEX rejected_title_date_idx ON conciliation.rejected_title (date, status);
CREATE INDEX rejected_title_pull_idx ON conciliation.rejected_title (last_pull_id);

COMMENT ON TABLE conciliation.rejected_title IS
  'Quarantine: titles of a response that broke the documented contract, as they came. They are in no other table and in no sum.';
COMMENT ON COLUMN conciliation.rejected_title.id IS
  'Key of the reject.';
COMMENT ON COLUMN conciliation.rejected_title.date IS
  'The accepted date it belongs to. Null: it names no usable date (possible in a sweep only).';
COMMENT ON COLUMN conciliation.rejected_title.first_pull_id IS
  'pull.id of the pull that saw it first.';
COMMENT ON COLUMN conciliation.rejected_title.last_pull_id IS
  'pull.id of the newest pull whose response still contained it.';
COMMENT ON COLUMN conciliation.rejected_title.ordinal IS
  'Its position in that response''s titles, from 0.';
COMMENT ON COLUMN conciliation.rejected_title.reasons IS
  'Every reason why it was rejected; fields are named, their values are not.';
COMMENT ON COLUMN conciliation.rejected_title.raw IS
  'Its text as it came, cut where very long, unstorable characters replaced. Personal data.';
COMMENT ON COLUMN conciliation.rejected_title.raw_bytes IS
  'Its whole length in the response, in bytes.';
COMMENT ON COLUMN conciliation.rejected_title.raw_hash IS
  'Hash of its bytes; tells whether a later response holds the same reject.';
COMMENT ON COLUMN conciliation.rejected_title.status IS
  'open: a person should look at it; its day is not reconciled. accepted: a person decided that the day may do without it. resolved: a later response no longer contained it.';
COMMENT ON COLUMN conciliation.rejected_title.created_at IS
  'When it was first seen.';
COMMENT ON COLUMN conciliation.rejected_title.decided_at IS
  'When it was accepted. Null: not accepted by a person.';
COMMENT ON COLUMN conciliation.rejected_title.decided_by IS
  'Who accepted it. Null: not accepted by a person. Personal data.';
COMMENT ON COLUMN conciliation.rejected_title.reason IS
  'Why, in that person''s words. Null: not accepted by a person.';


CREATE TABLE conciliation.drift (
  path          text        NOT NULL,
  kind          text        NOT NULL,
  value         text        NOT NULL,
  first_pull_id bigint      NOT NULL,
  first_seen_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,

  CONSTRAINT drift_pkey PRIMARY KEY (path, kind, value)
);

COMMENT ON TABLE conciliation.drift IS
  'Where the platform''s responses go beyond the documented interface: unknown fields and unknown enum values, each noted once. They are kept with their titles and fail no pull.';
COMMENT ON COLUMN conciliation.drift.path IS
  'Place in the response, by field names.';
COMMENT ON COLUMN conciliation.drift.kind IS
  'What was new there: a field, or a value of a known field.';
COMMENT ON COLUMN conciliation.drift.value IS
  'The unknown enum value; for an unknown field never what the field held.';
COMMENT ON COLUMN conciliation.drift.first_pull_id IS
  'pull.id of the pull that saw it first.';
COMMENT ON COLUMN conciliation.drift.first_seen_at IS
  'When that was.';


CREATE TABLE conciliation.alert (
  id                bigserial   PRIMARY KEY,
  kind              text        NOT NULL,
  dedupe_key        text        NOT NULL,
  message           text        NOT NULL,
  date              date,
  pull_id           bigint,
  raised_at         timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  resolved_at       timestamptz,
  delivered_at      timestamptz,
  delivery_attempts integer     NOT NULL DEFAULT 0,
  next_delivery_at  timestamptz,

  CONSTRAINT alert_delivery_attempts_check CHECK (delivery_attempts >= 0)
);

CREATE INDEX alert_kind_idx ON conciliation.alert (kind, raised_at);

COMMENT ON TABLE conciliation.alert IS
  'Conditions that a person should know of: a failed, held or stale pull, rejected titles, a date restated after sign-off, a refused token.';
COMMENT ON COLUMN conciliation.alert.id IS
  'Key of the alert.';
COMMENT ON COLUMN conciliation.alert.kind IS
  'Which condition it is about.';
COMMENT ON COLUMN conciliation.alert.dedupe_key IS
  'Names the condition; while it lasts it is raised once.';
COMMENT ON COLUMN conciliation.alert.message IS
  'The condition in words, free of personal data.';
COMMENT ON COLUMN conciliation.alert.date IS
  'The accepted date concerned. Null: none in particular.';
COMMENT ON COLUMN conciliation.alert.pull_id IS
  'pull.id concerned. Null: none in particular.';
COMMENT ON COLUMN conciliation.alert.raised_at IS
  'When the condition was noticed.';
COMMENT ON COLUMN conciliation.alert.resolved_at IS
  'When it was over. Null: it lasts.';
COMMENT ON COLUMN conciliation.alert.delivered_at IS
  'When the alert webhook took it. Null: not delivered, or no webhook is configured.';
COMMENT ON COLUMN conciliation.alert.delivery_attempts IS
  'Deliveries tried.';
COMMENT ON COLUMN conciliation.alert.next_delivery_at IS
  'When delivery is tried next. Null: nothing is planned.';


CREATE TABLE conciliation.audit_entry (
  id      bigserial   PRIMARY KEY,
  at      timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  actor   text        NOT NULL,
  action  text        NOT NULL,
  date    date,
  pull_id bigint,
  reason  text,
  details jsonb
);

CREATE INDEX audit_entry_date_idx ON conciliation.audit_entry (date);

COMMENT ON TABLE conciliation.audit_entry IS
  'Who did what to which day, and why. Append-only: UPDATE, DELETE and TRUNCATE are refused.';
COMMENT ON COLUMN conciliation.audit_entry.id IS
  'Key of the entry.';
COMMENT ON COLUMN conciliation.audit_entry.at IS
  'When it was done.';
COMMENT ON COLUMN conciliation.audit_entry.actor IS
  'Who did it. Personal data.';
COMMENT ON COLUMN conciliation.audit_entry.action IS
  'What was done, for example pull.release.';
COMMENT ON COLUMN conciliation.audit_entry.date IS
  'The accepted date concerned. Null: none in particular.';
COMMENT ON COLUMN conciliation.audit_entry.pull_id IS
  'pull.id concerned. Null: none in particular.';
COMMENT ON COLUMN conciliation.audit_entry.reason IS
  'Why, in that person''s words. Null: none was given.';
COMMENT ON COLUMN conciliation.audit_entry.details IS
  'What else belongs to the action, such as a range of dates. Null: nothing.';


-- Providers ------------------------------------------------------------------------------------

CREATE TABLE conciliation.provider (
  external_id           text        PRIMARY KEY,
  type                  text,
  identification_number text,
  name                  text,
  can_anticipate        boolean,
  phones                jsonb,
  email_addresses       jsonb,
  accounts              jsonb,
  sync_state            text        NOT NULL DEFAULT 'pending',
  last_error            text,
  synced_hash           text,
  synced_at             timestamptz,
  created_at            timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  changed_at            timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,

  CONSTRAINT provider_sync_state_check
    CHECK (sync_state IN ('pending', 'synced', 'rejected', 'invalid'))
);

CREATE INDEX provider_sync_state_idx ON conciliation.provider (sync_state);

COMMENT ON TABLE conciliation.provider IS
  'The ERP''s providers (suppliers), to be registered with the platform. The ERP inserts and updates rows; the program pushes those that are pending. A row whose content changed becomes pending by itself. Deleting a row does not remove the provider from the platform.';
COMMENT ON COLUMN conciliation.provider.external_id IS
  'externalId: the provider''s key in the ERP.';
COMMENT ON COLUMN conciliation.provider.type IS
  'type: INDIVIDUAL is the one known value. Null: not sent.';
COMMENT ON COLUMN conciliation.provider.identification_number IS
  'identificationNumber: CPF or CNPJ. Null: not sent. Personal data.';
COMMENT ON COLUMN conciliation.provider.name IS
  'name. Null: not sent. Personal data.';
COMMENT ON COLUMN conciliation.provider.can_anticipate IS
  'canAnticipate: whether the provider may anticipate. Null: not sent.';
COMMENT ON COLUMN conciliation.provider.phones IS
  'phones: array of {"number"}. Null: not sent. Personal data.';
COMMENT ON COLUMN conciliation.provider.email_addresses IS
  'emailAddresses: array of {"email"}. Null: not sent. Personal data.';
COMMENT ON COLUMN conciliation.provider.accounts IS
  'accounts: array of {"bankNumber", "agencyNumber", "accountNumber", "accountDigit", "type", "defaultAccount"}. Null: not sent. Personal data.';
COMMENT ON COLUMN conciliation.provider.sync_state IS
  'pending: to be pushed. synced: the platform took it. rejected: the platform refused it, see last_error. invalid: it was not sent, because the platform would refuse it, see last_error. Set it to pending to push a row again.';
COMMENT ON COLUMN conciliation.provider.last_error IS
  'Why the row is rejected or invalid. Null: nothing is wrong. May hold personal data where the platform''s answer does.';
COMMENT ON COLUMN conciliation.provider.synced_hash IS
  'Hash of the content that the platform took last. Null: it never took any.';
COMMENT ON COLUMN conciliation.provider.synced_at IS
  'When the platform took the row last. Null: never.';
COMMENT ON COLUMN conciliation.provider.created_at IS
  'When the row was inserted.';
COMMENT ON COLUMN conciliation.provider.changed_at IS
  'When its content changed last; maintained by a trigger.';


CREATE TABLE conciliation.provider_batch (
  id           bigserial   PRIMARY KEY,
  external_ids text[]      NOT NULL,
  http_status  integer,
  answer       text,
  created_at   timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  finished_at  timestamptz
);

COMMENT ON TABLE conciliation.provider_batch IS
  'One row for every request that pushed providers, of at most 100 each, with the platform''s answer as it came.';
COMMENT ON COLUMN conciliation.provider_batch.id IS
  'Key of the request.';
COMMENT ON COLUMN conciliation.provider_batch.external_ids IS
  'provider.external_id of every provider in the request.';
COMMENT ON COLUMN conciliation.provider_batch.http_status IS
  'Status of the answer. Null: there was none.';
COMMENT ON COLUMN conciliation.provider_batch.answer IS
  'Body of the answer, as received. Null: there was none. May be personal data.';
COMMENT ON COLUMN conciliation.provider_batch.created_at IS
  'When the request was sent.';
COMMENT ON COLUMN conciliation.provider_batch.finished_at IS
  'When it was over. Null: under way, or the program died meanwhile.';


-- Staging of one attempt -----------------------------------------------------------------------

-- Unlogged: the rows are worth nothing once merged, and whatever a crash empties is pulled again.
-- They are copied in and deleted by the day's worth, so autovacuum comes after a number of dead rows
-- and not after a share of the table, at full speed, and never merely because rows were inserted.
-- Statistics of them are out of date whenever they are used; see withoutNestedLoops.

CREATE UNLOGGED TABLE conciliation.staged_title (
  fence                          bigint  NOT NULL,
  ordinal                        integer NOT NULL,
  order_uid                      text    NOT NULL,
  accepted_date                  date    NOT NULL,
  anticipated_due_date           date,
  buyer_identification           text,
  provider_external_id           text,
  provider_identification        text,
  provider_bank                  text,
  provider_agency                text,
  provider_agency_digit          text,
  provider_account               text,
  provider_account_digit         text,
  financial_agent_type           text,
  financial_agent_identification text,
  financial_agent_name           text,
  buyer_is_financial             boolean,
  payment_type                   text,
  payment_bank                   text,
  payment_agency                 text,
  payment_agency_digit           text,
  payment_account                text,
  payment_account_digit          text,
  original_value                 numeric NOT NULL,
  platform_discounted_value      numeric,
  financial_discounted_value     numeric,
  buyer_discounted_value         numeric,
  billing_fee                    numeric,
  money_transfer_fee             numeric,
  platform_commission            text,
  extra                          jsonb,
  identity_hash                  uuid    NOT NULL,
  content_hash                   uuid    NOT NULL,
  raw_hash                       uuid    NOT NULL
) WITH (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_threshold = -1,
  autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 10000,
  autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX staged_title_fence_idx ON conciliation.staged_title (fence, ordinal);

COMMENT ON TABLE conciliation.staged_title IS
  'For the program only: the titles of one attempt between reading and merging, or while its pull is held. Unlogged: empty after a crash of the database. Columns as in title. Holds personal data.';
COMMENT ON COLUMN conciliation.staged_title.fence IS
  'pull.fence of the attempt.';
COMMENT ON COLUMN conciliation.staged_title.ordinal IS
  'Position in the response''s titles, from 0.';

DO $$
DECLARE
  field record;
BEGIN
  FOR field IN
    SELECT staged.attname AS name, col_description(source.attrelid, source.attnum) AS description
    FROM pg_attribute AS staged
    JOIN pg_attribute AS source ON source.attname = staged.attname
    WHERE staged.attrelid = 'conciliation.staged_title'::regclass
      AND source.attrelid = 'conciliation.title'::regclass
      AND staged.attnum > 0
  LOOP
    EXECUTE format('COMMENT ON COLUMN conciliation.staged_title.%I IS %L', field.name, field.description);
  END LOOP;
END
$$;


CREATE UNLOGGED TABLE conciliation.staged_reject (
  fence     bigint  NOT NULL,
  ordinal   integer NOT NULL,
  date      date,
  reasons   text[]  NOT NULL,
  raw       text    NOT NULL,
  raw_bytes bigint  NOT NULL,
  raw_hash  uuid    NOT NULL
) WITH (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_threshold = -1,
  autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX staged_reject_fence_idx ON conciliation.staged_reject (fence);

COMMENT ON TABLE conciliation.staged_reject IS
  'For the program only: the rejects of one attempt between reading and merging, or while its pull is held. Unlogged: empty after a crash of the database.';
COMMENT ON COLUMN conciliation.staged_reject.fence IS
  'pull.fence of the attempt.';
COMMENT ON COLUMN conciliation.staged_reject.ordinal IS
  'Position in the response''s titles, from 0.';
COMMENT ON COLUMN conciliation.staged_reject.date IS
  'As rejected_title.date.';
COMMENT ON COLUMN conciliation.staged_reject.reasons IS
  'As rejected_title.reasons.';
COMMENT ON COLUMN conciliation.staged_reject.raw IS
  'As rejected_title.raw. Personal data.';
COMMENT ON COLUMN conciliation.staged_reject.raw_bytes IS
  'As rejected_title.raw_bytes.';
COMMENT ON COLUMN conciliation.staged_reject.raw_hash IS
  'As rejected_title.raw_hash.';


CREATE UNLOGGED TABLE conciliation.staged_date (
  fence           bigint      NOT NULL,
  date            date        NOT NULL,
  known           integer     NOT NULL,
  base_changed_at timestamptz NOT NULL
) WITH (
  autovacuum_vacuum_insert_threshold = -1
);

CREATE INDEX staged_date_fence_idx ON conciliation.staged_date (fence);

COMMENT ON TABLE conciliation.staged_date IS
  'For the program only: the dates whose current titles an attempt had at hand while it read the response, so that only what differs was staged. Unlogged.';
COMMENT ON COLUMN conciliation.staged_date.fence IS
  'pull.fence of the attempt.';
COMMENT ON COLUMN conciliation.staged_date.date IS
  'The accepted date.';
COMMENT ON COLUMN conciliation.staged_date.known IS
  'Titles of the response that were not staged, because the date has them already, in the same text.';
COMMENT ON COLUMN conciliation.staged_date.base_changed_at IS
  'day.changed_at of the date at that time: what was staged is a difference from those titles and no others.';


CREATE UNLOGGED TABLE conciliation.staged_missing (
  fence    bigint  NOT NULL,
  date     date    NOT NULL,
  raw_hash uuid    NOT NULL,
  copies   integer NOT NULL
) WITH (
  autovacuum_vacuum_insert_threshold = -1
);

CREATE INDEX staged_missing_fence_idx ON conciliation.staged_missing (fence);

COMMENT ON TABLE conciliation.staged_missing IS
  'For the program only: current titles of the dates in staged_date whose text the response does not have. Unlogged.';
COMMENT ON COLUMN conciliation.staged_missing.fence IS
  'pull.fence of the attempt.';
COMMENT ON COLUMN conciliation.staged_missing.date IS
  'Accepted date of the titles.';
COMMENT ON COLUMN conciliation.staged_missing.raw_hash IS
  'title.raw_hash of the titles.';
COMMENT ON COLUMN conciliation.staged_missing.copies IS
  'How many titles of that text the response has less than the date.';


CREATE UNLOGGED TABLE conciliation.staged_change (
  fence      bigint NOT NULL,
  date       date   NOT NULL,
  kind       text   NOT NULL,
  ordinal    integer,
  title_id   bigint,
  occurrence integer
) WITH (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_threshold = -1,
  autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 10000,
  autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX staged_change_fence_idx ON conciliation.staged_change (fence, kind);

COMMENT ON TABLE conciliation.staged_change IS
  'For the program only: what a merge is about to do, one row for each title that does not stay as it is. Outside a merge it is empty. Unlogged.';
COMMENT ON COLUMN conciliation.staged_change.fence IS
  'pull.fence of the attempt.';
COMMENT ON COLUMN conciliation.staged_change.date IS
  'Accepted date of the title.';
COMMENT ON COLUMN conciliation.staged_change.kind IS
  'inserted, changed, withdrawn or restored.';
COMMENT ON COLUMN conciliation.staged_change.ordinal IS
  'Its row in staged_title. Null: withdrawn, so the response has none.';
COMMENT ON COLUMN conciliation.staged_change.title_id IS
  'title.id of the title concerned. Null: inserted, so there is none yet.';
COMMENT ON COLUMN conciliation.staged_change.occurrence IS
  'title.occurrence to be given to an inserted title. Null: not inserted.';


-- Rules that hold whoever writes ---------------------------------------------------------------

CREATE FUNCTION conciliation.refuse_rewriting() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RAISE EXCEPTION '%.% is append-only, so % is refused', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
    USING ERRCODE = 'restrict_violation', SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME;
END
$$;

COMMENT ON FUNCTION conciliation.refuse_rewriting() IS
  'Trigger of append-only tables: what was recorded once stays as it was.';

CREATE TRIGGER title_revision_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON conciliation.title_revision
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();

CREATE TRIGGER audit_entry_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON conciliation.audit_entry
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();


CREATE FUNCTION conciliation.mark_provider_pending() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  NEW.sync_state := 'pending';
  NEW.last_error := NULL;
  NEW.changed_at := now();
  RETURN NEW;
END
$$;

COMMENT ON FUNCTION conciliation.mark_provider_pending() IS
  'Trigger of provider: new or changed content is to be pushed, and what was wrong with the old content no longer counts.';

CREATE TRIGGER provider_inserted
  BEFORE INSERT ON conciliation.provider
  FOR EACH ROW EXECUTE FUNCTION conciliation.mark_provider_pending();

-- Compares content alone, so that recording the outcome of a push does not make the row pending
-- again, and an ERP that rewrites all its rows every night pushes nothing.
CREATE TRIGGER provider_content_changed
  BEFORE UPDATE ON conciliation.provider
  FOR EACH ROW
  WHEN (
    (OLD.external_id, OLD.type, OLD.identification_number, OLD.name, OLD.can_anticipate,
     OLD.phones, OLD.email_addresses, OLD.accounts)
    IS DISTINCT FROM
    (NEW.external_id, NEW.type, NEW.identification_number, NEW.name, NEW.can_anticipate,
     NEW.phones, NEW.email_addresses, NEW.accounts)
  )
  EXECUTE FUNCTION conciliation.mark_provider_pending();
