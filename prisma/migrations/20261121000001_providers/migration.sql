-- Pushing providers, and watching the bank accounts that titles name.


-- Providers ------------------------------------------------------------------------------------

ALTER TABLE conciliation.provider
  ADD COLUMN tax_id       text,
  ADD COLUMN sent_tax_ids text[] NOT NULL DEFAULT '{}',
  ADD COLUMN contested_by text[] NOT NULL DEFAULT '{}';

COMMENT ON COLUMN conciliation.provider.tax_id IS
  'identification_number as it is sent: without dots, dashes, slashes and blanks, letters in upper case; maintained by a trigger. Null: it has not the form of a CPF or CNPJ. Personal data.';
COMMENT ON COLUMN conciliation.provider.sent_tax_ids IS
  'For the program only: every tax_id under which the platform may know this provider. More than one while an answer is outstanding, or was a refusal. Personal data.';
COMMENT ON COLUMN conciliation.provider.contested_by IS
  'Of an invalid or rejected row: external_id of other rows that had its tax_id when it became so, or may have had it at the platform; a few of them where there are many. Once one lets go of it, the row is pending again by itself.';

COMMENT ON COLUMN conciliation.provider.sync_state IS
  'pending: to be pushed. synced: the platform took it. rejected: the platform refused it, see last_error. invalid: it was not sent, because the platform would refuse it, see last_error. Any change of content makes the row pending; set a rejected row to pending to push it again as it is.';
COMMENT ON COLUMN conciliation.provider.last_error IS
  'Why the row is rejected or invalid. Null: nothing is wrong. Of an invalid row, fields and what was expected of them, no values. Of a rejected row, the platform''s answer, which may be personal data.';
COMMENT ON COLUMN conciliation.provider.synced_hash IS
  'Hash of the content that the platform has; a row with equal content is not sent again. Null: it has none, or what it has is not known, because an answer is outstanding or was a refusal. Set it to null together with sync_state = pending to send a synced row again.';

-- The pending rows in the order in which they are pushed.
DROP INDEX conciliation.provider_sync_state_idx;
CREATE INDEX provider_sync_state_idx
  ON conciliation.provider (sync_state, changed_at, external_id);
CREATE INDEX provider_tax_id_idx ON conciliation.provider (tax_id);
-- Entries that wait for a VACUUM would be read through by every search.
CREATE INDEX provider_sent_tax_ids_idx ON conciliation.provider USING gin (sent_tax_ids)
  WITH (fastupdate = off);


CREATE FUNCTION conciliation.note_provider_tax_id() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  -- Letters of ASCII alone: upper() turns some others into A to Z.
  NEW.tax_id := translate(NEW.identification_number,
                          'abcdefghijklmnopqrstuvwxyz./- ', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ');
  IF NEW.tax_id !~ '^([0-9]{11}|[0-9A-Z]{12}[0-9]{2})$' THEN
    NEW.tax_id := NULL;
  END IF;
  -- A row that was never here was never sent, whatever it says of itself.
  IF TG_OP = 'INSERT' THEN
    NEW.sent_tax_ids := '{}';
    NEW.contested_by := '{}';
    NEW.synced_hash := NULL;
    NEW.synced_at := NULL;
  END IF;
  RETURN NEW;
END
$$;

COMMENT ON FUNCTION conciliation.note_provider_tax_id() IS
  'Trigger of provider: keeps tax_id in line with identification_number.';

UPDATE conciliation.provider
SET tax_id = translate(identification_number,
                       'abcdefghijklmnopqrstuvwxyz./- ', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')
WHERE translate(identification_number, 'abcdefghijklmnopqrstuvwxyz./- ', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')
      ~ '^([0-9]{11}|[0-9A-Z]{12}[0-9]{2})$';

CREATE TRIGGER provider_tax_id_noted
  BEFORE INSERT OR UPDATE OF identification_number, tax_id ON conciliation.provider
  FOR EACH ROW EXECUTE FUNCTION conciliation.note_provider_tax_id();


ALTER TABLE conciliation.provider_batch
  ADD COLUMN error_code      text,
  ADD COLUMN next_attempt_at timestamptz;

COMMENT ON TABLE conciliation.provider_batch IS
  'One row for every request that pushed providers, of at most 100 each, with the platform''s answer as it came. The row is there before the request is sent.';
COMMENT ON COLUMN conciliation.provider_batch.answer IS
  'Body of the answer, as received: at most 64 KiB of it, U+0000 and what is not UTF-8 replaced by U+FFFD. Null: there was none. May be personal data.';
COMMENT ON COLUMN conciliation.provider_batch.error_code IS
  'Why the request decided nothing about its providers: a code of the program such as PLATFORM_UNAVAILABLE. Null: the platform took the providers or refused them, or the request is under way.';
COMMENT ON COLUMN conciliation.provider_batch.next_attempt_at IS
  'Before then nothing is pushed after this request failed. Null: it did not fail.';


-- Bank accounts of parties ---------------------------------------------------------------------

CREATE TABLE conciliation.party_account (
  kind               text        NOT NULL,
  party_key          text        NOT NULL,
  account_hash       uuid        NOT NULL,
  bank               text,
  agency             text,
  agency_digit       text,
  account            text        NOT NULL,
  account_digit      text,
  last_accepted_date date        NOT NULL,
  first_seen_at      timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  last_seen_at       timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,

  PRIMARY KEY (kind, party_key, account_hash),
  CONSTRAINT party_account_kind_check CHECK (kind IN ('provider', 'financial_agent'))
);

COMMENT ON TABLE conciliation.party_account IS
  'Every bank account that a title named for a provider or a financial agent. The account last seen is the one with the latest last_accepted_date.';
COMMENT ON COLUMN conciliation.party_account.kind IS
  'provider or financial_agent.';
COMMENT ON COLUMN conciliation.party_account.party_key IS
  'Of a provider title.provider_external_id, or title.provider_identification where there is none; of a financial agent title.financial_agent_identification. Longer than 255 characters: md5: and its MD5. May be personal data.';
COMMENT ON COLUMN conciliation.party_account.account_hash IS
  'Equal for accounts that agree in every field, blanks around them aside.';
COMMENT ON COLUMN conciliation.party_account.bank IS
  'Bank code. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.party_account.agency IS
  'Branch number. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.party_account.agency_digit IS
  'Check digit of the branch number. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.party_account.account IS
  'Account number. Personal data.';
COMMENT ON COLUMN conciliation.party_account.account_digit IS
  'Check digit of the account number. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.party_account.last_accepted_date IS
  'The latest accepted date of a title that named the account.';
COMMENT ON COLUMN conciliation.party_account.first_seen_at IS
  'When a title that named it was merged first.';
COMMENT ON COLUMN conciliation.party_account.last_seen_at IS
  'When last_accepted_date was written.';


CREATE TABLE conciliation.account_change (
  id              bigserial   PRIMARY KEY,
  kind            text        NOT NULL,
  party_key       text        NOT NULL,
  account_hash    uuid        NOT NULL,
  before          jsonb       NOT NULL,
  after           jsonb       NOT NULL,
  accepted_date   date        NOT NULL,
  title_id        bigint      NOT NULL,
  pull_id         bigint      NOT NULL,
  detected_at     timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  acknowledged_at timestamptz,
  acknowledged_by text,
  reason          text,

  CONSTRAINT account_change_kind_check CHECK (kind IN ('provider', 'financial_agent')),
  CONSTRAINT account_change_acknowledged_check
    CHECK ((acknowledged_at IS NULL) = (acknowledged_by IS NULL))
);

CREATE INDEX account_change_acknowledged_idx ON conciliation.account_change (acknowledged_at, id);
CREATE INDEX account_change_party_idx ON conciliation.account_change (kind, party_key, account_hash);

COMMENT ON TABLE conciliation.account_change IS
  'A title named another bank account for a provider or financial agent than the one last seen: the commonest sign of payment fraud, so a person looks at each and acknowledges it. While a change to an account is not acknowledged, the same change is not recorded again.';
COMMENT ON COLUMN conciliation.account_change.id IS
  'Key of the change.';
COMMENT ON COLUMN conciliation.account_change.kind IS
  'provider or financial_agent.';
COMMENT ON COLUMN conciliation.account_change.party_key IS
  'As party_account.party_key. May be personal data.';
COMMENT ON COLUMN conciliation.account_change.account_hash IS
  'party_account.account_hash of the account in after.';
COMMENT ON COLUMN conciliation.account_change.before IS
  'The account last seen before: bank, agency, agencyDigit, account, accountDigit. Personal data.';
COMMENT ON COLUMN conciliation.account_change.after IS
  'The other account, likewise. Personal data.';
COMMENT ON COLUMN conciliation.account_change.accepted_date IS
  'Accepted date of the title that named it, the latest one where several did.';
COMMENT ON COLUMN conciliation.account_change.title_id IS
  'title.id of that title.';
COMMENT ON COLUMN conciliation.account_change.pull_id IS
  'pull.id of the pull that brought it.';
COMMENT ON COLUMN conciliation.account_change.detected_at IS
  'When the title was merged.';
COMMENT ON COLUMN conciliation.account_change.acknowledged_at IS
  'When a person took note of it. Null: nobody has.';
COMMENT ON COLUMN conciliation.account_change.acknowledged_by IS
  'Who took note of it. Null: nobody has. Personal data.';
COMMENT ON COLUMN conciliation.account_change.reason IS
  'What that person found out. Null: nothing was noted.';
