-- Bookings: what a seal releases to the ERP, and what the ERP answers. docs/bookings.md describes the use of
-- the tables. They stay empty until BOOKINGS_FROM is set.

CREATE TABLE conciliation.booking_consumer (
  name            text        PRIMARY KEY,
  database_role   text,
  api_key_id      bigint,
  buyers          text[],
  last_seq        bigint      NOT NULL DEFAULT 0,
  acknowledged_at timestamptz,
  created_at      timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,

  CONSTRAINT booking_consumer_name_check CHECK (name ~ '^[a-z][a-z0-9_-]{0,62}$'),
  CONSTRAINT booking_consumer_last_seq_check CHECK (last_seq >= 0)
);

CREATE UNIQUE INDEX booking_consumer_role_key ON conciliation.booking_consumer (database_role);
CREATE UNIQUE INDEX booking_consumer_api_key_key ON conciliation.booking_consumer (api_key_id);

-- Every line has a consumer, also where nobody has named one.
INSERT INTO conciliation.booking_consumer (name) VALUES ('erp');

COMMENT ON TABLE conciliation.booking_consumer IS
  'The systems that post booking lines. A line belongs to the consumer whose buyers contain the buyer of its title, otherwise to the consumer erp. A database user sees the row of its own role only.';
COMMENT ON COLUMN conciliation.booking_consumer.name IS
  'Name of the consumer.';
COMMENT ON COLUMN conciliation.booking_consumer.database_role IS
  'The database user that reads the feed and writes receipts for the consumer. Null: no database user does.';
COMMENT ON COLUMN conciliation.booking_consumer.api_key_id IS
  'api_key.id of the key that reads the feed and writes receipts for the consumer. Null: no key does.';
COMMENT ON COLUMN conciliation.booking_consumer.buyers IS
  'The CNPJs of the buyers whose lines belong to the consumer, without mask and in upper case; title.buyer_identification may be written in another way. Null: the lines of no buyer, except for the consumer erp. May be personal data.';
COMMENT ON COLUMN conciliation.booking_consumer.last_seq IS
  'The greatest booking_feed.seq that the consumer has processed, as the consumer stated last. 0: none.';
COMMENT ON COLUMN conciliation.booking_consumer.acknowledged_at IS
  'When the consumer stated last_seq. Null: never.';
COMMENT ON COLUMN conciliation.booking_consumer.created_at IS
  'When the consumer was named.';


CREATE TABLE conciliation.booking_start (
  id            integer     PRIMARY KEY DEFAULT 1,
  bookings_from date,
  stored_at     timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,

  CONSTRAINT booking_start_single_row_check CHECK (id = 1),
  CONSTRAINT booking_start_date_check CHECK (bookings_from BETWEEN '0001-01-01' AND '9999-12-31')
);

COMMENT ON TABLE conciliation.booking_start IS
  'A single row: BOOKINGS_FROM, stored with the first sign-off of a date from BOOKINGS_FROM on, and moved at a start of the service only where no date can be booked twice or lose its lines.';
COMMENT ON COLUMN conciliation.booking_start.id IS
  'Always 1.';
COMMENT ON COLUMN conciliation.booking_start.bookings_from IS
  'The first accepted date whose seals release bookings. Null: BOOKINGS_FROM was removed before a line was released.';
COMMENT ON COLUMN conciliation.booking_start.stored_at IS
  'When bookings_from was stored or moved. What was signed off before for an earlier date, the ERP has booked by other means.';


CREATE TABLE conciliation.booking_batch (
  id                             bigserial   PRIMARY KEY,
  date                           date        NOT NULL,
  sign_off_id                    bigint,
  released_at                    timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  released_by                    text        NOT NULL,
  line_count                     integer     NOT NULL,
  book_count                     integer     NOT NULL,
  adjust_count                   integer     NOT NULL,
  reverse_count                  integer     NOT NULL,
  waiting_titles                 integer     NOT NULL DEFAULT 0,
  original_value_sum             numeric     NOT NULL,
  platform_discounted_value_sum  numeric     NOT NULL,
  financial_discounted_value_sum numeric     NOT NULL,
  buyer_discounted_value_sum     numeric     NOT NULL,
  billing_fee_sum                numeric     NOT NULL,
  money_transfer_fee_sum         numeric     NOT NULL,
  digest                         text        NOT NULL,

  CONSTRAINT booking_batch_count_check CHECK (line_count = book_count + adjust_count + reverse_count),
  CONSTRAINT booking_batch_waiting_check CHECK (waiting_titles = 0 OR waiting_titles > 0 AND sign_off_id IS NOT NULL),
  CONSTRAINT booking_batch_date_check CHECK (date BETWEEN '0001-01-01' AND '9999-12-31')
);

CREATE INDEX booking_batch_date_idx ON conciliation.booking_batch (date, id);

COMMENT ON TABLE conciliation.booking_batch IS
  'Lines that a seal of a date released, or that a person recorded from receipts. A seal has several batches if titles had to wait. Append-only. The sums of all batches of a date are the totals of the content that was released last, unless a batch of the date has no sign_off_id.';
COMMENT ON COLUMN conciliation.booking_batch.id IS
  'Key of the batch.';
COMMENT ON COLUMN conciliation.booking_batch.date IS
  'The accepted date.';
COMMENT ON COLUMN conciliation.booking_batch.sign_off_id IS
  'sign_off.id of the seal whose content was released. Null: the lines are taken from receipts that the ledger did not know, by a person; only its reversals are in the feed.';
COMMENT ON COLUMN conciliation.booking_batch.released_at IS
  'When the batch was written.';
COMMENT ON COLUMN conciliation.booking_batch.released_by IS
  'Who signed the date off, or recorded the receipts. Personal data.';
COMMENT ON COLUMN conciliation.booking_batch.line_count IS
  'Number of lines. 0: the seal changed nothing.';
COMMENT ON COLUMN conciliation.booking_batch.book_count IS
  'Number of lines of the kind book.';
COMMENT ON COLUMN conciliation.booking_batch.adjust_count IS
  'Number of lines of the kind adjust.';
COMMENT ON COLUMN conciliation.booking_batch.reverse_count IS
  'Number of lines of the kind reverse.';
COMMENT ON COLUMN conciliation.booking_batch.waiting_titles IS
  'Number of titles that the seal covers and that had to wait, because of their payables. They are in none of the counts and sums. A later batch of the same seal releases them. 0: the seal is released completely.';
COMMENT ON COLUMN conciliation.booking_batch.original_value_sum IS
  'What the lines add to the sum of original_value: book adds, adjust adds the difference, reverse subtracts.';
COMMENT ON COLUMN conciliation.booking_batch.platform_discounted_value_sum IS
  'What the lines add to the sum of platform_discounted_value. A null counts as 0.';
COMMENT ON COLUMN conciliation.booking_batch.financial_discounted_value_sum IS
  'What the lines add to the sum of financial_discounted_value. A null counts as 0.';
COMMENT ON COLUMN conciliation.booking_batch.buyer_discounted_value_sum IS
  'What the lines add to the sum of buyer_discounted_value. A null counts as 0.';
COMMENT ON COLUMN conciliation.booking_batch.billing_fee_sum IS
  'What the lines add to the sum of billing_fee. A null counts as 0.';
COMMENT ON COLUMN conciliation.booking_batch.money_transfer_fee_sum IS
  'What the lines add to the sum of money_transfer_fee. A null counts as 0.';
COMMENT ON COLUMN conciliation.booking_batch.digest IS
  'SHA-256, hexadecimal, of one text line for each booking line, in the order of identity_hash, occurrence and version: key, kind and content_hash without hyphens, each followed by a line feed.';


CREATE TABLE conciliation.booking_line (
  id                             bigserial PRIMARY KEY,
  batch_id                       bigint    NOT NULL REFERENCES conciliation.booking_batch (id)
                                           ON DELETE NO ACTION ON UPDATE NO ACTION,
  consumer                       text      NOT NULL REFERENCES conciliation.booking_consumer (name)
                                           ON DELETE NO ACTION ON UPDATE NO ACTION,
  date                           date      NOT NULL,
  identity_hash                  uuid      NOT NULL,
  occurrence                     integer   NOT NULL,
  version                        integer   NOT NULL,
  kind                           text      NOT NULL,
  content_hash                   uuid      NOT NULL,
  succeeds                       integer,
  posted_hash                    uuid,
  state                          text      NOT NULL DEFAULT 'released',
  state_at                       timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  document                       text,
  failure                        text,
  erp_key                        text,
  title_id                       bigint,
  order_uid                      text,
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
  original_value                 numeric,
  platform_discounted_value      numeric,
  financial_discounted_value     numeric,
  buyer_discounted_value         numeric,
  billing_fee                    numeric,
  money_transfer_fee             numeric,
  platform_commission            text,
  provider_destination           jsonb,
  payment_destination            jsonb,

  CONSTRAINT booking_line_kind_check CHECK (kind IN ('book', 'adjust', 'reverse')),
  CONSTRAINT booking_line_state_check CHECK (state IN ('released', 'posted', 'failed', 'refused', 'superseded')),
  CONSTRAINT booking_line_occurrence_check CHECK (occurrence >= 1),
  CONSTRAINT booking_line_version_check CHECK (version >= 1 AND succeeds < version),
  -- The content of a reversal is nothing, whatever it reverses.
  CONSTRAINT booking_line_content_check
    CHECK ((kind = 'reverse') = (content_hash = '00000000-0000-0000-0000-000000000000')),
  CONSTRAINT booking_line_dates_check
    CHECK (date BETWEEN '0001-01-01' AND '9999-12-31'
           AND anticipated_due_date BETWEEN '0001-01-01' AND '9999-12-31')
);

-- Also serves reads by date, because date is its first column.
CREATE UNIQUE INDEX booking_line_key ON conciliation.booking_line (date, identity_hash, occurrence, version);
CREATE INDEX booking_line_batch_idx ON conciliation.booking_line (batch_id);
CREATE INDEX booking_line_open_idx ON conciliation.booking_line (state, id) WHERE state IN ('released', 'failed', 'refused');
CREATE INDEX booking_line_provider_idx ON conciliation.booking_line (provider_external_id);

COMMENT ON TABLE conciliation.booking_line IS
  'What the ERP books: the difference between two released contents of a date. The lines of one (date, identity_hash, occurrence) are the history of one booking; the line with the greatest version states its present content. Only state, state_at, document, failure and posted_hash change. A column that mirrors title shows the title at its seal; a line of the kind reverse shows what it reverses. In a line that was taken from a receipt these columns are null.';
COMMENT ON COLUMN conciliation.booking_line.id IS
  'Key inside the program. The key for the ERP is (date, identity_hash, occurrence, version).';
COMMENT ON COLUMN conciliation.booking_line.batch_id IS
  'booking_batch.id.';
COMMENT ON COLUMN conciliation.booking_line.consumer IS
  'booking_consumer.name of the consumer that posts the line.';
COMMENT ON COLUMN conciliation.booking_line.date IS
  'The accepted date of the title.';
COMMENT ON COLUMN conciliation.booking_line.identity_hash IS
  'title.identity_hash.';
COMMENT ON COLUMN conciliation.booking_line.occurrence IS
  'Numbers, from 1, the bookings of one date and one identity_hash. Not title.occurrence: titles that are renumbered keep their bookings.';
COMMENT ON COLUMN conciliation.booking_line.version IS
  'Numbers, from 1, the lines of one booking.';
COMMENT ON COLUMN conciliation.booking_line.kind IS
  'book: post the content. adjust: replace the posted content by this one. reverse: undo what is posted.';
COMMENT ON COLUMN conciliation.booking_line.content_hash IS
  'title.content_hash at the seal. A line of the kind reverse has the hash 00000000-0000-0000-0000-000000000000.';
COMMENT ON COLUMN conciliation.booking_line.succeeds IS
  'The version before, of the same booking. Null: there is none.';
COMMENT ON COLUMN conciliation.booking_line.posted_hash IS
  'The content hash of the receipt that a person recorded for this key. The next release replaces the booking, whatever its content, so that the feed has what the ERP is to have posted. Null: no receipt was recorded.';
COMMENT ON COLUMN conciliation.booking_line.state IS
  'released: the ERP has not answered. posted: the ERP has posted the line. failed: the ERP could not post the line, which is offered again. refused: the ERP will never post the line, which is not offered again. superseded: not posted, because the ERP has posted a later version of the booking.';
COMMENT ON COLUMN conciliation.booking_line.state_at IS
  'Since when the line has the state.';
COMMENT ON COLUMN conciliation.booking_line.document IS
  'The document of the ERP, as of the newest receipt. Null: not posted.';
COMMENT ON COLUMN conciliation.booking_line.failure IS
  'The reason of the ERP, as of the newest receipt. Null: not failed.';
COMMENT ON COLUMN conciliation.booking_line.erp_key IS
  'The ERP''s key of the payable that the title is matched with. Null: no payable is matched, or no payables are given.';
COMMENT ON COLUMN conciliation.booking_line.provider_destination IS
  'The undocumented fields of provider.bankAccount that name a destination, such as a Pix key. Null: none. Personal data.';
COMMENT ON COLUMN conciliation.booking_line.payment_destination IS
  'The undocumented fields of financialAgent.payment that name a destination, such as a Pix key. Null: none. Personal data.';
COMMENT ON COLUMN conciliation.booking_line.title_id IS
  'title.id of the title. Null: taken from a receipt.';


CREATE TABLE conciliation.booking_offer (
  seq        bigserial   PRIMARY KEY,
  line_id    bigint      NOT NULL REFERENCES conciliation.booking_line (id) ON DELETE NO ACTION ON UPDATE NO ACTION,
  offered_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE INDEX booking_offer_line_idx ON conciliation.booking_offer (line_id);

COMMENT ON TABLE conciliation.booking_offer IS
  'The positions of lines in booking_feed. A released line is offered once, and once more after each receipt that says that it failed and that is not final. Numbered under the lock of the closing phase, in the order in which the transactions commit. Append-only.';
COMMENT ON COLUMN conciliation.booking_offer.seq IS
  'Position in booking_feed. When a seq is visible, no smaller one can still appear. Not dense: numbers may be skipped.';
COMMENT ON COLUMN conciliation.booking_offer.line_id IS
  'booking_line.id.';
COMMENT ON COLUMN conciliation.booking_offer.offered_at IS
  'When the line was offered.';


CREATE TABLE conciliation.booking_receipt (
  -- An identity, because an insert needs no right to its sequence.
  id              bigint      GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  consumer        text        NOT NULL REFERENCES conciliation.booking_consumer (name)
                              ON DELETE NO ACTION ON UPDATE NO ACTION,
  idempotency_key text        NOT NULL,
  date            date        NOT NULL,
  identity_hash   uuid        NOT NULL,
  occurrence      integer     NOT NULL,
  version         integer     NOT NULL,
  content_hash    uuid        NOT NULL,
  status          text        NOT NULL,
  document        text,
  reason          text,
  is_final        boolean     NOT NULL DEFAULT false,
  received_at     timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  outcome         text,
  settled_at      timestamptz,
  settled_by      text,

  CONSTRAINT booking_receipt_status_check
    CHECK ((status = 'posted' AND document IS NOT NULL AND reason IS NULL AND NOT is_final)
           OR (status = 'failed' AND reason IS NOT NULL AND document IS NULL)),
  CONSTRAINT booking_receipt_key_check CHECK (occurrence >= 1 AND version BETWEEN 1 AND 1000000000),
  CONSTRAINT booking_receipt_text_check
    CHECK (length(idempotency_key) BETWEEN 1 AND 200 AND length(document) BETWEEN 1 AND 200
           AND length(reason) BETWEEN 1 AND 2000),
  CONSTRAINT booking_receipt_outcome_check
    CHECK (outcome IN ('accepted', 'unknown_key', 'other_content', 'other_consumer', 'recorded', 'set_aside')
           AND (outcome IS NULL) = (settled_at IS NULL)),
  CONSTRAINT booking_receipt_date_check CHECK (date BETWEEN '0001-01-01' AND '9999-12-31')
);

CREATE UNIQUE INDEX booking_receipt_idempotency_key ON conciliation.booking_receipt (consumer, idempotency_key);
CREATE INDEX booking_receipt_line_idx
  ON conciliation.booking_receipt (date, identity_hash, occurrence, version);
CREATE INDEX booking_receipt_unsettled_idx ON conciliation.booking_receipt (id) WHERE outcome IS NULL;
CREATE INDEX booking_receipt_question_idx
  ON conciliation.booking_receipt (date) WHERE outcome IN ('unknown_key', 'other_content');

COMMENT ON TABLE conciliation.booking_receipt IS
  'What a consumer says about a line. A consumer inserts rows with its own name only, and reads those. The program compares each receipt with the lines within a minute, and sets outcome, settled_at and settled_by; the other columns never change.';
COMMENT ON COLUMN conciliation.booking_receipt.id IS
  'Orders the receipts. The newest accepted receipt of a line gives its state.';
COMMENT ON COLUMN conciliation.booking_receipt.consumer IS
  'booking_consumer.name of the author.';
COMMENT ON COLUMN conciliation.booking_receipt.idempotency_key IS
  'Chosen by the consumer: a second receipt with the same text is not taken.';
COMMENT ON COLUMN conciliation.booking_receipt.date IS
  'booking_feed.date of the line.';
COMMENT ON COLUMN conciliation.booking_receipt.identity_hash IS
  'booking_feed.identity_hash of the line.';
COMMENT ON COLUMN conciliation.booking_receipt.occurrence IS
  'booking_feed.occurrence of the line.';
COMMENT ON COLUMN conciliation.booking_receipt.version IS
  'booking_feed.version of the line.';
COMMENT ON COLUMN conciliation.booking_receipt.content_hash IS
  'booking_feed.content_hash of the line that the consumer posted.';
COMMENT ON COLUMN conciliation.booking_receipt.status IS
  'posted: with the ERP''s document. failed: with a reason; the line is offered again, unless the receipt is final.';
COMMENT ON COLUMN conciliation.booking_receipt.document IS
  'The ERP''s document. Null: failed.';
COMMENT ON COLUMN conciliation.booking_receipt.reason IS
  'Why the line could not be posted. Null: posted.';
COMMENT ON COLUMN conciliation.booking_receipt.is_final IS
  'True: failed, and the ERP will never post the line. The line is refused and not offered again.';
COMMENT ON COLUMN conciliation.booking_receipt.received_at IS
  'When the receipt was inserted.';
COMMENT ON COLUMN conciliation.booking_receipt.outcome IS
  'accepted: the line has the key, the content and the consumer. unknown_key: no line has the key. other_content: the line has another content. Both block the date until a person answers: recorded, if the ERP has posted it, or set_aside. other_consumer: the line belongs to another consumer; the receipt counts for nothing. Null: not compared yet.';
COMMENT ON COLUMN conciliation.booking_receipt.settled_at IS
  'When outcome was set. Null: not compared yet.';
COMMENT ON COLUMN conciliation.booking_receipt.settled_by IS
  'The person who answered the receipt. Null: the program. Personal data.';


CREATE VIEW conciliation.booking_feed WITH (security_barrier) AS
SELECT
  offer.seq,
  to_char(line.date, 'YYYY-MM-DD') || ':' || replace(line.identity_hash::text, '-', '') || ':'
    || line.occurrence || ':' || line.version AS key,
  to_char(line.date, 'YYYY-MM-DD') || ':' || replace(line.identity_hash::text, '-', '') || ':'
    || line.occurrence || ':' || line.succeeds AS succeeds_key,
  line.kind,
  CASE WHEN line.buyer_is_financial THEN 'early_payment'
       WHEN NOT line.buyer_is_financial THEN 'payee_change' ELSE 'not_stated' END AS effect,
  line.provider_identification AS payee_before,
  CASE WHEN line.buyer_is_financial THEN line.provider_identification
       ELSE line.financial_agent_identification END AS payee_after,
  line.erp_key,
  line.state,
  line.consumer,
  line.batch_id,
  offer.offered_at,
  line.date,
  line.identity_hash,
  line.occurrence,
  line.version,
  line.content_hash,
  line.title_id,
  line.order_uid,
  line.anticipated_due_date,
  line.buyer_identification,
  line.provider_external_id,
  line.provider_identification,
  line.provider_bank,
  line.provider_agency,
  line.provider_agency_digit,
  line.provider_account,
  line.provider_account_digit,
  line.financial_agent_type,
  line.financial_agent_identification,
  line.financial_agent_name,
  line.buyer_is_financial,
  line.payment_type,
  line.payment_bank,
  line.payment_agency,
  line.payment_agency_digit,
  line.payment_account,
  line.payment_account_digit,
  line.original_value,
  line.platform_discounted_value,
  line.financial_discounted_value,
  line.buyer_discounted_value,
  line.billing_fee,
  line.money_transfer_fee,
  line.platform_commission,
  line.provider_destination,
  line.payment_destination
FROM conciliation.booking_offer AS offer
JOIN conciliation.booking_line AS line ON line.id = offer.line_id
WHERE line.consumer = (
  SELECT consumer.name FROM conciliation.booking_consumer AS consumer
  WHERE consumer.database_role = CURRENT_USER::text
);

COMMENT ON VIEW conciliation.booking_feed IS
  'What the database user of a consumer reads, by booking_feed_after. Shows the released lines of that consumer, and no line to any other user. A consumer misses no line: when a seq is visible, no smaller one can still appear.';
COMMENT ON COLUMN conciliation.booking_feed.key IS
  'Key of the line: date, identity_hash without hyphens, occurrence and version, joined by colons. A key is posted at most once.';
COMMENT ON COLUMN conciliation.booking_feed.succeeds_key IS
  'Key of the line before, of the same booking. Null: there is none.';
COMMENT ON COLUMN conciliation.booking_feed.effect IS
  'early_payment: the buyer itself is the financial agent and pays the supplier early. payee_change: the financial agent is to be paid instead of the supplier. not_stated: the platform did not state buyerIsFinancial.';
COMMENT ON COLUMN conciliation.booking_feed.payee_before IS
  'Tax identifier of the payee without the anticipation: the provider. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.booking_feed.payee_after IS
  'Tax identifier of the payee with the anticipation: the financial agent, or the provider for an early payment. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.booking_feed.provider_destination IS
  'booking_line.provider_destination. Personal data.';
COMMENT ON COLUMN conciliation.booking_feed.payment_destination IS
  'booking_line.payment_destination. Personal data.';
COMMENT ON COLUMN conciliation.booking_feed.seq IS
  'booking_offer.seq: position in the feed.';
COMMENT ON COLUMN conciliation.booking_feed.offered_at IS
  'booking_offer.offered_at: when the line was offered at this position.';


CREATE VIEW conciliation.payables_to_block WITH (security_barrier) AS
SELECT
  payable.erp_key,
  payable.company,
  title.id AS title_id,
  title.order_uid,
  title.accepted_date,
  title.provider_external_id,
  title.original_value,
  CASE WHEN title.buyer_is_financial THEN 'early_payment'
       WHEN NOT title.buyer_is_financial THEN 'payee_change' ELSE 'not_stated' END AS effect,
  CASE WHEN title.buyer_is_financial THEN title.provider_identification
       ELSE title.financial_agent_identification END AS payee_after,
  match.made_at AS matched_at,
  coalesce(newest.state, 'not_released') AS state
FROM conciliation.title_match AS match
JOIN conciliation.title AS title ON title.id = match.title_id AND title.status = 'current'
JOIN conciliation.erp_payable AS payable
  ON payable.erp_key = match.erp_key AND payable.status = 'open' AND payable.closed_at IS NULL
-- By the key of the lines, which has an index.
LEFT JOIN LATERAL (
  SELECT line.state, line.kind FROM conciliation.booking_line AS line
  WHERE line.date = title.accepted_date AND line.identity_hash = title.identity_hash AND line.title_id = title.id
    AND line.kind <> 'reverse'
  ORDER BY line.version DESC LIMIT 1
) AS newest ON true
WHERE match.ended_at IS NULL
  -- A version that the ERP has posted changed the payee, until a reversal is posted.
  AND (SELECT line.kind FROM conciliation.booking_line AS line
       WHERE line.date = title.accepted_date AND line.identity_hash = title.identity_hash AND line.title_id = title.id
         AND line.state = 'posted'
       ORDER BY line.version DESC LIMIT 1) IN ('book', 'adjust') IS NOT TRUE;

COMMENT ON VIEW conciliation.payables_to_block IS
  'The open payables whose titles are matched and not posted yet, one row for each match. The ERP blocks them from its payment run until it posts the line, because the financial agent is going to be paid, or the buyer pays early.';
COMMENT ON COLUMN conciliation.payables_to_block.erp_key IS
  'erp_payable.erp_key.';
COMMENT ON COLUMN conciliation.payables_to_block.company IS
  'erp_payable.company.';
COMMENT ON COLUMN conciliation.payables_to_block.title_id IS
  'title.id.';
COMMENT ON COLUMN conciliation.payables_to_block.order_uid IS
  'title.order_uid.';
COMMENT ON COLUMN conciliation.payables_to_block.accepted_date IS
  'title.accepted_date.';
COMMENT ON COLUMN conciliation.payables_to_block.provider_external_id IS
  'title.provider_external_id.';
COMMENT ON COLUMN conciliation.payables_to_block.original_value IS
  'title.original_value.';
COMMENT ON COLUMN conciliation.payables_to_block.effect IS
  'As in booking_feed.';
COMMENT ON COLUMN conciliation.payables_to_block.payee_after IS
  'Tax identifier of the payee with the anticipation, as in booking_feed. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.payables_to_block.matched_at IS
  'When the match was made.';
COMMENT ON COLUMN conciliation.payables_to_block.state IS
  'State of the newest line of the title: released, failed, refused or superseded. posted: a posted reversal is newer. not_released: the title has no line.';

-- Every other column of booking_line and booking_feed means the same as the column of that name in title, or in
-- booking_line.
DO $$
DECLARE
  field record;
BEGIN
  FOR field IN
    SELECT DISTINCT ON (copy.attrelid, copy.attname)
           copy.attrelid::regclass AS relation, copy.attname AS name,
           col_description(source.attrelid, source.attnum) AS description
    FROM pg_attribute AS copy
    JOIN pg_attribute AS source ON source.attname = copy.attname
    WHERE copy.attrelid IN ('conciliation.booking_line'::regclass, 'conciliation.booking_feed'::regclass)
      AND source.attrelid IN ('conciliation.booking_line'::regclass, 'conciliation.title'::regclass)
      AND copy.attnum > 0
      AND col_description(copy.attrelid, copy.attnum) IS NULL
      AND col_description(source.attrelid, source.attnum) IS NOT NULL
    ORDER BY copy.attrelid, copy.attname, source.attrelid = 'conciliation.title'::regclass
  LOOP
    EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', field.relation, field.name, field.description);
  END LOOP;
END
$$;


-- Rules that the database enforces for every writer --------------------------------------------

CREATE TRIGGER booking_batch_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON conciliation.booking_batch
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();

CREATE TRIGGER booking_offer_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON conciliation.booking_offer
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();

CREATE TRIGGER booking_line_not_deleted
  BEFORE DELETE OR TRUNCATE ON conciliation.booking_line
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();

CREATE TRIGGER booking_receipt_not_deleted
  BEFORE DELETE OR TRUNCATE ON conciliation.booking_receipt
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();

CREATE TRIGGER booking_line_kept
  BEFORE UPDATE ON conciliation.booking_line
  FOR EACH ROW
  WHEN (to_jsonb(OLD) - '{state,state_at,document,failure,posted_hash}'::text[]
        IS DISTINCT FROM to_jsonb(NEW) - '{state,state_at,document,failure,posted_hash}'::text[])
  EXECUTE FUNCTION conciliation.refuse_rewriting();

CREATE TRIGGER booking_receipt_kept
  BEFORE UPDATE ON conciliation.booking_receipt
  FOR EACH ROW
  WHEN (to_jsonb(OLD) - '{outcome,settled_at,settled_by}'::text[]
        IS DISTINCT FROM to_jsonb(NEW) - '{outcome,settled_at,settled_by}'::text[])
  EXECUTE FUNCTION conciliation.refuse_rewriting();

-- The policies are in prisma/roles.sql, because the roles need not exist when a migration runs. Without a
-- policy only the owner of the table reads or writes rows.
ALTER TABLE conciliation.booking_consumer ENABLE ROW LEVEL SECURITY;
ALTER TABLE conciliation.booking_receipt ENABLE ROW LEVEL SECURITY;


-- Autovacuum: tables that grow with every title -------------------------------------------------

ALTER TABLE conciliation.booking_line SET (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000
);
ALTER TABLE conciliation.booking_offer SET (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000
);
ALTER TABLE conciliation.booking_receipt SET (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000
);
