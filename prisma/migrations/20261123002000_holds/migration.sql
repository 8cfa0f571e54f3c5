-- A changed bank account is a payment hold. docs/title-feed.md describes the use of the column payment_hold.

CREATE TABLE conciliation.payment_hold (
  account_change_id bigint NOT NULL,
  title_id          bigint NOT NULL,
  accepted_date     date   NOT NULL,

  PRIMARY KEY (account_change_id, title_id),
  CONSTRAINT payment_hold_date_check CHECK (accepted_date BETWEEN '0001-01-01' AND '9999-12-31')
);

CREATE INDEX payment_hold_title_idx ON conciliation.payment_hold (title_id);
CREATE INDEX payment_hold_date_idx ON conciliation.payment_hold (accepted_date);

COMMENT ON TABLE conciliation.payment_hold IS
  'The current titles that a merge wrote while a change of the bank account that they name was open or refused. The hold lasts until a person confirms the change. A row remains after that, and is removed when a merge restates or withdraws the title before.';
COMMENT ON COLUMN conciliation.payment_hold.account_change_id IS
  'account_change.id.';
COMMENT ON COLUMN conciliation.payment_hold.title_id IS
  'title.id.';
COMMENT ON COLUMN conciliation.payment_hold.accepted_date IS
  'title.accepted_date.';

CREATE TABLE conciliation.title_succession (
  title_id       bigint NOT NULL PRIMARY KEY,
  predecessor_id bigint NOT NULL,
  accepted_date  date   NOT NULL,
  pull_id        bigint NOT NULL,

  CONSTRAINT title_succession_date_check CHECK (accepted_date BETWEEN '0001-01-01' AND '9999-12-31')
);

CREATE INDEX title_succession_predecessor_idx ON conciliation.title_succession (predecessor_id);

COMMENT ON TABLE conciliation.title_succession IS
  'A title that a merge inserted, and the title of the same order, buyer and provider that the same merge withdrew: one title with another due date or another original value. Only where no other title of the order, buyer and provider was inserted or withdrawn in the merge. Append-only.';
COMMENT ON COLUMN conciliation.title_succession.title_id IS
  'title.id of the title that was inserted.';
COMMENT ON COLUMN conciliation.title_succession.predecessor_id IS
  'title.id of the title that was withdrawn.';
COMMENT ON COLUMN conciliation.title_succession.accepted_date IS
  'title.accepted_date of both.';
COMMENT ON COLUMN conciliation.title_succession.pull_id IS
  'pull.id of the pull whose merge changed both.';

CREATE TRIGGER title_succession_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON conciliation.title_succession
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();

ALTER TABLE conciliation.title_change DROP CONSTRAINT title_change_kind_check;
-- The rows were checked by the earlier constraint, which was narrower.
ALTER TABLE conciliation.title_change ADD CONSTRAINT title_change_kind_check
  CHECK (kind IN ('inserted', 'changed', 'withdrawn', 'restored', 'payment_released')) NOT VALID;

COMMENT ON COLUMN conciliation.title_change.kind IS
  'inserted: received for the first time. changed: some field was restated. withdrawn: a newer response for the date lacked the title. restored: a newer response had the withdrawn title again, perhaps restated. payment_released: a person confirmed the changed bank account that held the payment; the title is as before.';
COMMENT ON COLUMN conciliation.title_change.pull_id IS
  'pull.id of the pull that brought the change; with the kind payment_released, of the pull that brought the account.';
COMMENT ON COLUMN conciliation.title_change.row_hash IS
  'Hash of the row of title as the change left it: the first 16 bytes of SHA-256. "conciliation verify" compares the newest hash of a title with the row. Null: the row had been deleted outside of the program, or the kind is payment_released, which changes no row.';

CREATE OR REPLACE VIEW conciliation.title_feed AS
SELECT
  change.change_seq,
  change.kind AS change_kind,
  change.title_id AS id,
  coalesce(title.status, 'withdrawn') AS status,
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
  title.changed_at,
  EXISTS (
    SELECT FROM conciliation.payment_hold AS hold
    JOIN conciliation.account_change ON account_change.id = hold.account_change_id
    WHERE hold.title_id = change.title_id AND account_change.state IN ('open', 'refused')
  ) AS payment_hold,
  (SELECT predecessor_id FROM conciliation.title_succession AS link
   WHERE link.title_id = change.title_id) AS predecessor_id,
  (SELECT link.title_id FROM conciliation.title_succession AS link
   WHERE link.predecessor_id = change.title_id ORDER BY link.pull_id DESC LIMIT 1) AS successor_id
FROM conciliation.title_change change
-- A row that was deleted outside of the program must leave the consumers too.
LEFT JOIN conciliation.title title ON title.id = change.title_id;

COMMENT ON COLUMN conciliation.title_feed.payment_hold IS
  'Whether the payment is held: the title names a changed bank account, and no person has confirmed the change. Do not pay such a title. The confirmation is a change of the kind payment_released.';

COMMENT ON COLUMN conciliation.title_feed.predecessor_id IS
  'title_succession.predecessor_id: the withdrawn title that this one replaces, with another due date or original value. Null: none.';
COMMENT ON COLUMN conciliation.title_feed.successor_id IS
  'The id of the newest title that replaced this one. Null: none.';

-- The reasons of responses that are held because they are not plausible.
COMMENT ON COLUMN conciliation.pull.hold_reason IS
  'Why the pull was held. emptied: the response has no title for a date that has some. unreadable: the response has titles, all of them rejected. withdrawal_limit: it would withdraw more than the configured share. buyer_withdrawals: more than that share of the titles of one buyer. duplicates: many titles equal another one of the response. growth: many times the usual number of titles of the weekday. changed_share: it would change more than the configured share. value_jump: the mean value differs from the usual one of the weekday by a great factor. Null: it was not held.';
