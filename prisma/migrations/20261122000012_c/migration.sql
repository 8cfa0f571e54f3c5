-- Sweeps compare and merge nothing. What a sweep compares with, the fold of the newest complete answer for
-- a date, is kept beside the date and beside the pull that brought the answer.

ALTER TABLE conciliation.day
  ADD COLUMN fold_count      integer,
  ADD COLUMN fold_sum        text,
  ADD COLUMN latest_due_date date,
  ADD COLUMN content_version smallint NOT NULL DEFAULT 1,
  ADD CONSTRAINT day_fold_check
    CHECK (fold_count >= 0 AND fold_sum ~ '^[0-9a-f]{32}$' AND (fold_count IS NULL) = (fold_sum IS NULL));

-- How far back the next sweep has to reach.
CREATE INDEX day_latest_due_date_idx ON conciliation.day (latest_due_date);

COMMENT ON COLUMN conciliation.day.fold_count IS
  'Titles in the newest complete answer for the date that kept the contract; also of an answer that is held. Null: the date was never answered.';
COMMENT ON COLUMN conciliation.day.fold_sum IS
  'Sum modulo 2^128 of the content hashes of those titles, as 32 hexadecimal digits. A sweep compares count and sum with those of its own answer. Null: the date was never answered.';
COMMENT ON COLUMN conciliation.day.latest_due_date IS
  'Latest anticipated_due_date of the current titles. Null: there is none.';
COMMENT ON COLUMN conciliation.day.content_version IS
  'Version of the content hashes of the date: which columns they cover. A date keeps the version that its titles were hashed with first.';

COMMENT ON COLUMN conciliation.title.content_hash IS
  'Hash of every documented field that the platform stated; equal exactly for titles that agree in all of them. 1.5 and 1.50 are equal, extra is not covered. day.content_version tells which fields are covered.';
COMMENT ON COLUMN conciliation.staged_title.content_hash IS
  'As title.content_hash.';


ALTER TABLE conciliation.pull
  ADD COLUMN round      integer NOT NULL DEFAULT 0,
  ADD COLUMN fold_count integer,
  ADD COLUMN fold_sum   text,
  ADD CONSTRAINT pull_round_check CHECK (round >= 0),
  ADD CONSTRAINT pull_fold_check
    CHECK (fold_count >= 0 AND fold_sum ~ '^[0-9a-f]{32}$' AND (fold_count IS NULL) = (fold_sum IS NULL));

DROP INDEX conciliation.pull_slot_key;
CREATE UNIQUE INDEX pull_slot_key ON conciliation.pull (origin, date, slot_at, round);

COMMENT ON COLUMN conciliation.pull.origin IS
  'Why it was made. daily: the day before, or a date that was missed. lookback: one of the days before that, pulled again. backfill: part of a backfill. sweep: a sweep found that the date differs, or the date is pulled once a week because no sweep succeeds within its limits. manual: a person asked for the date.';
COMMENT ON COLUMN conciliation.pull.slot_at IS
  'The instant that made the pull due: of the schedule, or for a pull that a sweep asked for when its answer had ended. Null: a person or a backfill asked for it.';
COMMENT ON COLUMN conciliation.pull.round IS
  'Pulls of the same date, origin and slot_at that had failed before this one was planned.';
COMMENT ON COLUMN conciliation.pull.fold_count IS
  'As day.fold_count, of the answer of this pull. Null: no whole response yet.';
COMMENT ON COLUMN conciliation.pull.fold_sum IS
  'As day.fold_sum, of the answer of this pull. Null: no whole response yet.';


-- Sweeps ---------------------------------------------------------------------------------------

CREATE TABLE conciliation.sweep (
  id                bigserial   PRIMARY KEY,
  from_date         date        NOT NULL,
  slot_at           timestamptz,
  round             integer     NOT NULL DEFAULT 0,
  requested_by      text        NOT NULL,
  state             text        NOT NULL DEFAULT 'queued',
  attempts          integer     NOT NULL DEFAULT 0,
  fence             bigint,
  next_attempt_at   timestamptz,
  created_at        timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  fetch_started_at  timestamptz,
  response_ended_at timestamptz,
  finished_at       timestamptz,
  http_status       integer,
  response_bytes    bigint,
  titles            integer,
  dates_compared    integer,
  dates_differing   integer,
  undated_titles    integer,
  future_titles     integer,
  early_titles      integer,
  over_limit        boolean     NOT NULL DEFAULT false,
  error_code        text,
  error_message     text,

  CONSTRAINT sweep_state_check
    CHECK (state IN ('queued', 'running', 'complete', 'failed', 'cancelled')),
  -- A count that is null passes: no answer was read to its end yet.
  CONSTRAINT sweep_counts_check
    CHECK (attempts >= 0 AND round >= 0 AND response_bytes >= 0 AND titles >= 0
           AND dates_differing BETWEEN 0 AND dates_compared
           AND undated_titles >= 0 AND future_titles >= 0 AND early_titles >= 0)
);

CREATE UNIQUE INDEX sweep_fence_key ON conciliation.sweep (fence);
CREATE UNIQUE INDEX sweep_slot_key ON conciliation.sweep (slot_at, round);

COMMENT ON SEQUENCE conciliation.pull_fence_seq IS
  'Numbers the attempts at pulls and sweeps. Drawn before the request is sent, so a greater fence is a newer fetch.';

COMMENT ON TABLE conciliation.sweep IS
  'One row for every sweep: one request to the platform for everything accepted since a date, with all its attempts. A sweep compares each date with the ledger and merges nothing; a date that differs gets a pull.';
COMMENT ON COLUMN conciliation.sweep.id IS
  'Key of the sweep.';
COMMENT ON COLUMN conciliation.sweep.from_date IS
  'First accepted date that was asked for.';
COMMENT ON COLUMN conciliation.sweep.slot_at IS
  'The scheduled instant that made the sweep due. Null: a person asked for it.';
COMMENT ON COLUMN conciliation.sweep.round IS
  'Sweeps of the same slot_at that had failed before this one was planned.';
COMMENT ON COLUMN conciliation.sweep.requested_by IS
  'Who or what asked for it: a part of the program or a person. May be personal data.';
COMMENT ON COLUMN conciliation.sweep.state IS
  'queued: due at next_attempt_at. running: an attempt is under way. complete: every date was compared. failed: no attempt is left, or repeating is pointless. cancelled: a person stopped it.';
COMMENT ON COLUMN conciliation.sweep.attempts IS
  'Attempts spent. One that ended because the program stopped or the token was refused is not spent.';
COMMENT ON COLUMN conciliation.sweep.fence IS
  'Number of the latest attempt; an older attempt records nothing. Null: never attempted.';
COMMENT ON COLUMN conciliation.sweep.next_attempt_at IS
  'While queued: not before this instant. Null: at once.';
COMMENT ON COLUMN conciliation.sweep.created_at IS
  'When the sweep was asked for.';
COMMENT ON COLUMN conciliation.sweep.fetch_started_at IS
  'When the latest attempt began. Null: never attempted.';
COMMENT ON COLUMN conciliation.sweep.response_ended_at IS
  'When the answer that was compared had been read to its end. Null: not complete.';
COMMENT ON COLUMN conciliation.sweep.finished_at IS
  'When it reached a final state. Null: not yet.';
COMMENT ON COLUMN conciliation.sweep.http_status IS
  'Status of the latest answer. Null: there was none.';
COMMENT ON COLUMN conciliation.sweep.response_bytes IS
  'Bytes of the latest answer''s body that arrived. Null: there was none.';
COMMENT ON COLUMN conciliation.sweep.titles IS
  'Titles in the answer, whatever became of them. Null: not complete.';
COMMENT ON COLUMN conciliation.sweep.dates_compared IS
  'Dates that were compared: every date from from_date on, and not before checkpoint.start_date, that was over when the request was sent, also those that the answer lacks. Null: not complete.';
COMMENT ON COLUMN conciliation.sweep.dates_differing IS
  'Of those, the dates in sweep_difference. Null: not complete.';
COMMENT ON COLUMN conciliation.sweep.undated_titles IS
  'Titles without a readable accepted date. They belong to no date. Null: not complete.';
COMMENT ON COLUMN conciliation.sweep.future_titles IS
  'Titles with an accepted date that had not begun when they were read. They belong to no date. Null: not complete.';
COMMENT ON COLUMN conciliation.sweep.early_titles IS
  'Titles with an accepted date before from_date. They were not asked for. Null: not complete.';
COMMENT ON COLUMN conciliation.sweep.over_limit IS
  'True where the latest attempt ended because the answer exceeded PLATFORM_MAX_MINUTES or PLATFORM_MAX_BYTES. While that is so of the newest scheduled sweep that has ended, each date in reach is pulled once a week.';
COMMENT ON COLUMN conciliation.sweep.error_code IS
  'Stable code of the latest attempt''s failure, for example PLATFORM_UNAVAILABLE. Null: it did not fail.';
COMMENT ON COLUMN conciliation.sweep.error_message IS
  'The failure in words, free of personal data. Null: it did not fail.';


CREATE TABLE conciliation.sweep_difference (
  sweep_id          bigint  NOT NULL,
  date              date    NOT NULL,
  fold_count        integer NOT NULL,
  fold_sum          text    NOT NULL,
  ledger_fold_count integer,
  ledger_fold_sum   text,
  pull_id           bigint,

  CONSTRAINT sweep_difference_pkey PRIMARY KEY (sweep_id, date),
  CONSTRAINT sweep_difference_sweep_id_fkey FOREIGN KEY (sweep_id)
    REFERENCES conciliation.sweep (id) ON DELETE NO ACTION ON UPDATE NO ACTION,
  CONSTRAINT sweep_difference_fold_check
    CHECK (fold_count >= 0 AND fold_sum ~ '^[0-9a-f]{32}$')
);

CREATE INDEX sweep_difference_date_idx ON conciliation.sweep_difference (date);

COMMENT ON TABLE conciliation.sweep_difference IS
  'One row for each date of which the answer of a sweep had another fold than the ledger. Dates that agree have no row.';
COMMENT ON COLUMN conciliation.sweep_difference.sweep_id IS
  'sweep.id of the sweep.';
COMMENT ON COLUMN conciliation.sweep_difference.date IS
  'The accepted date.';
COMMENT ON COLUMN conciliation.sweep_difference.fold_count IS
  'Titles of the date in the answer of the sweep that kept the contract.';
COMMENT ON COLUMN conciliation.sweep_difference.fold_sum IS
  'Sum modulo 2^128 of their content hashes, as 32 hexadecimal digits.';
COMMENT ON COLUMN conciliation.sweep_difference.ledger_fold_count IS
  'day.fold_count at that time. Null: the date had never been answered.';
COMMENT ON COLUMN conciliation.sweep_difference.ledger_fold_sum IS
  'day.fold_sum at that time. Null: the date had never been answered.';
COMMENT ON COLUMN conciliation.sweep_difference.pull_id IS
  'pull.id of the pull that decides the date; its request was sent after the answer of the sweep had ended. Null: none was planned yet, or a newer sweep has compared the date before one was.';
