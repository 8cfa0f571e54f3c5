-- The staging schema. The ERP and finance read it with their own tools. Every table and column therefore
-- has a COMMENT, from which docs/data-dictionary.md is generated.
--
-- Amounts are numeric without a scale, so that a column holds the digits that the platform wrote. States
-- are text with a CHECK instead of enum types, because every ERP tool can read text.
--
-- PostgreSQL waits for a share of a table, 20 % by default: at 100 million titles for 20 million dead
-- rows, which is years of restatements, and then vacuums for hours. So tables that grow without end are
-- vacuumed and analyzed after a number of rows, whatever their size: docs/operating.md. A vacuum for few
-- dead rows reads the pages that changed, and no index while less than 2 % of the pages have any. Tables
-- that stay small keep PostgreSQL's defaults, which for them are small numbers as well.
--
-- Until the first release this file is edited in place. Later changes of the schema are migrations of their own.

DO $$
BEGIN
  -- The migrating user needs no right to create schemas if an administrator created this one.
  IF to_regnamespace('conciliation') IS NULL THEN
    CREATE SCHEMA conciliation;
  END IF;
END
$$;

COMMENT ON SCHEMA conciliation IS
  'Accepted anticipations of receivables, pulled from the platform day by day, and the ledger of what was pulled. Only erp-conciliation-sync writes these tables, except provider; the ERP and finance read them. Instants are timestamptz, dates are calendar dates without a time zone.';


-- Tax identifiers ------------------------------------------------------------------------------

-- Every comparison of tax identifiers uses these functions. src/base/values/tax-id.ts has the same rules for the input of
-- the program, and a test holds both together. Patterns take longer than the functions of text that are used here.

-- An expression, which PostgreSQL puts in place of a call.
CREATE FUNCTION conciliation.has_cnpj_digits(b bytea) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- A letter counts as its code minus that of 0.
RETURN (5 * (get_byte(b, 0) - 48) + 4 * (get_byte(b, 1) - 48) + 3 * (get_byte(b, 2) - 48)
      + 2 * (get_byte(b, 3) - 48) + 9 * (get_byte(b, 4) - 48) + 8 * (get_byte(b, 5) - 48)
      + 7 * (get_byte(b, 6) - 48) + 6 * (get_byte(b, 7) - 48) + 5 * (get_byte(b, 8) - 48)
      + 4 * (get_byte(b, 9) - 48) + 3 * (get_byte(b, 10) - 48) + 2 * (get_byte(b, 11) - 48))
      * 10 % 11 % 10 = get_byte(b, 12) - 48
   AND (6 * (get_byte(b, 0) - 48) + 5 * (get_byte(b, 1) - 48) + 4 * (get_byte(b, 2) - 48)
      + 3 * (get_byte(b, 3) - 48) + 2 * (get_byte(b, 4) - 48) + 9 * (get_byte(b, 5) - 48)
      + 8 * (get_byte(b, 6) - 48) + 7 * (get_byte(b, 7) - 48) + 6 * (get_byte(b, 8) - 48)
      + 5 * (get_byte(b, 9) - 48) + 4 * (get_byte(b, 10) - 48) + 3 * (get_byte(b, 11) - 48)
      + 2 * (get_byte(b, 12) - 48)) * 10 % 11 % 10 = get_byte(b, 13) - 48;

COMMENT ON FUNCTION conciliation.has_cnpj_digits(bytea) IS
  'Whether 14 bytes, each a digit or an upper case letter and the last two digits, have the right check digits of a CNPJ.';

CREATE FUNCTION conciliation.has_check_digits(written text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  b bytea := convert_to(written, 'UTF8');
BEGIN
  CASE length(written)
  WHEN 14 THEN
    RETURN ltrim(left(written, 12), '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ') = ''
      AND ltrim(right(written, 2), '0123456789') = '' AND written <> '00000000000000'
      AND conciliation.has_cnpj_digits(b);
  WHEN 11 THEN
    RETURN ltrim(written, '0123456789') = ''
      -- Placeholders with the right check digits.
      AND ltrim(written, left(written, 1)) <> '' AND written <> '12345678909'
      AND (10 * (get_byte(b, 0) - 48) + 9 * (get_byte(b, 1) - 48) + 8 * (get_byte(b, 2) - 48)
         + 7 * (get_byte(b, 3) - 48) + 6 * (get_byte(b, 4) - 48) + 5 * (get_byte(b, 5) - 48)
         + 4 * (get_byte(b, 6) - 48) + 3 * (get_byte(b, 7) - 48) + 2 * (get_byte(b, 8) - 48))
         * 10 % 11 % 10 = get_byte(b, 9) - 48
      AND (11 * (get_byte(b, 0) - 48) + 10 * (get_byte(b, 1) - 48) + 9 * (get_byte(b, 2) - 48)
         + 8 * (get_byte(b, 3) - 48) + 7 * (get_byte(b, 4) - 48) + 6 * (get_byte(b, 5) - 48)
         + 5 * (get_byte(b, 6) - 48) + 4 * (get_byte(b, 7) - 48) + 3 * (get_byte(b, 8) - 48)
         + 2 * (get_byte(b, 9) - 48)) * 10 % 11 % 10 = get_byte(b, 10) - 48;
  ELSE
    RETURN false;
  END CASE;
END
$$;

COMMENT ON FUNCTION conciliation.has_check_digits(text) IS
  'Whether a text is a CPF of 11 digits or a CNPJ of 14 characters, without mask and in upper case, with the right check digits.';

CREATE FUNCTION conciliation.tax_id_readings(written text, is_company boolean DEFAULT false) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  -- Only ASCII letters: upper() maps some other letters to A to Z as well.
  masked text := translate(written, 'abcdefghijklmnopqrstuvwxyz'
    || E'\t\n\u000B\f\r \u0085\u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u200B'
    || E'\u2028\u2029\u202F\u205F\u3000\uFEFF', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ');
  plain text := translate(masked, './-', '');
  is_number boolean := length(plain) <= 14 AND ltrim(plain, '0123456789') = '';
  cpf text := CASE WHEN is_number AND length(plain) <= 11 AND NOT is_company AND strpos(masked, '/') = 0
                   THEN lpad(plain, 11, '0') END;
  cnpj text := CASE WHEN masked ~ '^[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}$' THEN NULL
                    WHEN is_number THEN lpad(plain, 14, '0') ELSE plain END;
BEGIN
  IF ltrim(plain, '0') = '' THEN
    RETURN '{}';
  END IF;
  -- A normal form is its own normal form.
  IF starts_with(written, 'no-cpf-or-cnpj:') THEN
    RETURN ARRAY[written];
  END IF;
  IF length(cnpj) <> 14 OR conciliation.has_check_digits(cnpj) IS NOT TRUE THEN
    cnpj := NULL;
  END IF;
  IF conciliation.has_check_digits(cpf) THEN
    RETURN array_remove(ARRAY[cpf, cnpj], NULL);
  END IF;
  RETURN ARRAY[coalesce(cnpj, 'no-cpf-or-cnpj:' || plain)];
END
$$;

COMMENT ON FUNCTION conciliation.tax_id_readings(text, boolean) IS
  'The tax identifiers that a text may name, without mask, in upper case and with leading zeros: none for blanks and zeros, a CPF and a CNPJ where the digits and the mask permit both, no-cpf-or-cnpj: and the text where they permit neither. Two texts may name the same party where their readings overlap. is_company: the text names a company, so that it is no CPF.';

CREATE FUNCTION conciliation.tax_id(written text, is_company boolean DEFAULT false) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  plain text := translate(written, './- ', '');
  b bytea;
  readings text[];
BEGIN
  -- Most values are right CNPJs of digits, then right CPFs and other CNPJs. The rest takes several times as long.
  IF length(plain) = 14 AND ltrim(plain, '0123456789') = '' AND plain <> '00000000000000' THEN
    b := convert_to(plain, 'UTF8');
    IF conciliation.has_cnpj_digits(b) THEN
      RETURN plain;
    END IF;
  END IF;
  IF conciliation.has_check_digits(plain)
     AND (length(plain) = 14 OR NOT is_company AND strpos(written, '/') = 0) THEN
    RETURN plain;
  END IF;
  readings := conciliation.tax_id_readings(written, is_company);
  IF cardinality(readings) = 2 AND length(regexp_replace(written, '[^0-9]', '', 'g')) < 11 THEN
    RETURN ltrim(readings[1], '0');
  END IF;
  RETURN readings[1];
END
$$;

COMMENT ON FUNCTION conciliation.tax_id(text, boolean) IS
  'The normal form of a tax identifier, equal for all writings of one: a CPF of 11 digits or a CNPJ of 14 characters, without mask and in upper case. Null: none, blanks or zeros. Fewer than 11 digits: a CPF and a CNPJ are possible, because leading zeros are lost. no-cpf-or-cnpj: and the text: neither is possible. is_company: the text names a company, so that it is no CPF.';


-- Append-only tables ---------------------------------------------------------------------------

-- The triggers stand with their tables. They hold for every writer.

CREATE FUNCTION conciliation.refuse_rewriting() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RAISE EXCEPTION '%.% is append-only, so % is refused', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
    USING ERRCODE = 'restrict_violation', SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME;
END
$$;

COMMENT ON FUNCTION conciliation.refuse_rewriting() IS
  'Trigger of append-only tables: refuses to change or delete a row.';


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
  first_pull_id                  bigint      NOT NULL,
  last_change_pull_id            bigint      NOT NULL,
  created_at                     timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  changed_at                     timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  erased_at                      timestamptz,

  CONSTRAINT title_status_check CHECK (status IN ('current', 'withdrawn')),
  CONSTRAINT title_occurrence_check CHECK (occurrence >= 1),
  -- The dates that the program can read, here and in the other tables.
  CONSTRAINT title_dates_check
    CHECK (accepted_date BETWEEN '0001-01-01' AND '9999-12-31'
           AND anticipated_due_date BETWEEN '0001-01-01' AND '9999-12-31')
) WITH (
  -- Two busy days of 50,000 titles. The vacuum after inserts marks new pages as visible to all, so that it
  -- need not read them again and an index alone can answer. ANALYZE reads 30,000 pages, however many there
  -- are; less often, the statistics would not know the newest dates, which are asked for most.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000
);

-- Also serves reads by date, because accepted_date is its first column.
CREATE UNIQUE INDEX title_identity_key ON conciliation.title (accepted_date, identity_hash, occurrence);
CREATE INDEX title_order_uid_idx ON conciliation.title (order_uid);
CREATE INDEX title_provider_idx ON conciliation.title (provider_external_id, accepted_date);

COMMENT ON TABLE conciliation.title IS
  'One row for every title (accepted anticipation) ever received, with the values that the platform stated last. An amount keeps its digits until the value changes: 1.5 that is stated as 1.50 is equal. Rows are never deleted: a title that is missing in a later response for its date is kept as withdrawn. A column that mirrors the platform is null where its field was absent or null in the response; empty text is empty text.';
COMMENT ON COLUMN conciliation.title.id IS
  'Key of the title here; stays the same through every later change and is never used again. The platform gives titles no identifier.';
COMMENT ON COLUMN conciliation.title.order_uid IS
  'order.uid: the order that the receivable belongs to. Several titles may share it.';
COMMENT ON COLUMN conciliation.title.occurrence IS
  'Numbers, from 1, the titles of one accepted date that agree in order_uid, buyer_identification, provider_external_id, anticipated_due_date and original_value. Two equal titles in one response are two rows.';
COMMENT ON COLUMN conciliation.title.status IS
  'current: the latest merged response for the date contained the title. withdrawn: it did not, so the title must not be counted; the row shows the values that were stated last.';
COMMENT ON COLUMN conciliation.title.accepted_date IS
  'acceptedDate: the day on which the anticipation was accepted, and so the day that the title is reconciled in.';
COMMENT ON COLUMN conciliation.title.anticipated_due_date IS
  'anticipatedDueDate. Null: not stated.';
COMMENT ON COLUMN conciliation.title.buyer_identification IS
  'buyerIdentification: the buyer, the debtor of the receivable. Null: not stated. May be personal data.';
COMMENT ON COLUMN conciliation.title.provider_external_id IS
  'providerExternalId, or provider.externalId if that is absent: the provider (supplier) in the ERP''s own numbering; joins provider.external_id. Null: not stated.';
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
  'Fields beyond the documented interface, at their places in the response, as of the last change of a documented field. A field whose value cannot be kept exactly as jsonb has the JSON text of the value, and a name that cannot be kept is its JSON text. provider.externalId is in extra if it differs from providerExternalId. Null: there were none. May be personal data.';
COMMENT ON COLUMN conciliation.title.identity_hash IS
  'Hash of the fields that identify an obligation: order_uid, buyer_identification, provider_external_id, accepted_date, anticipated_due_date and original_value. For matching inside the program.';
COMMENT ON COLUMN conciliation.title.content_hash IS
  'Hash of the columns of documented fields; equal exactly for titles with equal values in all of them. 1.5 and 1.50 are equal. Of extra it covers the fields that name a destination, and the named fields of the date: see day.content_version.';
COMMENT ON COLUMN conciliation.title.raw_hash IS
  'Hash of the title''s text in the response that the row was read from, and of the version of the reader. A response that has the same text again need not be read again.';
COMMENT ON COLUMN conciliation.title.first_pull_id IS
  'pull.id of the first pull that received the title.';
COMMENT ON COLUMN conciliation.title.last_change_pull_id IS
  'pull.id of the pull that made the latest change. A pull that found the title unchanged does not change this column.';
COMMENT ON COLUMN conciliation.title.created_at IS
  'When the title was first merged.';
COMMENT ON COLUMN conciliation.title.changed_at IS
  'When the latest change was merged.';
COMMENT ON COLUMN conciliation.title.erased_at IS
  'Since when personal data of a party of the title is erased: names are pseudonyms, accounts and extra are null, and the hashes are still those of the whole title. A title of another party lacks only the undocumented fields that name an erased party. Null: no content is erased.';

-- A title that disappears from its date becomes withdrawn.
CREATE TRIGGER title_kept
  BEFORE DELETE OR TRUNCATE ON conciliation.title
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();


CREATE TABLE conciliation.title_revision (
  title_id     bigint      NOT NULL,
  revision     integer     NOT NULL,
  kind         text        NOT NULL,
  pull_id      bigint      NOT NULL,
  changed_at   timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  before       jsonb       NOT NULL,
  after        jsonb       NOT NULL,
  content_hash uuid        NOT NULL,

  CONSTRAINT title_revision_pkey PRIMARY KEY (title_id, revision),
  CONSTRAINT title_revision_title_id_fkey FOREIGN KEY (title_id)
    REFERENCES conciliation.title (id) ON DELETE NO ACTION ON UPDATE NO ACTION,
  CONSTRAINT title_revision_kind_check CHECK (kind IN ('changed', 'withdrawn', 'restored')),
  CONSTRAINT title_revision_revision_check CHECK (revision >= 1),
  CONSTRAINT title_revision_object_check CHECK (jsonb_typeof(before) = 'object' AND jsonb_typeof(after) = 'object')
) WITH (
  -- Only grows; rows die where a merge is rolled back.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000
);

CREATE INDEX title_revision_pull_idx ON conciliation.title_revision (pull_id);

COMMENT ON TABLE conciliation.title_revision IS
  'One row for every change of a title after it was inserted. Append-only: UPDATE, DELETE and TRUNCATE are refused; only "conciliation erase-party" replaces personal data. Applying the column before of the newest revisions to the row in title, one after the other, gives any earlier state.';
COMMENT ON COLUMN conciliation.title_revision.title_id IS
  'title.id of the title that changed.';
COMMENT ON COLUMN conciliation.title_revision.revision IS
  'Numbers the changes of one title from 1, without a gap.';
COMMENT ON COLUMN conciliation.title_revision.kind IS
  'changed: some field was restated. withdrawn: a newer response for the date lacked the title. restored: a newer response had the withdrawn title again, perhaps restated.';
COMMENT ON COLUMN conciliation.title_revision.pull_id IS
  'pull.id of the pull that brought the change.';
COMMENT ON COLUMN conciliation.title_revision.changed_at IS
  'When the change was merged.';
COMMENT ON COLUMN conciliation.title_revision.before IS
  'The columns of title that differ, with their values before the change; JSON null for SQL null. Holds personal data where such a column changed.';
COMMENT ON COLUMN conciliation.title_revision.after IS
  'The same columns with their values after the change. Holds personal data where such a column changed.';
COMMENT ON COLUMN conciliation.title_revision.content_hash IS
  'title.content_hash before the change.';

CREATE TRIGGER title_revision_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON conciliation.title_revision
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();


-- Narrow, because its rows are written while the merge holds the lock that all merges share.
CREATE TABLE conciliation.title_change (
  change_seq   bigserial PRIMARY KEY,
  title_id     bigint    NOT NULL,
  kind         text      NOT NULL,
  pull_id      bigint    NOT NULL,
  content_hash uuid,

  CONSTRAINT title_change_kind_check CHECK (kind IN ('inserted', 'changed', 'withdrawn', 'restored', 'payment_decided'))
) WITH (
  -- One row for every change of a title, read from its end by consumers of the feed.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000
);

-- Finds the changes of a date's pulls. The changes of one pull are neighbours in the table.
CREATE INDEX title_change_pull_idx ON conciliation.title_change USING brin (pull_id)
  WITH (pages_per_range = 16, autosummarize = on);

COMMENT ON TABLE conciliation.title_change IS
  'One row for every change of a title, in the order in which the changes became visible. Append-only. A merge numbers its changes in its closing phase, which holds the row closing of program_lock until the commit: when a change_seq is visible, no smaller one can still appear.';
COMMENT ON COLUMN conciliation.title_change.change_seq IS
  'Position of the change. Not dense: numbers may be skipped. Never used twice.';
COMMENT ON COLUMN conciliation.title_change.title_id IS
  'title.id of the title that changed.';
COMMENT ON COLUMN conciliation.title_change.kind IS
  'inserted: received for the first time. changed: some field was restated. withdrawn: a newer response for the date lacked the title. restored: a newer response had the withdrawn title again, perhaps restated. payment_decided: a person confirmed the changed bank account that held the payment, or refused it after all; the title is as before.';
COMMENT ON COLUMN conciliation.title_change.pull_id IS
  'pull.id of the pull that brought the change; with the kind payment_decided, of the pull that brought the account.';
COMMENT ON COLUMN conciliation.title_change.content_hash IS
  'title.content_hash as the change left it. Null: the row of the title had been deleted outside of the program, or the kind is payment_decided, which changes no row.';

CREATE TRIGGER title_change_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON conciliation.title_change
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();


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


CREATE TABLE conciliation.date_digest (
  id          bigserial   PRIMARY KEY,
  date        date        NOT NULL,
  pull_id     bigint,
  appended_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  titles      bigint      NOT NULL,
  digest      bytea       NOT NULL,

  CONSTRAINT date_digest_date_check CHECK (date BETWEEN '0001-01-01' AND '9999-12-31')
);

-- A merge appends one row. A second one for the same pull is refused.
CREATE UNIQUE INDEX date_digest_pull_key ON conciliation.date_digest (pull_id);
-- An erasure does too, and the entry of the erasure in the audit log has its time.
CREATE UNIQUE INDEX date_digest_erasure_key ON conciliation.date_digest (date, appended_at) WHERE pull_id IS NULL;
CREATE INDEX date_digest_date_idx ON conciliation.date_digest (date, id);

COMMENT ON TABLE conciliation.date_digest IS
  'One row for each merge that changed titles of a date, and for each erasure that changed rows of it: the rows of title that it left. The check compares the newest row with title. Append-only.';
COMMENT ON COLUMN conciliation.date_digest.id IS
  'Key of the row. The greatest one of a date counts.';
COMMENT ON COLUMN conciliation.date_digest.date IS
  'The accepted date.';
COMMENT ON COLUMN conciliation.date_digest.pull_id IS
  'pull.id of the pull that was merged. Null: an erasure of personal data.';
COMMENT ON COLUMN conciliation.date_digest.appended_at IS
  'When the transaction began that appended the row.';
COMMENT ON COLUMN conciliation.date_digest.titles IS
  'Rows of title, withdrawn ones included.';
COMMENT ON COLUMN conciliation.date_digest.digest IS
  'SHA-256 over the SHA-256 of each row of title, in the order of id: id, occurrence, status, hashes, pulls, undocumented fields and the number of decimal places of the amounts; of an erased title every column.';

CREATE TRIGGER date_digest_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON conciliation.date_digest
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();


CREATE TABLE conciliation.title_check (
  date       date        PRIMARY KEY,
  checked_at timestamptz NOT NULL,

  CONSTRAINT title_check_date_check CHECK (date BETWEEN '0001-01-01' AND '9999-12-31')
);

COMMENT ON TABLE conciliation.title_check IS
  'One row for every accepted date that was checked: what follows from something else was computed again. The service checks each date once a day, "conciliation verify" on demand.';
COMMENT ON COLUMN conciliation.title_check.date IS
  'The accepted date.';
COMMENT ON COLUMN conciliation.title_check.checked_at IS
  'When the newest check of the date began.';


CREATE TABLE conciliation.title_finding (
  id              bigserial   PRIMARY KEY,
  date            date        NOT NULL,
  problem         text        NOT NULL,
  row_key         text,
  found_at        timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  acknowledged_at timestamptz,
  acknowledged_by text,
  reason          text,
  closed_at       timestamptz,

  CONSTRAINT title_finding_problem_check
    CHECK (problem IN ('content', 'withdrawn', 'titles', 'day', 'totals', 'hold', 'line', 'lines', 'batch', 'seal', 'reject', 'account',
                       'finding', 'pull', 'receipt', 'break', 'session', 'key', 'user', 'consumer', 'start', 'unchecked')),
  CONSTRAINT title_finding_date_check CHECK (date BETWEEN '0001-01-01' AND '9999-12-31')
);

CREATE UNIQUE INDEX title_finding_open_key ON conciliation.title_finding (date, problem, row_key)
  NULLS NOT DISTINCT WHERE closed_at IS NULL;

COMMENT ON TABLE conciliation.title_finding IS
  'One row for every difference that a check of a date found. A difference means that something other than the program has changed a row, or that a decision has no entry in the audit log.';
COMMENT ON COLUMN conciliation.title_finding.id IS
  'Key of the finding.';
COMMENT ON COLUMN conciliation.title_finding.date IS
  'The accepted date whose check found the difference.';
COMMENT ON COLUMN conciliation.title_finding.problem IS
  'content: the columns of a current title do not have its content hash or identity hash. withdrawn: those of a withdrawn title. titles: the titles are not those of the newest row of date_digest, a merge that changed titles has added none since, or that row is not of a merge, of a pull that a check asked for or of an erasure. day: counts, sums, latest due date or digest of the row of day are not those of the titles and rejects, their numbers are not those of the newest merged answer, the row does not name that answer, the fence of that answer was never given, the row is reconciled while a response is held or rejects or findings are open, the seal is not that of sign_off, or titles have no row of day. totals: the totals of the payment schedule are not those of the titles. hold: a title names an account with an open or refused change, and its payment is not held. line: a booking line does not have its content hash or identity hash, its consumer is not that of the line before, a reversal does not show that line, its payable is none that the title had at the release, its value to post has another difference than a match of the title, its accounting date is neither that of the release nor one that the ERP named, or a receipt was recorded for it without an entry in the audit log. lines: the newest booking lines are not the content of the seal that released them. batch: a batch is not the sum of its lines, or not of a seal of the date, or released a seal a second time and not only lines that failed. seal, reject, account, finding, pull, receipt, break: a sign-off or reopening, an acceptance of a reject, a decision about an account, a resolution of a finding, a decision about a held response, an answer to a receipt or a resolution of a break has no entry in the audit log; a finding is also not as the newest check left it, and a held response was not replaced by a newer one. session, key, user, consumer, start: the token of a session, a key, the role of a user, the access of a consumer or booking_start is not that of the audit log, which keeps every date. unchecked: a value in the tables makes a part of the check fail.';
COMMENT ON COLUMN conciliation.title_finding.row_key IS
  'The row that differs: title.id for content, withdrawn and hold, the id of the line, batch, seal (sign_off), reject (rejected_title), account (account_change), finding (check_finding), pull, receipt (booking_receipt), break (break_decision) or key (api_key), the name of the user or consumer, booking_start.bookings_from. Null: the date as a whole.';
COMMENT ON COLUMN conciliation.title_finding.found_at IS
  'When the difference was found first.';
COMMENT ON COLUMN conciliation.title_finding.acknowledged_at IS
  'When a person acknowledged the finding, which ends its alert. A decision without an entry, a line and a batch no longer keep the date from being signed off then. Null: open.';
COMMENT ON COLUMN conciliation.title_finding.acknowledged_by IS
  'The person who acknowledged the finding.';
COMMENT ON COLUMN conciliation.title_finding.reason IS
  'The reason that the person gave.';
COMMENT ON COLUMN conciliation.title_finding.closed_at IS
  'When a check no longer found the difference; null: the difference lasts.';


CREATE TABLE conciliation.program_lock (
  name text PRIMARY KEY,

  CONSTRAINT program_lock_name_check
    CHECK (name IN ('closing', 'planner', 'alerts', 'push', 'audit', 'matching', 'checks'))
);

INSERT INTO conciliation.program_lock (name)
VALUES ('closing'), ('planner'), ('alerts'), ('push'), ('audit'), ('matching'), ('checks');

COMMENT ON TABLE conciliation.program_lock IS
  'For the program only: rows that transactions lock. Rows and not advisory locks, because every role may take an advisory lock, and a role that may only read cannot lock a row.';
COMMENT ON COLUMN conciliation.program_lock.name IS
  'closing: the closing phase of a merge. planner: the planning of pulls and sweeps. alerts: the derivation of alerts. push: the requests with providers. audit: the end of the audit chain. matching: the changes of matches. checks: the checks of the titles of a date.';


-- Days and pulls -------------------------------------------------------------------------------

-- The version is numbered by the program, under a lock: a day that has a version has every earlier row.
CREATE TABLE conciliation.promoted_field (
  version     integer     PRIMARY KEY,
  name        text        NOT NULL,
  path        text[]      NOT NULL,
  role        text,
  recorded_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  recorded_by text        NOT NULL,
  reason      text        NOT NULL,

  CONSTRAINT promoted_field_name_check CHECK (name ~ '^[a-z][a-z0-9_]{0,39}$'),
  CONSTRAINT promoted_field_path_check CHECK (cardinality(path) > 0),
  CONSTRAINT promoted_field_role_check
    CHECK (role IN ('identifier', 'document', 'provider_account', 'agent_account'))
);

COMMENT ON TABLE conciliation.promoted_field IS
  'Undocumented fields of a title to which an administrator gave a name. Append-only: the newest row of a name counts, of a day the newest row of a version up to day.content_version.';
COMMENT ON COLUMN conciliation.promoted_field.version IS
  'Numbers the rows from 1.';
COMMENT ON COLUMN conciliation.promoted_field.name IS
  'The name of the field on pages and in files.';
COMMENT ON COLUMN conciliation.promoted_field.path IS
  'The place of the value in title.extra, such as {payment,reference}.';
COMMENT ON COLUMN conciliation.promoted_field.role IS
  'identifier: a value without further use. document: also compared with the document of a payable. provider_account, agent_account: also a part of the bank account of the provider or of the financial agent. Null: the name is no field any more.';
COMMENT ON COLUMN conciliation.promoted_field.recorded_at IS
  'When the administrator recorded the row.';
COMMENT ON COLUMN conciliation.promoted_field.recorded_by IS
  'The administrator who recorded the row.';
COMMENT ON COLUMN conciliation.promoted_field.reason IS
  'The reason of the administrator.';

CREATE TRIGGER promoted_field_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON conciliation.promoted_field
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();

CREATE FUNCTION conciliation.content_version() RETURNS integer LANGUAGE sql STABLE PARALLEL SAFE
RETURN (SELECT coalesce(max(version), 0) FROM conciliation.promoted_field);
COMMENT ON FUNCTION conciliation.content_version() IS
  'The newest promoted_field.version; 0: no field was ever promoted.';

CREATE FUNCTION conciliation.promoted_fields(of_version integer)
RETURNS TABLE (name text, path text[], role text) LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT newest.name, newest.path, newest.role
  FROM (
    SELECT DISTINCT ON (field.name) field.name, field.path, field.role
    FROM conciliation.promoted_field AS field WHERE field.version <= of_version
    ORDER BY field.name, field.version DESC
  ) AS newest
  WHERE newest.role IS NOT NULL;
END;
COMMENT ON FUNCTION conciliation.promoted_fields(integer) IS
  'The fields of a version of promoted_field, which are content of the titles of a day with this content_version.';


CREATE TABLE conciliation.day (
  date                           date     PRIMARY KEY,
  state                          text     NOT NULL DEFAULT 'pending',
  title_count                    integer  NOT NULL DEFAULT 0,
  withdrawn_count                integer  NOT NULL DEFAULT 0,
  rejected_count                 integer  NOT NULL DEFAULT 0,
  original_value_sum             numeric  NOT NULL DEFAULT 0,
  platform_discounted_value_sum  numeric  NOT NULL DEFAULT 0,
  financial_discounted_value_sum numeric  NOT NULL DEFAULT 0,
  buyer_discounted_value_sum     numeric  NOT NULL DEFAULT 0,
  billing_fee_sum                numeric  NOT NULL DEFAULT 0,
  money_transfer_fee_sum         numeric  NOT NULL DEFAULT 0,
  latest_due_date                date,
  content_digest                 text,
  fold_count                     integer,
  fold_sum                       text,
  last_pull_id                   bigint,
  held_pull_id                   bigint,
  verified_at                    timestamptz,
  changed_at                     timestamptz,
  signed_off_at                  timestamptz,
  signed_off_by                  text,
  signed_off_digest              text,
  restated_after_sign_off        boolean  NOT NULL GENERATED ALWAYS AS
    (signed_off_digest IS NOT NULL AND signed_off_digest IS DISTINCT FROM content_digest) STORED,
  content_version                integer  NOT NULL DEFAULT conciliation.content_version(),

  CONSTRAINT day_state_check
    CHECK (state IN ('pending', 'reconciled', 'attention', 'held', 'failed')),
  CONSTRAINT day_counts_check
    CHECK (title_count >= 0 AND withdrawn_count >= 0 AND rejected_count >= 0),
  CONSTRAINT day_fold_check
    CHECK (fold_count >= 0 AND fold_sum ~ '^[0-9a-f]{32}$' AND (fold_count IS NULL) = (fold_sum IS NULL)),
  CONSTRAINT day_dates_check
    CHECK (date BETWEEN '0001-01-01' AND '9999-12-31' AND latest_due_date BETWEEN '0001-01-01' AND '9999-12-31')
) WITH (
  -- 365 rows a year, each updated several times a merge: small, and read by every page.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 500
);

CREATE INDEX day_state_idx ON conciliation.day (state);
-- Finds the oldest date that the next sweep has to cover.
CREATE INDEX day_latest_due_date_idx ON conciliation.day (latest_due_date);

COMMENT ON TABLE conciliation.day IS
  'One row for every accepted date that is to be reconciled. Counts and sums are written in the same transaction as the titles, so they always agree with title. The amount sums are over current titles only, and a title that does not state an amount adds nothing to its sum.';
COMMENT ON COLUMN conciliation.day.date IS
  'The accepted date, on the calendar of the configured time zone.';
COMMENT ON COLUMN conciliation.day.state IS
  'pending: not reconciled yet, or not over yet. reconciled: over, and equal to the platform''s latest merged response; 0 titles is a valid outcome. attention: merged, but titles that broke the contract wait in rejected_title. held: the newest response waits for a person, see pull.hold_reason; the row still shows the last merged state. failed: every attempt was spent and the date was never reconciled.';
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
COMMENT ON COLUMN conciliation.day.latest_due_date IS
  'Latest anticipated_due_date of the current titles. Null: there is none.';
COMMENT ON COLUMN conciliation.day.content_digest IS
  'Digest of the contents of the current titles, in any order: equal digests mean equal titles. Null: nothing was merged yet.';
COMMENT ON COLUMN conciliation.day.fold_count IS
  'Titles in the newest complete answer for the date that kept the contract; also of an answer that is held. Null: the date was never answered.';
COMMENT ON COLUMN conciliation.day.fold_sum IS
  'Sum modulo 2^128 of the content hashes of those titles, as 32 hexadecimal digits. A sweep compares count and sum with those of its own answer. Null: the date was never answered.';
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
  'True while content_digest is not signed_off_digest: the platform restated the date after its sign-off.';
COMMENT ON COLUMN conciliation.day.content_version IS
  'The promoted fields that the content hashes of the date cover: promoted_field.version of the newest one when the row was created. It never changes.';


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
  date             date        NOT NULL,
  slot_at          timestamptz,
  round            integer     NOT NULL DEFAULT 0,
  backfill_id      bigint,
  requested_by     text        NOT NULL,
  state            text        NOT NULL DEFAULT 'queued',
  attempts         integer     NOT NULL DEFAULT 0,
  fence            bigint,
  next_attempt_at  timestamptz,
  created_at       timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  fetch_started_at timestamptz,
  finished_at      timestamptz,
  date_was_closed  boolean,
  http_status      integer,
  response_bytes   bigint,
  titles           integer,
  inserted         integer,
  changed          integer,
  withdrawn        integer,
  restored         integer,
  unchanged        integer,
  withheld         integer,
  rejected         integer,
  fold_count       integer,
  fold_sum         text,
  hold_reason      text,
  hold_detail      jsonb,
  run_ended_at     timestamptz,
  decided_at       timestamptz,
  decided_by       text,
  reason           text,
  error_code       text,
  error_message    text,

  CONSTRAINT pull_origin_check
    CHECK (origin IN ('daily', 'lookback', 'backfill', 'sweep', 'manual', 'repair')),
  CONSTRAINT pull_state_check
    CHECK (state IN ('queued', 'running', 'merged', 'unchanged', 'held', 'superseded', 'failed', 'cancelled')),
  CONSTRAINT pull_round_check CHECK (round >= 0),
  -- A count that is null passes: no response has been merged yet.
  CONSTRAINT pull_counts_check
    CHECK (attempts >= 0 AND response_bytes >= 0 AND titles >= 0
           AND inserted >= 0 AND changed >= 0
           AND withdrawn >= 0 AND restored >= 0 AND unchanged >= 0 AND rejected >= 0),
  CONSTRAINT pull_withheld_check CHECK (withheld >= 0),
  CONSTRAINT pull_fold_check
    CHECK (fold_count >= 0 AND fold_sum ~ '^[0-9a-f]{32}$' AND (fold_count IS NULL) = (fold_sum IS NULL)),
  CONSTRAINT pull_date_check CHECK (date BETWEEN '0001-01-01' AND '9999-12-31')
) WITH (
  -- A row is updated three to five times, from queued to its outcome, and its index on the state each time.
  -- The planner and every worker look for the few open ones, so dead entries of that index are in their way.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000
);

CREATE UNIQUE INDEX pull_fence_key ON conciliation.pull (fence);
CREATE UNIQUE INDEX pull_slot_key ON conciliation.pull (origin, date, slot_at, round);
CREATE INDEX pull_date_idx ON conciliation.pull (date);
CREATE INDEX pull_state_idx ON conciliation.pull (state, next_attempt_at);
CREATE INDEX pull_backfill_idx ON conciliation.pull (backfill_id);

COMMENT ON TABLE conciliation.pull IS
  'One row for every pull: the request for the titles of one accepted date, with all its attempts. This table decides which work is due; the queue only wakes the workers. The rows of a date, newest first, are the history of the day.';
COMMENT ON COLUMN conciliation.pull.id IS
  'Key of the pull.';
COMMENT ON COLUMN conciliation.pull.origin IS
  'Why it was made. daily: the day before, or a date that was missed. lookback: one of the days before that, pulled again. backfill: part of a backfill. sweep: a sweep found that the date differs. manual: a person asked for the date. repair: rows of the date were changed outside of a merge.';
COMMENT ON COLUMN conciliation.pull.date IS
  'The accepted date that is asked for (conciliationDate).';
COMMENT ON COLUMN conciliation.pull.slot_at IS
  'The instant that made the pull due: of the schedule, or for a pull that a sweep asked for when its answer had ended. Null: a person, a backfill or the daily check asked for it.';
COMMENT ON COLUMN conciliation.pull.round IS
  'Pulls of the same date, origin and slot_at that had failed before this one was planned.';
COMMENT ON COLUMN conciliation.pull.backfill_id IS
  'backfill.id it belongs to. Null: none.';
COMMENT ON COLUMN conciliation.pull.requested_by IS
  'The requester: a part of the program or a person. May be personal data.';
COMMENT ON COLUMN conciliation.pull.state IS
  'queued: due at next_attempt_at. running: an attempt is under way. merged: titles changed, by the pull itself, or by a release of the pull (decided_at). unchanged: the response equals the stored titles. held: waits for a release by a person. superseded: a newer fetch was merged or held before; nothing was changed. failed: no attempt is left, or a repetition is pointless. cancelled: a person stopped it.';
COMMENT ON COLUMN conciliation.pull.attempts IS
  'Attempts, with the one under way. One that ended because the program stopped or the token was refused is not counted.';
COMMENT ON COLUMN conciliation.pull.fence IS
  'Number of the latest attempt; writes of an older attempt are refused. Null: never attempted.';
COMMENT ON COLUMN conciliation.pull.next_attempt_at IS
  'While queued: not before this instant. Null: at once.';
COMMENT ON COLUMN conciliation.pull.created_at IS
  'When the pull was asked for.';
COMMENT ON COLUMN conciliation.pull.fetch_started_at IS
  'When the latest attempt began. Null: never attempted.';
COMMENT ON COLUMN conciliation.pull.finished_at IS
  'When it reached a final state. Null: not yet; a held pull is not finished.';
COMMENT ON COLUMN conciliation.pull.date_was_closed IS
  'Whether the date was over in the configured time zone when the request of the latest attempt was sent. Only such a pull makes a date reconciled. Null: no response was merged or held yet.';
COMMENT ON COLUMN conciliation.pull.http_status IS
  'Status of the latest answer. Null: there was none.';
COMMENT ON COLUMN conciliation.pull.response_bytes IS
  'Bytes of the latest answer''s body that arrived. Null: there was none.';
COMMENT ON COLUMN conciliation.pull.titles IS
  'Titles in the response, rejected ones included. Null: no whole response yet.';
COMMENT ON COLUMN conciliation.pull.inserted IS
  'Titles received for the first time. For a held pull: the titles that a release would insert. Null: no whole response yet.';
COMMENT ON COLUMN conciliation.pull.changed IS
  'Titles restated. For a held pull: the titles that a release would change. Null: no whole response yet.';
COMMENT ON COLUMN conciliation.pull.withdrawn IS
  'Titles withdrawn. For a held pull: the titles that a release would withdraw. Null: no whole response yet.';
COMMENT ON COLUMN conciliation.pull.restored IS
  'Withdrawn titles in the response. For a held pull: the titles that a release would restore. Null: no whole response yet.';
COMMENT ON COLUMN conciliation.pull.unchanged IS
  'Titles found as they were. Null: no whole response yet.';
COMMENT ON COLUMN conciliation.pull.withheld IS
  'Titles that the response does not state and that stay current all the same, because one of its rejected titles may be them. Null: no whole response yet.';
COMMENT ON COLUMN conciliation.pull.rejected IS
  'Titles of the response that broke the contract. Null: no whole response yet.';
COMMENT ON COLUMN conciliation.pull.fold_count IS
  'As day.fold_count, of the answer of this pull. Null: no whole response yet.';
COMMENT ON COLUMN conciliation.pull.fold_sum IS
  'As day.fold_sum, of the answer of this pull. Null: no whole response yet.';
COMMENT ON COLUMN conciliation.pull.hold_reason IS
  'Why the pull was held. emptied: the response has no title for a date that has some. unreadable: the response has titles, all of them rejected. withdrawal_limit: it would withdraw more than the configured share. run_withdrawals: the responses of one run together would, or the run has not ended. buyer_withdrawals: more than that share of the titles of one buyer. buyer_missing: it has no title of a buyer that has titles on each of these weekdays. duplicates: many titles equal another one of the response. growth: many times the usual number of titles of the weekday. changed_share: it would change more than half of the titles. value_jump: the mean value differs from the usual one of the weekday by a great factor. Null: it was not held.';
COMMENT ON COLUMN conciliation.pull.hold_detail IS
  'What the limit was compared with: found (titles, or the factor), of (the titles that found is a share of, or the usual number), limit, and buyer where the limit holds for the titles of one buyer. Null: the pull was not held, or not for its plausibility.';
COMMENT ON COLUMN conciliation.pull.run_ended_at IS
  'When the program decided again about a held pull of the schedule or of a backfill, after the other pulls with the same slot_at or backfill_id had ended: the pull waits for a person. Null: the run has not ended, or the pull was not held then.';
COMMENT ON COLUMN conciliation.pull.decided_at IS
  'When a person released the pull. Null: no person decided.';
COMMENT ON COLUMN conciliation.pull.decided_by IS
  'The person who released it. Null: no person decided. Personal data.';
COMMENT ON COLUMN conciliation.pull.reason IS
  'The reason in the words of that person. Null: no person decided.';
COMMENT ON COLUMN conciliation.pull.error_code IS
  'Stable code of the latest failure, for example PLATFORM_UNAVAILABLE; ATTEMPT_ABANDONED: that attempt recorded no outcome. Null: no attempt has failed, or a later one did not.';
COMMENT ON COLUMN conciliation.pull.error_message IS
  'The failure in words, free of personal data. Null: it did not fail.';

-- Without a cache: two sessions with cached numbers would draw them out of order.
CREATE SEQUENCE conciliation.pull_fence_seq CACHE 1 OWNED BY conciliation.pull.fence;

COMMENT ON SEQUENCE conciliation.pull_fence_seq IS
  'Numbers the attempts at pulls. Drawn before the request is sent, so a greater fence is a newer fetch.';

-- The check of titles finds the recorded changes of a date by the pulls of the date.
CREATE FUNCTION conciliation.keep_pull() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'id, date, origin and fence of a pull are kept, so % of %.% is refused',
    TG_OP, TG_TABLE_SCHEMA, TG_TABLE_NAME
    USING ERRCODE = 'restrict_violation', SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME;
END
$$;

COMMENT ON FUNCTION conciliation.keep_pull() IS
  'Trigger of pull: refuses another key, date or origin, an older fence, and another fence or state of a pull that has ended, and that a held pull runs, fails or is cancelled.';

CREATE TRIGGER pull_kept
  BEFORE UPDATE OF id, date, origin, fence, state ON conciliation.pull
  FOR EACH ROW
  WHEN (
    (OLD.id, OLD.date, OLD.origin) IS DISTINCT FROM (NEW.id, NEW.date, NEW.origin)
    OR NEW.fence < OLD.fence OR (OLD.fence IS NOT NULL AND NEW.fence IS NULL)
    OR (OLD.state IN ('merged', 'unchanged', 'superseded', 'failed', 'cancelled')
        AND (OLD.state, OLD.fence) IS DISTINCT FROM (NEW.state, NEW.fence))
    OR (OLD.state = 'held' AND NEW.state IN ('queued', 'running', 'failed', 'cancelled'))
  )
  EXECUTE FUNCTION conciliation.keep_pull();


CREATE TABLE conciliation.sweep (
  id              bigserial   PRIMARY KEY,
  from_date       date        NOT NULL,
  slot_at         timestamptz NOT NULL,
  state           text        NOT NULL,
  started_at      timestamptz NOT NULL,
  finished_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  http_status     integer,
  response_bytes  bigint      NOT NULL,
  titles          integer,
  dates_compared  integer,
  dates_differing integer,
  undated_titles  integer,
  future_titles   integer,
  early_titles    integer,
  error_code      text,
  error_message   text,

  CONSTRAINT sweep_state_check CHECK (state IN ('complete', 'failed')),
  -- A count that is null passes: no answer has been read to its end.
  CONSTRAINT sweep_counts_check
    CHECK (response_bytes >= 0 AND titles >= 0
           AND dates_differing BETWEEN 0 AND dates_compared
           AND undated_titles >= 0 AND future_titles >= 0 AND early_titles >= 0),
  CONSTRAINT sweep_from_date_check CHECK (from_date BETWEEN '0001-01-01' AND '9999-12-31')
);

COMMENT ON TABLE conciliation.sweep IS
  'One row for every sweep that has ended: one request to the platform for everything accepted since a date. A sweep compares each date with the ledger and merges nothing; a date that differs gets a pull.';
COMMENT ON COLUMN conciliation.sweep.id IS
  'Key of the sweep.';
COMMENT ON COLUMN conciliation.sweep.from_date IS
  'First accepted date that was asked for.';
COMMENT ON COLUMN conciliation.sweep.slot_at IS
  'The scheduled instant that made the sweep due.';
COMMENT ON COLUMN conciliation.sweep.state IS
  'complete: every date was compared. failed: no date was compared.';
COMMENT ON COLUMN conciliation.sweep.started_at IS
  'Before the request was sent.';
COMMENT ON COLUMN conciliation.sweep.finished_at IS
  'When the answer had been read to its end, or the sweep had failed.';
COMMENT ON COLUMN conciliation.sweep.http_status IS
  'Status of the answer. Null: there was none.';
COMMENT ON COLUMN conciliation.sweep.response_bytes IS
  'Bytes of the answer''s body that arrived.';
COMMENT ON COLUMN conciliation.sweep.titles IS
  'Titles in the answer, including rejected ones. Null: not complete.';
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
COMMENT ON COLUMN conciliation.sweep.error_code IS
  'Stable code of the failure, for example PLATFORM_UNAVAILABLE. Null: it did not fail.';
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
    CHECK (fold_count >= 0 AND fold_sum ~ '^[0-9a-f]{32}$'),
  CONSTRAINT sweep_difference_date_check CHECK (date BETWEEN '0001-01-01' AND '9999-12-31')
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
  'pull.id of the pull that decides the date; its request was sent after the answer of the sweep had ended. Null: none was planned yet, or a newer sweep has taken its place.';


CREATE TABLE conciliation.checkpoint (
  id                   integer     PRIMARY KEY DEFAULT 1,
  start_date           date        NOT NULL,
  last_reconciled_date date,
  pull_id              bigint,
  updated_at           timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  paused_at            timestamptz,
  paused_by            text,
  pause_reason         text,

  CONSTRAINT checkpoint_single_row_check CHECK (id = 1),
  CONSTRAINT checkpoint_pause_check CHECK (num_nulls(paused_at, paused_by, pause_reason) IN (0, 3)),
  CONSTRAINT checkpoint_dates_check
    CHECK (start_date BETWEEN '0001-01-01' AND '9999-12-31'
           AND last_reconciled_date BETWEEN '0001-01-01' AND '9999-12-31')
);

COMMENT ON TABLE conciliation.checkpoint IS
  'A single row: the date up to which every date is reconciled. A merge only advances it; a date restated later does not move it back, see day. If start_date is corrected, the checkpoint is computed again and may move back.';
COMMENT ON COLUMN conciliation.checkpoint.id IS
  'Always 1.';
COMMENT ON COLUMN conciliation.checkpoint.start_date IS
  'First accepted date that is reconciled here; decided at the first start and remembered. "conciliation start-date set" corrects it, with an entry in audit_entry.';
COMMENT ON COLUMN conciliation.checkpoint.last_reconciled_date IS
  'Every date from start_date up to and including this one has been reconciled. Null: not even start_date has.';
COMMENT ON COLUMN conciliation.checkpoint.pull_id IS
  'pull.id of the last pull whose merge advanced it. Null: no merge has moved it since start_date was decided or corrected.';
COMMENT ON COLUMN conciliation.checkpoint.updated_at IS
  'When it moved last.';
COMMENT ON COLUMN conciliation.checkpoint.paused_at IS
  'When a person paused the schedule. Until it is resumed, no pull, sweep or request with providers starts by itself. Null: it is not paused.';
COMMENT ON COLUMN conciliation.checkpoint.paused_by IS
  'The person.';
COMMENT ON COLUMN conciliation.checkpoint.pause_reason IS
  'The reason of the person.';


-- Checks of the data of a day ------------------------------------------------------------------

-- docs/console.md lists the checks.

CREATE TABLE conciliation.day_check (
  date           date        PRIMARY KEY,
  content_digest text        NOT NULL,
  rules          text        NOT NULL,
  checked_at     timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,

  CONSTRAINT day_check_date_check CHECK (date BETWEEN '0001-01-01' AND '9999-12-31')
);

COMMENT ON TABLE conciliation.day_check IS
  'The newest run of the checks on each date. A date is checked after each merge that changes its content.';
COMMENT ON COLUMN conciliation.day_check.date IS
  'The accepted date.';
COMMENT ON COLUMN conciliation.day_check.content_digest IS
  'day.content_digest of the content that was checked.';
COMMENT ON COLUMN conciliation.day_check.rules IS
  'The checks with version and severity, and their parameters.';
COMMENT ON COLUMN conciliation.day_check.checked_at IS
  'When the checks ran, after the commit of the content.';


CREATE TABLE conciliation.check_finding (
  id            bigserial   PRIMARY KEY,
  code          text        NOT NULL,
  version       smallint    NOT NULL,
  severity      text        NOT NULL,
  accepted_date date        NOT NULL,
  title_id      bigint      NOT NULL,
  content_hash  uuid        NOT NULL,
  detail        jsonb       NOT NULL,
  found_at      timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  closed_at     timestamptz,
  resolved_at   timestamptz,
  resolved_by   text,
  reason        text,

  CONSTRAINT check_finding_key UNIQUE (code, title_id, content_hash),
  CONSTRAINT check_finding_severity_check CHECK (severity IN ('info', 'review')),
  CONSTRAINT check_finding_detail_check CHECK (jsonb_typeof(detail) = 'object'),
  CONSTRAINT check_finding_resolved_check
    CHECK (num_nulls(resolved_at, resolved_by, reason) IN (0, 3)),
  CONSTRAINT check_finding_date_check CHECK (accepted_date BETWEEN '0001-01-01' AND '9999-12-31')
);

CREATE INDEX check_finding_date_idx ON conciliation.check_finding (accepted_date, code);
CREATE INDEX check_finding_title_idx ON conciliation.check_finding (title_id);
CREATE INDEX check_finding_open_idx ON conciliation.check_finding (severity, accepted_date)
  WHERE closed_at IS NULL AND resolved_at IS NULL;

COMMENT ON TABLE conciliation.check_finding IS
  'What a check found in a title. A finding is open until the title no longer has the fault or a person resolves the finding. A date with an open finding of the severity review is in the state attention. docs/console.md lists the checks.';
COMMENT ON COLUMN conciliation.check_finding.id IS
  'Key of the finding.';
COMMENT ON COLUMN conciliation.check_finding.code IS
  'The check.';
COMMENT ON COLUMN conciliation.check_finding.version IS
  'The version of the rule of the check.';
COMMENT ON COLUMN conciliation.check_finding.severity IS
  'info: for information. review: a person has to resolve the finding before the date is reconciled.';
COMMENT ON COLUMN conciliation.check_finding.accepted_date IS
  'title.accepted_date.';
COMMENT ON COLUMN conciliation.check_finding.title_id IS
  'title.id.';
COMMENT ON COLUMN conciliation.check_finding.content_hash IS
  'title.content_hash of the content with the fault. A resolution holds for this content only.';
COMMENT ON COLUMN conciliation.check_finding.detail IS
  'What was compared: field, value, limit and other title, as far as the check has them. Without names, tax identifiers and bank accounts.';
COMMENT ON COLUMN conciliation.check_finding.found_at IS
  'When a check first found the fault in this content.';
COMMENT ON COLUMN conciliation.check_finding.closed_at IS
  'When a check no longer found the fault. Null: the title has the fault.';
COMMENT ON COLUMN conciliation.check_finding.resolved_at IS
  'When a person resolved the finding. Null: no person has.';
COMMENT ON COLUMN conciliation.check_finding.resolved_by IS
  'The person.';
COMMENT ON COLUMN conciliation.check_finding.reason IS
  'The reason of the resolution.';


CREATE TABLE conciliation.day_buyer (
  date                 date    NOT NULL,
  buyer_identification text    NOT NULL,
  titles               integer NOT NULL,
  original_value_sum   numeric NOT NULL,

  PRIMARY KEY (date, buyer_identification),
  CONSTRAINT day_buyer_titles_check CHECK (titles >= 0),
  CONSTRAINT day_buyer_date_check CHECK (date BETWEEN '0001-01-01' AND '9999-12-31')
);

COMMENT ON TABLE conciliation.day_buyer IS
  'The current titles of each date by buyer, as the newest run of the checks counted them. They tell the usual number of titles of a buyer.';
COMMENT ON COLUMN conciliation.day_buyer.date IS
  'The accepted date.';
COMMENT ON COLUMN conciliation.day_buyer.buyer_identification IS
  'The normal form of title.buyer_identification: conciliation.tax_id. Empty: titles without one.';
COMMENT ON COLUMN conciliation.day_buyer.titles IS
  'Number of current titles. 0: the buyer has no title any more.';
COMMENT ON COLUMN conciliation.day_buyer.original_value_sum IS
  'Sum of their original values.';


-- Conditions that need a person, and decisions of people ---------------------------------------

CREATE TABLE conciliation.rejected_title (
  id            bigserial   PRIMARY KEY,
  date          date        NOT NULL,
  order_uid     text,
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
  CONSTRAINT rejected_title_counts_check CHECK (ordinal >= 0 AND raw_bytes >= 0),
  CONSTRAINT rejected_title_date_check CHECK (date BETWEEN '0001-01-01' AND '9999-12-31')
) WITH (
  -- Every pull of a date updates the date's open rejects. Their texts are TOAST: they are written once,
  -- and emptied by the command retention.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000,
  toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 1000
);

CREATE INDEX rejected_title_date_idx ON conciliation.rejected_title (date, status);
CREATE INDEX rejected_title_pull_idx ON conciliation.rejected_title (last_pull_id);

COMMENT ON TABLE conciliation.rejected_title IS
  'Quarantine: titles of a response that broke the documented contract, as they came. They are in no other table and in no sum.';
COMMENT ON COLUMN conciliation.rejected_title.id IS
  'Key of the reject.';
COMMENT ON COLUMN conciliation.rejected_title.date IS
  'The accepted date whose response contained it.';
COMMENT ON COLUMN conciliation.rejected_title.order_uid IS
  'order.uid of the rejected title. Null: it cannot be read. A current title that the response lacks stays current while a reject of unknown or equal order_uid may be that title. Order uids with the same ASCII letters and digits are equal, regardless of case. An order uid without them, or with a character beyond printable ASCII, is unknown.';
COMMENT ON COLUMN conciliation.rejected_title.first_pull_id IS
  'pull.id of the first pull that received it.';
COMMENT ON COLUMN conciliation.rejected_title.last_pull_id IS
  'pull.id of the newest pull whose response still contained it.';
COMMENT ON COLUMN conciliation.rejected_title.ordinal IS
  'Its position in that response''s titles, from 0.';
COMMENT ON COLUMN conciliation.rejected_title.reasons IS
  'Every reason why it was rejected; fields are named, their values are not.';
COMMENT ON COLUMN conciliation.rejected_title.raw IS
  'Its text as it came, cut where very long, unstorable characters replaced. Empty: "conciliation retention" removed it. Personal data.';
COMMENT ON COLUMN conciliation.rejected_title.raw_bytes IS
  'Its whole length in the response, in bytes.';
COMMENT ON COLUMN conciliation.rejected_title.raw_hash IS
  'Hash of its bytes, by which the same reject is recognised in a later response.';
COMMENT ON COLUMN conciliation.rejected_title.status IS
  'open: a person should look at it; its day is not reconciled. accepted: a person decided that the day may do without it; open again if a later response has other titles and keeps a current title because of a reject. resolved: a later response no longer contained it.';
COMMENT ON COLUMN conciliation.rejected_title.created_at IS
  'When it was first received.';
COMMENT ON COLUMN conciliation.rejected_title.decided_at IS
  'When it was accepted. Null: not accepted by a person.';
COMMENT ON COLUMN conciliation.rejected_title.decided_by IS
  'Who accepted it. Null: not accepted by a person. Personal data.';
COMMENT ON COLUMN conciliation.rejected_title.reason IS
  'Why, in that person''s words. Null: not accepted by a person.';


CREATE TABLE conciliation.drift (
  place           text        NOT NULL,
  path            text        NOT NULL,
  kind            text        NOT NULL,
  value           text        NOT NULL,
  names           bigint      NOT NULL DEFAULT 1,
  first_pull_id   bigint      NOT NULL,
  first_seen_at   timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  acknowledged_at timestamptz,
  acknowledged_by text,
  reason          text,

  CONSTRAINT drift_pkey PRIMARY KEY (path, kind, value),
  CONSTRAINT drift_acknowledged_check
    CHECK (num_nonnulls(acknowledged_at, acknowledged_by, reason) IN (0, 3)),
  CONSTRAINT drift_reason_check CHECK (btrim(reason) <> '')
);

COMMENT ON TABLE conciliation.drift IS
  'What responses have beyond the documented interface: unknown fields, and unknown values of documented enumerations. One row for each, from its first sight on; where one object or enumeration has more than 20, one row for all others, with the value *. Such a field or value is kept with its title, rejects no title and fails no pull. A row that no person has acknowledged is an alert (contract_drift).';
COMMENT ON COLUMN conciliation.drift.place IS
  'The object of the interface that has the field, or the enumeration that has the value. Empty: beside titles.';
COMMENT ON COLUMN conciliation.drift.path IS
  'Place in the response, by field names. Of the row for all others of a place: the place and *.';
COMMENT ON COLUMN conciliation.drift.kind IS
  'unknown_field: the interface does not have the field. unknown_value: the interface has the field and does not have the value.';
COMMENT ON COLUMN conciliation.drift.value IS
  'Of an unknown value: the value, at most 64 characters. Of an unknown field: the JSON type of its value, string if the value is kept as JSON text; unknown for a field beside titles. Of the row for all others of a place: *. May be personal data.';
COMMENT ON COLUMN conciliation.drift.names IS
  'How many fields or values the row stands for: 1, or those of each response added up, at most 1000 of a response.';
COMMENT ON COLUMN conciliation.drift.first_pull_id IS
  'pull.id of the first pull whose response had it.';
COMMENT ON COLUMN conciliation.drift.first_seen_at IS
  'When the outcome of that pull was recorded.';
COMMENT ON COLUMN conciliation.drift.acknowledged_at IS
  'When a person acknowledged it. Null: no person has.';
COMMENT ON COLUMN conciliation.drift.acknowledged_by IS
  'The person who acknowledged it. Null: no person has. Personal data.';
COMMENT ON COLUMN conciliation.drift.reason IS
  'The reason in the words of that person. Null: no person has acknowledged it.';


CREATE TABLE conciliation.alert (
  id          bigserial   PRIMARY KEY,
  kind        text        NOT NULL,
  dedupe_key  text        NOT NULL,
  message     text        NOT NULL,
  message_pt  text        NOT NULL,
  date        date,
  pull_id     bigint,
  raised_at   timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  resolved_at timestamptz,
  announce_at timestamptz,

  CONSTRAINT alert_date_check CHECK (date BETWEEN '0001-01-01' AND '9999-12-31')
);

CREATE INDEX alert_kind_idx ON conciliation.alert (kind, raised_at);

COMMENT ON TABLE conciliation.alert IS
  'Conditions that a person should know of: a failed, held or stale pull, rejected titles, a date restated after sign-off, refused providers, a push that keeps failing, a changed bank account, a refused token.';
COMMENT ON COLUMN conciliation.alert.id IS
  'Key of the alert.';
COMMENT ON COLUMN conciliation.alert.kind IS
  'Which condition it is about.';
COMMENT ON COLUMN conciliation.alert.dedupe_key IS
  'Names the condition; while it lasts it is raised once.';
COMMENT ON COLUMN conciliation.alert.message IS
  'The condition in words, free of personal data.';
COMMENT ON COLUMN conciliation.alert.message_pt IS
  'The same in Portuguese.';
COMMENT ON COLUMN conciliation.alert.date IS
  'The accepted date concerned. Null: none in particular.';
COMMENT ON COLUMN conciliation.alert.pull_id IS
  'pull.id concerned. Null: none in particular.';
COMMENT ON COLUMN conciliation.alert.raised_at IS
  'When the condition was noticed.';
COMMENT ON COLUMN conciliation.alert.resolved_at IS
  'When it was over. Null: it lasts.';
COMMENT ON COLUMN conciliation.alert.announce_at IS
  'When the state of the alert, raised or resolved, is handed to the channels. Null: it was.';


CREATE TABLE conciliation.message_delivery (
  id                bigserial   PRIMARY KEY,
  alert_id          bigint      REFERENCES conciliation.alert (id) ON DELETE CASCADE,
  slot_at           timestamptz,
  channel           text        NOT NULL,
  attempts          integer     NOT NULL DEFAULT 0,
  next_attempt_at   timestamptz,
  deliveries        integer     NOT NULL DEFAULT 0,
  delivered_at      timestamptz,
  delivered_message text,

  CONSTRAINT message_delivery_subject_key UNIQUE NULLS NOT DISTINCT (alert_id, channel),
  CONSTRAINT message_delivery_subject_check CHECK ((alert_id IS NULL) <> (slot_at IS NULL)),
  CONSTRAINT message_delivery_channel_check CHECK (channel IN ('webhook', 'slack', 'teams', 'email'))
);

COMMENT ON TABLE conciliation.message_delivery IS
  'The delivery of each alert, and of the daily digest, to each configured channel.';
COMMENT ON COLUMN conciliation.message_delivery.id IS
  'Key of the delivery.';
COMMENT ON COLUMN conciliation.message_delivery.alert_id IS
  'alert.id. Null: the digest, which has one row for each channel.';
COMMENT ON COLUMN conciliation.message_delivery.slot_at IS
  'When the newest digest was due. Null: an alert.';
COMMENT ON COLUMN conciliation.message_delivery.channel IS
  'webhook, slack, teams or email.';
COMMENT ON COLUMN conciliation.message_delivery.attempts IS
  'Deliveries tried.';
COMMENT ON COLUMN conciliation.message_delivery.next_attempt_at IS
  'When delivery is tried next. Null: nothing is planned.';
COMMENT ON COLUMN conciliation.message_delivery.deliveries IS
  'Messages about the alert, or digests, that the channel took.';
COMMENT ON COLUMN conciliation.message_delivery.delivered_at IS
  'When the channel took the last message. Null: never.';
COMMENT ON COLUMN conciliation.message_delivery.delivered_message IS
  'The condition in the words of that message. An alert whose words have changed is sent again after an hour, or after a day where the words change with every attempt. Null: none was taken, or a digest.';


CREATE TABLE conciliation.process_fault (
  process_id uuid        NOT NULL,
  kind       text        NOT NULL,
  seen_at    timestamptz NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT process_fault_pkey PRIMARY KEY (process_id, kind),
  CONSTRAINT process_fault_kind_check CHECK (kind IN ('token_refused', 'token_unusable', 'clock_skew', 'planning_failed', 'work_unrecorded'))
);

COMMENT ON TABLE conciliation.process_fault IS
  'What keeps a process of the service from its work, as the process itself reports. The alerts platform_auth and pull_overdue are derived from this table.';
COMMENT ON COLUMN conciliation.process_fault.process_id IS
  'The process that reports; drawn at each start.';
COMMENT ON COLUMN conciliation.process_fault.kind IS
  'token_refused: the platform refused the token of the process. token_unusable: the process has had no usable token for a minute. clock_skew: the clock of the process differs from the clock of the database by more than two minutes. planning_failed: no run of the planner has succeeded for three minutes. work_unrecorded: an attempt at a pull, a sweep or a push could not be recorded for a minute.';
COMMENT ON COLUMN conciliation.process_fault.seen_at IS
  'When the process reported the fault last, by the clock of the database. A process reports every 15 seconds; after three minutes without a report it has ended.';


CREATE TABLE conciliation.sign_off (
  id                             bigserial   PRIMARY KEY,
  date                           date        NOT NULL,
  signed_off_at                  timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  signed_off_by                  text        NOT NULL,
  reason                         text,
  fence                          bigint      NOT NULL,
  content_digest                 text        NOT NULL,
  title_count                    integer     NOT NULL,
  withdrawn_count                integer     NOT NULL,
  rejected_count                 integer     NOT NULL,
  original_value_sum             numeric     NOT NULL,
  platform_discounted_value_sum  numeric     NOT NULL,
  financial_discounted_value_sum numeric     NOT NULL,
  buyer_discounted_value_sum     numeric     NOT NULL,
  billing_fee_sum                numeric     NOT NULL,
  money_transfer_fee_sum         numeric     NOT NULL,
  ended_at                       timestamptz,
  ended_by                       text,
  end_reason                     text,

  CONSTRAINT sign_off_ended_check CHECK ((ended_at IS NULL) = (ended_by IS NULL)),
  CONSTRAINT sign_off_date_check CHECK (date BETWEEN '0001-01-01' AND '9999-12-31')
);

CREATE INDEX sign_off_date_idx ON conciliation.sign_off (date, id);

COMMENT ON TABLE conciliation.sign_off IS
  'One row for each seal of a date: the content of the date at its sign-off. A seal is never changed; it ends when the date is reopened or signed off again, so at most one seal of a date has no end. day.signed_off_at, signed_off_by and signed_off_digest are those of the seal without an end.';
COMMENT ON COLUMN conciliation.sign_off.id IS
  'Key of the seal.';
COMMENT ON COLUMN conciliation.sign_off.date IS
  'The accepted date that was signed off.';
COMMENT ON COLUMN conciliation.sign_off.signed_off_at IS
  'When it was signed off.';
COMMENT ON COLUMN conciliation.sign_off.signed_off_by IS
  'Who signed it off. Personal data.';
COMMENT ON COLUMN conciliation.sign_off.reason IS
  'The note of that person. Null: there is none.';
COMMENT ON COLUMN conciliation.sign_off.fence IS
  'pull.fence of the newest fetch merged into the date when it was signed off. Changes of the date by a pull with a greater fence came after the seal.';
COMMENT ON COLUMN conciliation.sign_off.content_digest IS
  'day.content_digest when it was signed off.';
COMMENT ON COLUMN conciliation.sign_off.title_count IS
  'day.title_count when it was signed off.';
COMMENT ON COLUMN conciliation.sign_off.withdrawn_count IS
  'day.withdrawn_count when it was signed off.';
COMMENT ON COLUMN conciliation.sign_off.rejected_count IS
  'day.rejected_count when it was signed off.';
COMMENT ON COLUMN conciliation.sign_off.original_value_sum IS
  'day.original_value_sum when it was signed off.';
COMMENT ON COLUMN conciliation.sign_off.platform_discounted_value_sum IS
  'day.platform_discounted_value_sum when it was signed off.';
COMMENT ON COLUMN conciliation.sign_off.financial_discounted_value_sum IS
  'day.financial_discounted_value_sum when it was signed off.';
COMMENT ON COLUMN conciliation.sign_off.buyer_discounted_value_sum IS
  'day.buyer_discounted_value_sum when it was signed off.';
COMMENT ON COLUMN conciliation.sign_off.billing_fee_sum IS
  'day.billing_fee_sum when it was signed off.';
COMMENT ON COLUMN conciliation.sign_off.money_transfer_fee_sum IS
  'day.money_transfer_fee_sum when it was signed off.';
COMMENT ON COLUMN conciliation.sign_off.ended_at IS
  'When the date was reopened or signed off again. Null: the seal lasts.';
COMMENT ON COLUMN conciliation.sign_off.ended_by IS
  'Who did that. Null: the seal lasts. Personal data.';
COMMENT ON COLUMN conciliation.sign_off.end_reason IS
  'The reason that this person gave. Null: the seal lasts, or the date was signed off again.';

CREATE FUNCTION conciliation.keep_seal() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
     AND to_jsonb(OLD) - '{ended_at,ended_by,end_reason}'::text[]
       = to_jsonb(NEW) - '{ended_at,ended_by,end_reason}'::text[] THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION '%.% can only be ended, so % is refused', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
    USING ERRCODE = 'restrict_violation', SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME;
END
$$;

COMMENT ON FUNCTION conciliation.keep_seal() IS
  'Trigger of sign_off: a seal cannot be changed, and can be ended once.';

CREATE TRIGGER sign_off_kept
  BEFORE UPDATE OR DELETE ON conciliation.sign_off
  FOR EACH ROW EXECUTE FUNCTION conciliation.keep_seal();

CREATE TRIGGER sign_off_not_truncated
  BEFORE TRUNCATE ON conciliation.sign_off
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();


CREATE TABLE conciliation.month_seal (
  id                             bigserial   PRIMARY KEY,
  month                          date        NOT NULL,
  sealed_at                      timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  sealed_by                      text        NOT NULL,
  reason                         text,
  sign_off_ids                   bigint[]    NOT NULL,
  digest                         text        NOT NULL,
  title_count                    bigint      NOT NULL,
  withdrawn_count                bigint      NOT NULL,
  rejected_count                 bigint      NOT NULL,
  original_value_sum             numeric     NOT NULL,
  platform_discounted_value_sum  numeric     NOT NULL,
  financial_discounted_value_sum numeric     NOT NULL,
  buyer_discounted_value_sum     numeric     NOT NULL,
  billing_fee_sum                numeric     NOT NULL,
  money_transfer_fee_sum         numeric     NOT NULL,

  CONSTRAINT month_seal_month_check
    CHECK (month BETWEEN '1900-01-01' AND '8999-12-01' AND extract(day FROM month) = 1),
  CONSTRAINT month_seal_sign_offs_check CHECK (cardinality(sign_off_ids) BETWEEN 1 AND 31),
  CONSTRAINT month_seal_digest_check CHECK (digest ~ '^[0-9a-f]{64}$')
);

CREATE INDEX month_seal_month_idx ON conciliation.month_seal (month, id);

COMMENT ON TABLE conciliation.month_seal IS
  'One row for each seal of a month: the seals of all its days. Append-only: UPDATE, DELETE and TRUNCATE are refused. The newest seal of a month counts. It is broken when one of its days was restated, reopened or signed off again; the table sign_off and the row of the day tell.';
COMMENT ON COLUMN conciliation.month_seal.id IS
  'Key of the seal.';
COMMENT ON COLUMN conciliation.month_seal.month IS
  'First date of the month.';
COMMENT ON COLUMN conciliation.month_seal.sealed_at IS
  'When it was sealed.';
COMMENT ON COLUMN conciliation.month_seal.sealed_by IS
  'Who sealed it. Personal data.';
COMMENT ON COLUMN conciliation.month_seal.reason IS
  'The note of that person. Null: there is none.';
COMMENT ON COLUMN conciliation.month_seal.sign_off_ids IS
  'sign_off.id of the seal of each day, in date order: from the start date or the first of the month to its last day. A row of sign_off keeps date, digest and totals of its day unchanged.';
COMMENT ON COLUMN conciliation.month_seal.digest IS
  'SHA-256 over the month and those seals, in hexadecimal. The verifier of the evidence file computes it.';
COMMENT ON COLUMN conciliation.month_seal.title_count IS
  'Sum of sign_off.title_count over those seals.';
COMMENT ON COLUMN conciliation.month_seal.withdrawn_count IS
  'Sum of sign_off.withdrawn_count over those seals.';
COMMENT ON COLUMN conciliation.month_seal.rejected_count IS
  'Sum of sign_off.rejected_count over those seals.';
COMMENT ON COLUMN conciliation.month_seal.original_value_sum IS
  'Sum of sign_off.original_value_sum over those seals.';
COMMENT ON COLUMN conciliation.month_seal.platform_discounted_value_sum IS
  'Sum of sign_off.platform_discounted_value_sum over those seals.';
COMMENT ON COLUMN conciliation.month_seal.financial_discounted_value_sum IS
  'Sum of sign_off.financial_discounted_value_sum over those seals.';
COMMENT ON COLUMN conciliation.month_seal.buyer_discounted_value_sum IS
  'Sum of sign_off.buyer_discounted_value_sum over those seals.';
COMMENT ON COLUMN conciliation.month_seal.billing_fee_sum IS
  'Sum of sign_off.billing_fee_sum over those seals.';
COMMENT ON COLUMN conciliation.month_seal.money_transfer_fee_sum IS
  'Sum of sign_off.money_transfer_fee_sum over those seals.';

CREATE TRIGGER month_seal_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON conciliation.month_seal
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();


CREATE TABLE conciliation.audit_entry (
  id      bigserial   PRIMARY KEY,
  at      timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  actor   text        NOT NULL,
  action  text        NOT NULL,
  date    date,
  pull_id bigint,
  reason  text,
  details jsonb
) WITH (
  -- An entry for everything that a person does.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000
);

CREATE INDEX audit_entry_date_idx ON conciliation.audit_entry (date);
CREATE INDEX audit_entry_actor_idx ON conciliation.audit_entry (actor, id);

COMMENT ON TABLE conciliation.audit_entry IS
  'The actions of people, with the day and the reason. Append-only: UPDATE, DELETE and TRUNCATE are refused.';
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
  'What else belongs to the action, such as a range of dates. Null: nothing. Personal data.';

CREATE TRIGGER audit_entry_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON conciliation.audit_entry
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();


-- A table of its own, because an entry is linked when its transaction commits. By then the transaction
-- holds every other lock that it needs. Waiting for the lock of the chain therefore cannot deadlock, and
-- the lock is held no longer than a commit takes. No process can stop while it holds that lock.
CREATE TABLE conciliation.audit_chain (
  position      bigint PRIMARY KEY,
  entry_id      bigint NOT NULL,
  previous_hash text   NOT NULL,
  hash          text   NOT NULL
) WITH (
  -- A link for each entry.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000
);

CREATE UNIQUE INDEX audit_chain_entry_id_key ON conciliation.audit_chain (entry_id);
-- Also a writer that does not take the lock cannot give a link two successors.
CREATE UNIQUE INDEX audit_chain_previous_hash_key ON conciliation.audit_chain (previous_hash);

COMMENT ON TABLE conciliation.audit_chain IS
  'One link for each audit_entry, in the order of their commits. Each hash covers the entry and the hash before it, so that "conciliation verify --audit" finds an entry that was changed, removed, inserted or moved. Append-only; written only by a trigger.';
COMMENT ON COLUMN conciliation.audit_chain.position IS
  'Place in the chain, from 1 without a gap.';
COMMENT ON COLUMN conciliation.audit_chain.entry_id IS
  'audit_entry.id of the entry.';
COMMENT ON COLUMN conciliation.audit_chain.previous_hash IS
  'hash of the link before; 64 zeros for the first.';
COMMENT ON COLUMN conciliation.audit_chain.hash IS
  'SHA-256 in hexadecimal, as the function audit_entry_hash makes it.';

CREATE TRIGGER audit_chain_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON conciliation.audit_chain
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();

CREATE FUNCTION conciliation.audit_entry_hash(
  place bigint, previous_hash text, entry conciliation.audit_entry
) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  -- Each value is preceded by its length, so that two different entries never give the same text.
  SELECT encode(sha256(convert_to(
    string_agg(coalesce(octet_length(convert_to(value, 'UTF8')) || ':' || value, '-'), E'\n' ORDER BY nr),
    'UTF8')), 'hex')
  FROM unnest(ARRAY[
    place::text, previous_hash, entry.id::text,
    to_char(entry.at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'),
    entry.actor, entry.action, to_char(entry.date, 'YYYY-MM-DD'), entry.pull_id::text, entry.reason,
    entry.details::text
  ]) WITH ORDINALITY AS field (value, nr)
$$;

COMMENT ON FUNCTION conciliation.audit_entry_hash(bigint, text, conciliation.audit_entry) IS
  'Hash of an audit_entry at its place in the chain. The verifier computes it again without this function.';

CREATE FUNCTION conciliation.link_audit_entry() RETURNS trigger
-- With the rights of the owner, so that no other role needs the right to insert links.
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  place bigint;
  head text;
BEGIN
  -- NEW of another table could have a cast that runs code of the table's owner.
  IF TG_RELID <> 'conciliation.audit_entry'::regclass THEN
    RAISE EXCEPTION 'link_audit_entry is a trigger of conciliation.audit_entry only'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  -- Not a lock of the table: every commit would wait for a vacuum that cannot be interrupted.
  PERFORM FROM conciliation.program_lock WHERE name = 'audit' FOR UPDATE;
  -- A separate statement, whose snapshot includes links that were committed during the wait for the lock.
  SELECT position, hash INTO place, head
  FROM conciliation.audit_chain ORDER BY position DESC LIMIT 1;
  place := coalesce(place, 0) + 1;
  head := coalesce(head, repeat('0', 64));
  INSERT INTO conciliation.audit_chain (position, entry_id, previous_hash, hash)
  VALUES (place, NEW.id, head, conciliation.audit_entry_hash(place, head, NEW));
  RETURN NULL;
END
$$;

COMMENT ON FUNCTION conciliation.link_audit_entry() IS
  'Trigger of audit_entry: puts a new entry at the end of the chain, one transaction after another.';

-- A function that runs with its owner's rights must not be callable by any other role. PostgreSQL grants
-- EXECUTE on new functions to PUBLIC, and any role that may execute a trigger function may attach it to
-- a table of its own. The row type of such a table can have a cast to conciliation.audit_entry, whose
-- function then runs as the owner.
--
-- PostgreSQL checks EXECUTE when a trigger is created, not when it fires: inserts by other roles are
-- still linked.
REVOKE EXECUTE ON FUNCTION conciliation.link_audit_entry() FROM PUBLIC;

CREATE CONSTRAINT TRIGGER audit_entry_linked
  AFTER INSERT ON conciliation.audit_entry
  DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION conciliation.link_audit_entry();


-- Providers and bank accounts ------------------------------------------------------------------

CREATE TABLE conciliation.provider (
  external_id           text        PRIMARY KEY,
  type                  text,
  identification_number text,
  tax_id                text,
  name                  text,
  can_anticipate        boolean,
  phones                jsonb,
  email_addresses       jsonb,
  accounts              jsonb,
  sync_state            text        NOT NULL DEFAULT 'pending',
  last_error            text,
  contested_by          text[]      NOT NULL DEFAULT '{}',
  sent_tax_ids          text[]      NOT NULL DEFAULT '{}',
  synced_hash           text,
  synced_at             timestamptz,
  created_at            timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  changed_at            timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,

  CONSTRAINT provider_sync_state_check
    CHECK (sync_state IN ('pending', 'synced', 'rejected', 'invalid')),
  -- The service reads pages of 100 rows. Every row that the check of the program accepts is below these limits.
  CONSTRAINT provider_size_check
    CHECK (octet_length(external_id) <= 1020 AND octet_length(identification_number) <= 1020
           AND octet_length(type) <= 4000 AND octet_length(name) <= 4000
           AND octet_length(phones::text) <= 65536
           AND octet_length(email_addresses::text) <= 65536
           AND octet_length(accounts::text) <= 65536)
) WITH (
  -- An ERP may write all its suppliers every night, changed or not, and each pushed row is updated twice.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000
);

-- In the order in which pending rows are pushed.
CREATE INDEX provider_sync_state_idx
  ON conciliation.provider (sync_state, changed_at, external_id);
CREATE INDEX provider_tax_id_idx ON conciliation.provider (tax_id);
-- Without fastupdate, because every search reads the entries that wait for a VACUUM one by one.
CREATE INDEX provider_sent_tax_ids_idx ON conciliation.provider USING gin (sent_tax_ids)
  WITH (fastupdate = off);

COMMENT ON TABLE conciliation.provider IS
  'The ERP''s providers (suppliers), to be registered with the platform. The ERP inserts and updates rows; the program pushes those that are pending. A trigger sets a row with changed content to pending. Deleting a row does not remove the provider from the platform. A row has at most 1020 bytes in external_id and in identification_number, 4000 in type and in name, and 65536 in each list as text.';
COMMENT ON COLUMN conciliation.provider.external_id IS
  'externalId: the provider''s key in the ERP.';
COMMENT ON COLUMN conciliation.provider.type IS
  'type: INDIVIDUAL is the one known value. Null: not sent.';
COMMENT ON COLUMN conciliation.provider.identification_number IS
  'identificationNumber: CPF or CNPJ. Null: not sent. Personal data.';
COMMENT ON COLUMN conciliation.provider.tax_id IS
  'identification_number as it is sent: without dots, dashes, slashes and blanks, letters in upper case; maintained by a trigger. Null: it has not the form of a CPF or CNPJ. Personal data.';
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
  'pending: to be pushed. synced: the platform took it. rejected: the platform refused it, see last_error. invalid: it was not sent, because the platform would refuse it, see last_error. Any change of content makes the row pending; set a rejected row to pending to push it again as it is.';
COMMENT ON COLUMN conciliation.provider.last_error IS
  'Why the row is rejected or invalid. Null: it is neither. For an invalid row: the fields with the expected values, without the actual ones. For a rejected row: the platform''s answer, which may be personal data.';
COMMENT ON COLUMN conciliation.provider.contested_by IS
  'Of a rejected row: external_id of other rows that may have had its tax_id at the platform. Once one has another, the row is pending again by itself.';
COMMENT ON COLUMN conciliation.provider.sent_tax_ids IS
  'For the program only: every tax_id under which the platform may know this provider. More than one while an answer is outstanding, or was a refusal. Personal data.';
COMMENT ON COLUMN conciliation.provider.synced_hash IS
  'Hash of the content that the platform has; a row with equal content is not sent again. Null: the platform has no content of this row, or its content is unknown because of an outstanding answer or a refusal. Set it to null together with sync_state = pending to send a synced row again.';
COMMENT ON COLUMN conciliation.provider.synced_at IS
  'When the platform took the row last. Null: never.';
COMMENT ON COLUMN conciliation.provider.created_at IS
  'When the row was inserted.';
COMMENT ON COLUMN conciliation.provider.changed_at IS
  'When its content changed last; maintained by a trigger.';

CREATE FUNCTION conciliation.note_provider_tax_id() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  NEW.tax_id := conciliation.tax_id(NEW.identification_number);
  IF NOT conciliation.has_check_digits(NEW.tax_id) THEN
    NEW.tax_id := NULL;
  END IF;
  -- A new row has never been sent, whatever values the INSERT states.
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

CREATE TRIGGER provider_tax_id_noted
  BEFORE INSERT OR UPDATE OF identification_number, tax_id ON conciliation.provider
  FOR EACH ROW EXECUTE FUNCTION conciliation.note_provider_tax_id();

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
  'Trigger of provider: sets a row with new or changed content to pending, and clears the errors of its old content.';

CREATE TRIGGER provider_inserted
  BEFORE INSERT ON conciliation.provider
  FOR EACH ROW EXECUTE FUNCTION conciliation.mark_provider_pending();

-- Compares the content only. Recording the outcome of a push therefore does not make the row pending again,
-- and an ERP that rewrites all its rows every night causes no push.
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


CREATE TABLE conciliation.provider_batch (
  id              bigserial   PRIMARY KEY,
  external_ids    text[]      NOT NULL,
  http_status     integer,
  answer          text,
  error_code      text,
  created_at      timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  finished_at     timestamptz,
  next_attempt_at timestamptz
) WITH (
  -- One update a request, with an answer of up to 64 KiB in TOAST, which retention sets to null.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000,
  toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 1000
);

-- Finds the requests that had a provider. Without fastupdate, for the reason given at provider_sent_tax_ids_idx.
CREATE INDEX provider_batch_external_ids_idx ON conciliation.provider_batch USING gin (external_ids)
  WITH (fastupdate = off);

COMMENT ON TABLE conciliation.provider_batch IS
  'One row for every request that pushed providers, of at most 100 each, with the platform''s answer as it came. The row is there before the request is sent.';
COMMENT ON COLUMN conciliation.provider_batch.id IS
  'Key of the request.';
COMMENT ON COLUMN conciliation.provider_batch.external_ids IS
  'provider.external_id of every provider in the request.';
COMMENT ON COLUMN conciliation.provider_batch.http_status IS
  'Status of the answer. Null: there was none.';
COMMENT ON COLUMN conciliation.provider_batch.answer IS
  'Body of the answer, as received: at most 64 KiB; U+0000 and invalid UTF-8 are replaced by U+FFFD. Null: there was none, or "conciliation retention" removed it. May be personal data.';
COMMENT ON COLUMN conciliation.provider_batch.error_code IS
  'Why the request decided nothing about its providers: a code of the program such as PLATFORM_UNAVAILABLE. Null: the platform took the providers or refused them, or the request is under way.';
COMMENT ON COLUMN conciliation.provider_batch.created_at IS
  'When the request was sent.';
COMMENT ON COLUMN conciliation.provider_batch.finished_at IS
  'When the request ended. Null: it is running, or the program died during it.';
COMMENT ON COLUMN conciliation.provider_batch.next_attempt_at IS
  'Before then nothing is pushed: after this request failed, or while it is under way, which its process renews. Null: neither.';


CREATE TABLE conciliation.party_account (
  kind               text        NOT NULL,
  party_key          text        NOT NULL,
  tax_id             text,
  writing_hash       uuid        NOT NULL,
  account_hash       uuid        NOT NULL,
  normal_form        text        NOT NULL,
  bank               text,
  agency             text,
  agency_digit       text,
  account            text,
  account_digit      text,
  destination        jsonb,
  last_accepted_date date        NOT NULL,
  first_seen_at      timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  last_seen_at       timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,

  CONSTRAINT party_account_pkey PRIMARY KEY (kind, party_key, writing_hash),
  CONSTRAINT party_account_kind_check CHECK (kind IN ('provider', 'financial_agent'))
) WITH (
  -- Each account that a day names is updated by the day's merge.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000,
  -- A page with room for the updated rows spares the indexes an entry for each.
  fillfactor = 50
);

-- An account of a provider that is named with another external identifier, or without one, is compared with the
-- accounts of the same tax identifier.
CREATE INDEX party_account_tax_id_idx ON conciliation.party_account (tax_id);

COMMENT ON TABLE conciliation.party_account IS
  'Every bank account that a title named for a provider or a financial agent, with a row for each writing of the account. A row without bank, branch, number and destination stands for titles that name no account.';
COMMENT ON COLUMN conciliation.party_account.kind IS
  'provider or financial_agent.';
COMMENT ON COLUMN conciliation.party_account.party_key IS
  'Of a provider title.provider_external_id, or title.provider_identification where there is none; of a financial agent title.financial_agent_identification, or title.financial_agent_name. Empty: none of them is stated. A tax identifier without mask. Longer than 255 characters: md5: and its MD5. May be personal data.';
COMMENT ON COLUMN conciliation.party_account.tax_id IS
  'The tax identifier of the party in the newest title that named the account: in the form of provider.tax_id, or the MD5 of a text of more than 255 characters. Null: not stated. May be personal data.';
COMMENT ON COLUMN conciliation.party_account.writing_hash IS
  'Equal for accounts that are written alike in every field, blanks around them aside.';
COMMENT ON COLUMN conciliation.party_account.account_hash IS
  'Hash of normal_form: equal for all writings of one account.';
COMMENT ON COLUMN conciliation.party_account.normal_form IS
  'The account in normal form, as a JSON array: bank, branch, number, type, Pix key, ISPB, holder. The ISPB is empty where the bank is one already. Personal data.';
COMMENT ON COLUMN conciliation.party_account.bank IS
  'Bank code. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.party_account.agency IS
  'Branch number. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.party_account.agency_digit IS
  'Check digit of the branch number. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.party_account.account IS
  'Account number. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.party_account.account_digit IS
  'Check digit of the account number. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.party_account.destination IS
  'The undocumented fields of the account that name a destination, such as a Pix key. Null: none. Personal data.';
COMMENT ON COLUMN conciliation.party_account.last_accepted_date IS
  'The latest accepted date of a title that named the account.';
COMMENT ON COLUMN conciliation.party_account.first_seen_at IS
  'When a title that named it was merged first.';
COMMENT ON COLUMN conciliation.party_account.last_seen_at IS
  'When last_accepted_date was written, or a title of that date was restated to the account.';


CREATE TABLE conciliation.account_change (
  id              bigserial   PRIMARY KEY,
  kind            text        NOT NULL,
  party_key       text        NOT NULL,
  before_hash     uuid        NOT NULL,
  account_hash    uuid        NOT NULL,
  before          jsonb       NOT NULL,
  after           jsonb       NOT NULL,
  accepted_date   date        NOT NULL,
  title_id        bigint      NOT NULL,
  pull_id         bigint      NOT NULL,
  detected_at     timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  state           text        NOT NULL DEFAULT 'open',
  decided_at      timestamptz,
  decided_by      text,
  reason          text,

  CONSTRAINT account_change_kind_check CHECK (kind IN ('provider', 'financial_agent')),
  CONSTRAINT account_change_state_check
    CHECK (state IN ('open', 'refused', 'confirmed', 'parallel', 'returned')),
  CONSTRAINT account_change_decided_check
    CHECK ((state = 'open') = (decided_at IS NULL) AND (decided_at IS NULL) = (decided_by IS NULL)),
  CONSTRAINT account_change_date_check CHECK (accepted_date BETWEEN '0001-01-01' AND '9999-12-31')
);

CREATE INDEX account_change_state_idx ON conciliation.account_change (state, id);
CREATE INDEX account_change_party_idx ON conciliation.account_change (kind, party_key, account_hash);

COMMENT ON TABLE conciliation.account_change IS
  'A title named another bank account for a provider or financial agent than the accepted one, or no account where there was one. This is the most common sign of payment fraud, so a person has to confirm or refuse each row. While a change is open or refused, the same change is not recorded again.';
COMMENT ON COLUMN conciliation.account_change.id IS
  'Key of the change.';
COMMENT ON COLUMN conciliation.account_change.kind IS
  'provider or financial_agent.';
COMMENT ON COLUMN conciliation.account_change.party_key IS
  'As party_account.party_key, or the pseudonym of a party that was erased, of which before and after are null. May be personal data.';
COMMENT ON COLUMN conciliation.account_change.before_hash IS
  'party_account.account_hash of the account in before.';
COMMENT ON COLUMN conciliation.account_change.account_hash IS
  'party_account.account_hash of the account in after.';
COMMENT ON COLUMN conciliation.account_change.before IS
  'The accepted account: bank, agency, agencyDigit, account, accountDigit, destination. Personal data.';
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
COMMENT ON COLUMN conciliation.account_change.state IS
  'open: no decision yet. refused: a person refused the account, and its titles stay on hold. confirmed: a person confirmed that the account replaces the one before. parallel: a person confirmed that the party uses both. returned: the accepted account was named again and no current title names the other one.';
COMMENT ON COLUMN conciliation.account_change.decided_at IS
  'When the state was reached. Null: open.';
COMMENT ON COLUMN conciliation.account_change.decided_by IS
  'The person who decided; account-watch where the change ended by itself. Null: open. Personal data.';
COMMENT ON COLUMN conciliation.account_change.reason IS
  'The findings of that person. Null: open or returned.';


CREATE TABLE conciliation.payment_hold (
  account_change_id bigint NOT NULL,
  title_id          bigint NOT NULL,
  pull_id           bigint NOT NULL,
  accepted_date     date   NOT NULL,

  PRIMARY KEY (account_change_id, title_id, pull_id),
  CONSTRAINT payment_hold_date_check CHECK (accepted_date BETWEEN '0001-01-01' AND '9999-12-31')
);

CREATE INDEX payment_hold_title_idx ON conciliation.payment_hold (title_id);
CREATE INDEX payment_hold_date_idx ON conciliation.payment_hold (accepted_date);

COMMENT ON TABLE conciliation.payment_hold IS
  'The titles that a merge wrote while a change of the bank account that they name was open or refused, or that named the account when a person refused it after all. The hold lasts until a person confirms the change or a merge restates or withdraws the title: while title.last_change_pull_id is pull_id. Rows are not removed.';
COMMENT ON COLUMN conciliation.payment_hold.account_change_id IS
  'account_change.id.';
COMMENT ON COLUMN conciliation.payment_hold.title_id IS
  'title.id.';
COMMENT ON COLUMN conciliation.payment_hold.pull_id IS
  'pull.id of the pull whose merge wrote the title.';
COMMENT ON COLUMN conciliation.payment_hold.accepted_date IS
  'title.accepted_date.';


-- Title feed -----------------------------------------------------------------------------------

-- docs/integration.md describes the use of the view.
CREATE VIEW conciliation.title_feed AS
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
    WHERE hold.title_id = change.title_id AND hold.pull_id = title.last_change_pull_id
      AND account_change.state IN ('open', 'refused')
  ) AS payment_hold,
  (SELECT predecessor_id FROM conciliation.title_succession AS link
   WHERE link.title_id = change.title_id) AS predecessor_id,
  (SELECT link.title_id FROM conciliation.title_succession AS link
   WHERE link.predecessor_id = change.title_id ORDER BY link.pull_id DESC LIMIT 1) AS successor_id
FROM conciliation.title_change change
-- A row that was deleted outside of the program must leave the consumers too.
LEFT JOIN conciliation.title title ON title.id = change.title_id;

-- The other columns get the comments of title: see the end of this file.
COMMENT ON VIEW conciliation.title_feed IS
  'What an ERP consumer reads: WHERE change_seq > :last ORDER BY change_seq, where :last is the greatest change_seq that the consumer has processed (0 at first). One row for every change of a title; every row shows the title as it is now, so store titles by id. A title whose row was deleted outside of the program has the status withdrawn, and null in every column from order_uid on. A consumer misses no change: when a change_seq is visible, no smaller one can still appear.';
COMMENT ON COLUMN conciliation.title_feed.change_seq IS
  'Position in the feed; remember the greatest one processed. Not dense: numbers may be skipped.';
COMMENT ON COLUMN conciliation.title_feed.change_kind IS
  'title_change.kind: the kind of this change. The other columns show the present state of the title, which may be the result of a later change.';
COMMENT ON COLUMN conciliation.title_feed.id IS
  'title.id: the key to store the title by.';
COMMENT ON COLUMN conciliation.title_feed.status IS
  'current: to be reconciled. withdrawn: no longer stated by the platform, or the row was deleted outside of the program; undo the bookings of the title.';
COMMENT ON COLUMN conciliation.title_feed.payment_hold IS
  'Whether the payment is held: the title names a changed bank account, and no person has confirmed the change. Do not pay such a title. The confirmation, and its refusal after all, are changes of the kind payment_decided.';
COMMENT ON COLUMN conciliation.title_feed.predecessor_id IS
  'title_succession.predecessor_id: the withdrawn title that this one replaces, with another due date or original value. Null: none.';
COMMENT ON COLUMN conciliation.title_feed.successor_id IS
  'The id of the newest title that replaced this one. Null: none.';


-- Payables of the ERP --------------------------------------------------------------------------

-- An identity, because the ERP's role inserts without a right to the sequence.
CREATE TABLE conciliation.erp_payable_import (
  id           bigint      GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  kind         text        NOT NULL,
  imported_by  text        NOT NULL DEFAULT SESSION_USER,
  started_at   timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  ended_at     timestamptz,
  is_complete  boolean     NOT NULL DEFAULT false,
  inserted     integer     NOT NULL DEFAULT 0,
  changed      integer     NOT NULL DEFAULT 0,
  unchanged    integer     NOT NULL DEFAULT 0,
  outdated     integer     NOT NULL DEFAULT 0,
  downgraded   integer     NOT NULL DEFAULT 0,
  incomparable integer     NOT NULL DEFAULT 0,
  rejected     integer     NOT NULL DEFAULT 0,
  closed       integer     NOT NULL DEFAULT 0,

  CONSTRAINT erp_payable_import_kind_check CHECK (kind IN ('snapshot', 'delta', 'sql')),
  CONSTRAINT erp_payable_import_complete_check CHECK (NOT is_complete OR ended_at IS NOT NULL)
);

COMMENT ON TABLE conciliation.erp_payable_import IS
  'Every import of payables of the ERP.';
COMMENT ON COLUMN conciliation.erp_payable_import.id IS
  'Key of the import.';
COMMENT ON COLUMN conciliation.erp_payable_import.kind IS
  'snapshot: all open payables of the ERP. delta: payables that changed. sql: the ERP''s role states that its rows of erp_payable are those of the ERP at started_at.';
COMMENT ON COLUMN conciliation.erp_payable_import.imported_by IS
  'The person, the key or the database role that imported.';
COMMENT ON COLUMN conciliation.erp_payable_import.started_at IS
  'When the import began. The payables are not older than this instant.';
COMMENT ON COLUMN conciliation.erp_payable_import.ended_at IS
  'When the import ended. Null: it is under way, was abandoned, or has the kind sql.';
COMMENT ON COLUMN conciliation.erp_payable_import.is_complete IS
  'Whether no payable was rejected and, where the ERP announced a number, as many payables arrived. Only a complete snapshot closes payables.';
COMMENT ON COLUMN conciliation.erp_payable_import.inserted IS
  'Payables that were new.';
COMMENT ON COLUMN conciliation.erp_payable_import.changed IS
  'Payables whose content changed, or that were closed before.';
COMMENT ON COLUMN conciliation.erp_payable_import.unchanged IS
  'Payables whose content was the same.';
COMMENT ON COLUMN conciliation.erp_payable_import.outdated IS
  'Payables that were left as they are, because a newer version, an import that began later or a later statement by SQL has written them.';
COMMENT ON COLUMN conciliation.erp_payable_import.downgraded IS
  'Payables that a snapshot gave an older version than the one before. They are among the changed ones.';
COMMENT ON COLUMN conciliation.erp_payable_import.incomparable IS
  'Payables that were written although their version cannot be compared with the one before. They are among the changed ones.';
COMMENT ON COLUMN conciliation.erp_payable_import.rejected IS
  'Payables with a fault, which are in erp_payable_reject.';
COMMENT ON COLUMN conciliation.erp_payable_import.closed IS
  'Open payables that the complete snapshot lacked.';


CREATE TABLE conciliation.erp_payable (
  erp_key              text        PRIMARY KEY,
  company              text,
  supplier_external_id text,
  supplier_tax_id      text,
  document             text,
  instalment           text,
  order_uid            text,
  due_date             date,
  open_value           numeric     NOT NULL,
  status               text        NOT NULL DEFAULT 'open',
  payee                text,
  version              text,
  settled_as           text,
  settled_by           text,
  settled_on           date,
  paid_to              text,
  total_value          numeric,
  currency             text,
  booking_key          text,
  issue_date           date,
  was_assigned         boolean     NOT NULL DEFAULT false,
  stated_at            timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  import_id            bigint      REFERENCES conciliation.erp_payable_import (id),
  closed_at            timestamptz,
  created_at           timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  changed_at           timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,

  CONSTRAINT erp_payable_status_check CHECK (status IN ('open', 'paid', 'cancelled')),
  CONSTRAINT erp_payable_settled_as_check CHECK (settled_as IN ('payment', 'assignment', 'offset')),
  CONSTRAINT erp_payable_supplier_check
    CHECK (supplier_external_id IS NOT NULL OR supplier_tax_id IS NOT NULL),
  -- As in files: at most two decimals and 18 digits before them. NaN and infinity are above every number.
  CONSTRAINT erp_payable_open_value_check CHECK (abs(open_value) < 1e18 AND open_value = round(open_value, 2)),
  CONSTRAINT erp_payable_total_value_check CHECK (abs(total_value) < 1e18 AND total_value = round(total_value, 2)),
  CONSTRAINT erp_payable_currency_check CHECK (currency ~ '^[A-Z]{3}$'),
  CONSTRAINT erp_payable_erp_key_is_not_blank_check CHECK (erp_key ~ '\S'),
  CONSTRAINT erp_payable_supplier_tax_id_check CHECK (supplier_tax_id ~ '^([0-9]{11}|[0-9A-Z]{12}[0-9]{2})$'),
  CONSTRAINT erp_payable_payee_check CHECK (payee ~ '^([0-9]{11}|[0-9A-Z]{12}[0-9]{2})$'),
  CONSTRAINT erp_payable_paid_to_check CHECK (paid_to ~ '^([0-9]{11}|[0-9A-Z]{12}[0-9]{2})$'),
  CONSTRAINT erp_payable_settled_by_check
    CHECK (settled_by ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}:[0-9a-f]{32}:[1-9][0-9]{0,8}:[1-9][0-9]{0,8}$'),
  CONSTRAINT erp_payable_booking_key_check
    CHECK (booking_key ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}:[0-9a-f]{32}:[1-9][0-9]{0,8}:[1-9][0-9]{0,8}$'),
  CONSTRAINT erp_payable_dates_are_finite_check
    CHECK (due_date BETWEEN '0001-01-01' AND '9999-12-31' AND settled_on BETWEEN '0001-01-01' AND '9999-12-31'
           AND issue_date BETWEEN '0001-01-01' AND '9999-12-31'),
  -- Of the limit of 255 characters of the import, in bytes.
  CONSTRAINT erp_payable_size_check
    CHECK (octet_length(erp_key) <= 1020 AND octet_length(company) <= 1020
           AND octet_length(supplier_external_id) <= 1020 AND octet_length(document) <= 1020
           AND octet_length(instalment) <= 1020 AND octet_length(order_uid) <= 1020
           AND octet_length(version) <= 1020 AND octet_length(open_value::text) <= 110)
) WITH (autovacuum_vacuum_threshold = 50000, autovacuum_vacuum_scale_factor = 0,
        autovacuum_analyze_threshold = 50000, autovacuum_analyze_scale_factor = 0);

CREATE INDEX erp_payable_supplier_idx ON conciliation.erp_payable (supplier_external_id, due_date);
CREATE INDEX erp_payable_tax_id_idx ON conciliation.erp_payable (supplier_tax_id, due_date);
CREATE INDEX erp_payable_order_idx ON conciliation.erp_payable (order_uid);
-- Finds the titles of an invoice.
CREATE INDEX erp_payable_document_idx ON conciliation.erp_payable (document);
-- Finds whether a payable changed since the last run.
CREATE INDEX erp_payable_changed_idx ON conciliation.erp_payable (changed_at);
-- Finds the branches of a company by the root of their CNPJ.
CREATE INDEX erp_payable_root_idx ON conciliation.erp_payable (left(supplier_tax_id, 8), due_date);
-- Finds the payables that the lines of a booking made.
CREATE INDEX erp_payable_booking_idx
  ON conciliation.erp_payable (regexp_replace(booking_key, ':[0-9]+$', '')) WHERE booking_key IS NOT NULL;

COMMENT ON TABLE conciliation.erp_payable IS
  'The payables of the ERP, to be matched with the titles. The ERP writes rows by SQL, or they are imported from files and requests. A payable is open while its status is open and closed_at is null.';
COMMENT ON COLUMN conciliation.erp_payable.erp_key IS
  'The ERP''s key of the payable, unique over all companies.';
COMMENT ON COLUMN conciliation.erp_payable.company IS
  'The company or branch that owes, as the ERP names it. Null: not stated.';
COMMENT ON COLUMN conciliation.erp_payable.supplier_external_id IS
  'The supplier in the ERP''s numbering, as provider.external_id. Null: not stated.';
COMMENT ON COLUMN conciliation.erp_payable.supplier_tax_id IS
  'CPF or CNPJ of the supplier, without mask, letters in upper case. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.erp_payable.document IS
  'The number of the invoice or other document. Null: not stated. May be personal data.';
COMMENT ON COLUMN conciliation.erp_payable.instalment IS
  'The instalment of the document. Null: not stated.';
COMMENT ON COLUMN conciliation.erp_payable.order_uid IS
  'The platform''s order, as title.order_uid. Null: the ERP does not know the order.';
COMMENT ON COLUMN conciliation.erp_payable.due_date IS
  'When the payable is due. Null: not stated.';
COMMENT ON COLUMN conciliation.erp_payable.open_value IS
  'The value that is not paid yet, an exact decimal. Negative: a credit note.';
COMMENT ON COLUMN conciliation.erp_payable.status IS
  'open: to be paid. paid: the ERP has paid. cancelled: the ERP has cancelled it.';
COMMENT ON COLUMN conciliation.erp_payable.payee IS
  'CPF or CNPJ of the party that the ERP is going to pay, without mask. Null: the supplier. Personal data.';
COMMENT ON COLUMN conciliation.erp_payable.version IS
  'The ERP''s version of the payable. Null: not stated.';
COMMENT ON COLUMN conciliation.erp_payable.settled_as IS
  'payment: the ERP has paid the payable. assignment: the debt was assigned to the financial agent, without a payment. offset: set off against another document. Null: not stated.';
COMMENT ON COLUMN conciliation.erp_payable.settled_by IS
  'The key of the booking line that settled the payable, as booking_feed.key. Null: none, or not stated.';
COMMENT ON COLUMN conciliation.erp_payable.settled_on IS
  'When the payable was settled. Null: not stated.';
COMMENT ON COLUMN conciliation.erp_payable.paid_to IS
  'CPF or CNPJ of the party that was paid, without mask. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.erp_payable.total_value IS
  'The whole value of the payable, an exact decimal. Null: not stated.';
COMMENT ON COLUMN conciliation.erp_payable.currency IS
  'ISO 4217 code. Null: not stated, which counts as BRL.';
COMMENT ON COLUMN conciliation.erp_payable.booking_key IS
  'The key of the booking line whose posting made this payable of the financial agent, as booking_feed.key. Null: no posting made the payable.';
COMMENT ON COLUMN conciliation.erp_payable.issue_date IS
  'When the document was issued. Null: not stated.';
COMMENT ON COLUMN conciliation.erp_payable.was_assigned IS
  'Whether an earlier statement had settled_as assignment; maintained by a trigger.';
COMMENT ON COLUMN conciliation.erp_payable.stated_at IS
  'The instant as of which the row counts: the start of the import that stated or closed the payable, or of the transaction that wrote the row by SQL.';
COMMENT ON COLUMN conciliation.erp_payable.import_id IS
  'The newest import that stated the payable. Null: none; the ERP wrote the row by SQL. A snapshot does not close such a row.';
COMMENT ON COLUMN conciliation.erp_payable.closed_at IS
  'When a complete snapshot lacked the payable. Null: it did not.';
COMMENT ON COLUMN conciliation.erp_payable.created_at IS
  'When the row was inserted.';
COMMENT ON COLUMN conciliation.erp_payable.changed_at IS
  'When the content or closed_at changed last; maintained by a trigger.';

CREATE FUNCTION conciliation.payable_tax_id(written text, field text) RETURNS text
LANGUAGE plpgsql STRICT SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  normal text := conciliation.tax_id(written);
BEGIN
  IF normal ~ '^([0-9]{11}|[0-9A-Z]{12}[0-9]{2})$' THEN
    RETURN normal;
  END IF;
  RAISE check_violation USING
    MESSAGE = field || ': expected a CPF or CNPJ with the right check digits, and with its leading zeros',
    HINT = 'A CPF has 11 digits. A CNPJ has 12 characters of 0-9 and A-Z, and 2 digits. The mask, blanks and lower case are accepted.',
    SCHEMA = 'conciliation', TABLE = 'erp_payable', COLUMN = field, CONSTRAINT = 'erp_payable_' || field || '_check';
END
$$;

COMMENT ON FUNCTION conciliation.payable_tax_id(text, text) IS
  'The normal form of a tax identifier that the ERP wrote in a column of erp_payable. Raises an error that names the column where the text has none.';

CREATE FUNCTION conciliation.keep_erp_payable() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  -- Those that an import trims.
  blanks constant text := E'\t\n\u000B\f\r \u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A'
    || E'\u2028\u2029\u202F\u205F\u3000\uFEFF';
BEGIN
  -- A row that the ERP writes by SQL gets the form that an import gives it. The program has given that form to its
  -- own rows, and each of its statements changes one of these columns, which the ERP's role cannot write.
  IF TG_OP = 'INSERT'
     OR (NEW.import_id, NEW.closed_at, NEW.stated_at) IS NOT DISTINCT FROM (OLD.import_id, OLD.closed_at, OLD.stated_at)
  THEN
    NEW.erp_key := btrim(NEW.erp_key, blanks);
    NEW.company := nullif(btrim(NEW.company, blanks), '');
    NEW.supplier_external_id := nullif(btrim(NEW.supplier_external_id, blanks), '');
    NEW.supplier_tax_id :=
      conciliation.payable_tax_id(nullif(btrim(NEW.supplier_tax_id, blanks), ''), 'supplier_tax_id');
    NEW.document := nullif(btrim(NEW.document, blanks), '');
    NEW.instalment := nullif(btrim(NEW.instalment, blanks), '');
    NEW.order_uid := nullif(btrim(NEW.order_uid, blanks), '');
    NEW.status := coalesce(nullif(lower(btrim(NEW.status, blanks)), ''), 'open');
    NEW.payee := conciliation.payable_tax_id(nullif(btrim(NEW.payee, blanks), ''), 'payee');
    NEW.version := nullif(btrim(NEW.version, blanks), '');
    NEW.settled_as := nullif(lower(btrim(NEW.settled_as, blanks)), '');
    NEW.settled_by := nullif(lower(btrim(NEW.settled_by, blanks)), '');
    NEW.paid_to := conciliation.payable_tax_id(nullif(btrim(NEW.paid_to, blanks), ''), 'paid_to');
    NEW.currency := nullif(btrim(NEW.currency, blanks), '');
    NEW.booking_key := nullif(lower(btrim(NEW.booking_key, blanks)), '');
    NEW.stated_at := greatest(NEW.stated_at, CURRENT_TIMESTAMP);
  END IF;
  IF TG_OP = 'UPDATE' AND OLD.settled_as = 'assignment' THEN
    NEW.was_assigned := true;
  END IF;
  IF TG_OP = 'UPDATE' AND
     (NEW.erp_key, NEW.company, NEW.supplier_external_id, NEW.supplier_tax_id, NEW.document, NEW.instalment,
      NEW.order_uid, NEW.due_date, NEW.open_value, NEW.status, NEW.payee, NEW.version, NEW.settled_as,
      NEW.settled_by, NEW.settled_on, NEW.paid_to, NEW.total_value, NEW.currency, NEW.booking_key, NEW.issue_date,
      NEW.closed_at)
     IS DISTINCT FROM
     (OLD.erp_key, OLD.company, OLD.supplier_external_id, OLD.supplier_tax_id, OLD.document, OLD.instalment,
      OLD.order_uid, OLD.due_date, OLD.open_value, OLD.status, OLD.payee, OLD.version, OLD.settled_as,
      OLD.settled_by, OLD.settled_on, OLD.paid_to, OLD.total_value, OLD.currency, OLD.booking_key, OLD.issue_date,
      OLD.closed_at)
  THEN
    NEW.changed_at := clock_timestamp();
  END IF;
  RETURN NEW;
END
$$;

COMMENT ON FUNCTION conciliation.keep_erp_payable() IS
  'Gives rows of erp_payable that the ERP writes by SQL their normal form and stated_at, and maintains changed_at and was_assigned.';

-- An import inserts rows in normal form, so that it need not wait for the function.
CREATE TRIGGER erp_payable_inserted BEFORE INSERT ON conciliation.erp_payable
  FOR EACH ROW WHEN (NEW.import_id IS NULL) EXECUTE FUNCTION conciliation.keep_erp_payable();

CREATE TRIGGER erp_payable_updated BEFORE UPDATE ON conciliation.erp_payable
  FOR EACH ROW EXECUTE FUNCTION conciliation.keep_erp_payable();

CREATE FUNCTION conciliation.is_older_version(version text, than text) RETURNS boolean
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  number constant text := '^[+-]?[0-9]+$';
  day constant text := '^[0-9]{4}-[0-9]{2}-[0-9]{2}$';
  local_time constant text := '^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?$';
  instant constant text :=
    '^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)$';
BEGIN
  IF version ~ number AND than ~ number THEN
    RETURN version::numeric < than::numeric;
  END IF;
  BEGIN
    IF version ~ day AND than ~ day OR version ~ local_time AND than ~ local_time THEN
      RETURN version::timestamp < than::timestamp;
    ELSIF version ~ instant AND than ~ instant THEN
      RETURN version::timestamptz < than::timestamptz;
    END IF;
  -- No day or time of the calendar.
  EXCEPTION WHEN data_exception THEN
    NULL;
  END;
  RETURN NULL;
END
$$;

COMMENT ON FUNCTION conciliation.is_older_version(text, text) IS
  'Whether a version of a payable is older than another: integers as numbers, dates, times and times with an offset of ISO 8601. Null: the texts have different forms or another form.';


CREATE TABLE conciliation.erp_balance (
  -- An identity, because an insert needs no right to its sequence.
  id        bigint      GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  company   text        NOT NULL,
  agent     text        NOT NULL,
  as_of     date        NOT NULL,
  balance   numeric     NOT NULL,
  stated_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  stated_by text        NOT NULL DEFAULT CURRENT_USER,

  CONSTRAINT erp_balance_company_check CHECK (company ~ '^[0-9A-Z]{12}[0-9]{2}$'),
  CONSTRAINT erp_balance_agent_check CHECK (agent ~ '^[0-9A-Z]{12}[0-9]{2}$'),
  -- As erp_payable.open_value.
  CONSTRAINT erp_balance_balance_check CHECK (abs(balance) < 1e18 AND balance = round(balance, 2)),
  CONSTRAINT erp_balance_date_check CHECK (as_of BETWEEN '0001-01-01' AND '9999-12-31')
);

CREATE INDEX erp_balance_account_idx ON conciliation.erp_balance (company, agent, as_of, id);

COMMENT ON TABLE conciliation.erp_balance IS
  'Balances of the accounts in which the ERP keeps what a company owes to a financial agent. The newest date of an account counts, and of a date the newest row.';
COMMENT ON COLUMN conciliation.erp_balance.id IS
  'Key of the row.';
COMMENT ON COLUMN conciliation.erp_balance.company IS
  'CNPJ of the company, the buyer of the titles, in normal form.';
COMMENT ON COLUMN conciliation.erp_balance.agent IS
  'CNPJ of the financial agent in normal form.';
COMMENT ON COLUMN conciliation.erp_balance.as_of IS
  'The day at whose end the account had the balance.';
COMMENT ON COLUMN conciliation.erp_balance.balance IS
  'What the company owes, an exact decimal. Negative: the agent owes.';
COMMENT ON COLUMN conciliation.erp_balance.stated_at IS
  'When the row was inserted.';
COMMENT ON COLUMN conciliation.erp_balance.stated_by IS
  'The API key or the person, or the database user that wrote the row by SQL.';

CREATE FUNCTION conciliation.keep_erp_balance() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  -- A text that is no CNPJ gets a form that the constraints refuse.
  NEW.company := conciliation.tax_id(NEW.company, true);
  NEW.agent := conciliation.tax_id(NEW.agent, true);
  -- The newest date counts, so a balance of a later day would hide all balances until then. TIMEZONE is not known here.
  IF NEW.as_of > (CURRENT_TIMESTAMP AT TIME ZONE 'Pacific/Kiritimati')::date THEN
    RAISE EXCEPTION 'as_of: expected a date that is not after today' USING ERRCODE = 'IN001';
  END IF;
  RETURN NEW;
END
$$;

COMMENT ON FUNCTION conciliation.keep_erp_balance() IS
  'Gives the identifiers of a row of erp_balance their normal form, and refuses a day that has begun nowhere.';

CREATE TRIGGER erp_balance_inserted BEFORE INSERT ON conciliation.erp_balance
  FOR EACH ROW EXECUTE FUNCTION conciliation.keep_erp_balance();

CREATE TRIGGER erp_balance_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON conciliation.erp_balance
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();


CREATE TABLE conciliation.erp_payable_reject (
  id         bigserial   PRIMARY KEY,
  import_id  bigint      NOT NULL REFERENCES conciliation.erp_payable_import (id),
  at         integer     NOT NULL,
  reasons    text[]      NOT NULL,
  raw        text        NOT NULL,
  created_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP
) WITH (autovacuum_vacuum_threshold = 50000, autovacuum_vacuum_scale_factor = 0,
        autovacuum_analyze_threshold = 50000, autovacuum_analyze_scale_factor = 0);

CREATE INDEX erp_payable_reject_import_idx ON conciliation.erp_payable_reject (import_id, at);

COMMENT ON TABLE conciliation.erp_payable_reject IS
  'Payables that an import left out because of a fault.';
COMMENT ON COLUMN conciliation.erp_payable_reject.id IS
  'Key of the reject.';
COMMENT ON COLUMN conciliation.erp_payable_reject.import_id IS
  'The import.';
COMMENT ON COLUMN conciliation.erp_payable_reject.at IS
  'The line of a CSV file, or the place in the list of a JSON file or a request, from 1.';
COMMENT ON COLUMN conciliation.erp_payable_reject.reasons IS
  'The faults: the field and the expected value, without the actual one.';
COMMENT ON COLUMN conciliation.erp_payable_reject.raw IS
  'The payable as it was written: the cells of a row as a JSON list, or the JSON value. Personal data.';
COMMENT ON COLUMN conciliation.erp_payable_reject.created_at IS
  'When the payable was rejected.';


-- Matches of titles with payables --------------------------------------------------------------

CREATE TABLE conciliation.match_run (
  id                 bigserial   PRIMARY KEY,
  started_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
  requested_by       text        NOT NULL,
  rule_version       smallint    NOT NULL,
  matched            integer     NOT NULL DEFAULT 0,
  reopened           integer     NOT NULL DEFAULT 0,
  time_zone          text        NOT NULL DEFAULT 'America/Sao_Paulo',
  bookings_from      date,
  payables_seen      numeric     NOT NULL DEFAULT 0,
  bookings_seen      bigint      NOT NULL DEFAULT 0,
  states_paid        boolean     NOT NULL DEFAULT false,
  unmapped_companies integer     NOT NULL DEFAULT 0,
  breaks_known       boolean     NOT NULL DEFAULT false,
  agreed             jsonb       NOT NULL DEFAULT '[]'
);

COMMENT ON TABLE conciliation.match_run IS
  'Every run of the matching that changed a match, and the newest run.';
COMMENT ON COLUMN conciliation.match_run.id IS
  'Key of the run.';
COMMENT ON COLUMN conciliation.match_run.started_at IS
  'When the run read the tables. Later changes wait for the next run.';
COMMENT ON COLUMN conciliation.match_run.requested_by IS
  'The person, or matching for the service.';
COMMENT ON COLUMN conciliation.match_run.rule_version IS
  'The version of the rules.';
COMMENT ON COLUMN conciliation.match_run.matched IS
  'Matches that the run made.';
COMMENT ON COLUMN conciliation.match_run.reopened IS
  'Matches of the program that the run ended, because they had lost their ground.';
COMMENT ON COLUMN conciliation.match_run.time_zone IS
  'TIMEZONE of the program, whose days decide what is due.';
COMMENT ON COLUMN conciliation.match_run.bookings_from IS
  'BOOKINGS_FROM of the program. Null: not set.';
COMMENT ON COLUMN conciliation.match_run.payables_seen IS
  'The sum of erp_payable.changed_at in seconds, of the payables that the run saw and that had changed within a day before. Another sum at a later time means that a payable was committed since, whenever its transaction began.';
COMMENT ON COLUMN conciliation.match_run.bookings_seen IS
  'The newest booking_batch.id plus the newest booking_receipt.id with an outcome, as the run saw them. A greater sum later means that a booking changed since.';
COMMENT ON COLUMN conciliation.match_run.states_paid IS
  'Whether the newest complete snapshot of the ERP states a paid payable. A payable that a snapshot of such an ERP lacks was not paid.';
COMMENT ON COLUMN conciliation.match_run.unmapped_companies IS
  'Companies of the payables that stand for no known buyer, although there are several companies or buyers. A person confirms their buyers.';
COMMENT ON COLUMN conciliation.match_run.breaks_known IS
  'Whether the run has written the breaks, and no person has decided about a match or a break since.';
COMMENT ON COLUMN conciliation.match_run.agreed IS
  'The current titles with a payable after the run: for each accepted date their number and their original value.';


-- What a person has confirmed about companies and parties, for the matching.
CREATE TABLE conciliation.company_buyer (
  id           bigserial   PRIMARY KEY,
  company      text        NOT NULL,
  buyer        text        NOT NULL,
  confirmed_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  confirmed_by text        NOT NULL,
  reason       text        NOT NULL,
  ended_at     timestamptz,
  ended_by     text,

  CONSTRAINT company_buyer_buyer_check CHECK (buyer ~ '^[0-9A-Z]{12}\d{2}$'),
  CONSTRAINT company_buyer_end_check CHECK ((ended_at IS NULL) = (ended_by IS NULL))
);

CREATE UNIQUE INDEX company_buyer_key ON conciliation.company_buyer (company, buyer) WHERE ended_at IS NULL;

COMMENT ON TABLE conciliation.company_buyer IS
  'The buyers that a company of the ERP stands for. One company may have several buyers, such as branches or the head office that a contract names.';
COMMENT ON COLUMN conciliation.company_buyer.id IS
  'Key of the row.';
COMMENT ON COLUMN conciliation.company_buyer.company IS
  'The company as erp_payable.company.';
COMMENT ON COLUMN conciliation.company_buyer.buyer IS
  'CNPJ of the buyer in normal form, see title.buyer_identification.';
COMMENT ON COLUMN conciliation.company_buyer.confirmed_at IS
  'When the person confirmed the row.';
COMMENT ON COLUMN conciliation.company_buyer.confirmed_by IS
  'The person who confirmed the row.';
COMMENT ON COLUMN conciliation.company_buyer.reason IS
  'The reason of the person.';
COMMENT ON COLUMN conciliation.company_buyer.ended_at IS
  'When a person ended the row. Null: the row counts.';
COMMENT ON COLUMN conciliation.company_buyer.ended_by IS
  'The person who ended the row. Null: the row counts.';


CREATE TABLE conciliation.party_equivalent (
  id           bigserial   PRIMARY KEY,
  tax_id       text        NOT NULL,
  same_as      text        NOT NULL,
  confirmed_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  confirmed_by text        NOT NULL,
  reason       text        NOT NULL,
  ended_at     timestamptz,
  ended_by     text,

  -- Each pair has one writing.
  CONSTRAINT party_equivalent_order_check CHECK (tax_id < same_as),
  CONSTRAINT party_equivalent_tax_id_check
    CHECK (tax_id ~ '^[0-9A-Z]{12}\d{2}$' AND same_as ~ '^[0-9A-Z]{12}\d{2}$'),
  CONSTRAINT party_equivalent_end_check CHECK ((ended_at IS NULL) = (ended_by IS NULL))
);

CREATE UNIQUE INDEX party_equivalent_key ON conciliation.party_equivalent (tax_id, same_as) WHERE ended_at IS NULL;

COMMENT ON TABLE conciliation.party_equivalent IS
  'Pairs of companies that are one financial agent, such as a fund and its administrator. Branches count as their company.';
COMMENT ON COLUMN conciliation.party_equivalent.id IS
  'Key of the row.';
COMMENT ON COLUMN conciliation.party_equivalent.tax_id IS
  'CNPJ in normal form.';
COMMENT ON COLUMN conciliation.party_equivalent.same_as IS
  'CNPJ of the other company in normal form.';
COMMENT ON COLUMN conciliation.party_equivalent.confirmed_at IS
  'When the person confirmed the pair.';
COMMENT ON COLUMN conciliation.party_equivalent.confirmed_by IS
  'The person who confirmed the pair.';
COMMENT ON COLUMN conciliation.party_equivalent.reason IS
  'The reason of the person.';
COMMENT ON COLUMN conciliation.party_equivalent.ended_at IS
  'When a person ended the pair. Null: the pair counts.';
COMMENT ON COLUMN conciliation.party_equivalent.ended_by IS
  'The person who ended the pair. Null: the pair counts.';


CREATE TABLE conciliation.holiday (
  id           bigserial   PRIMARY KEY,
  date         date        NOT NULL,
  name         text        NOT NULL,
  confirmed_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  confirmed_by text        NOT NULL,
  ended_at     timestamptz,
  ended_by     text,

  CONSTRAINT holiday_end_check CHECK ((ended_at IS NULL) = (ended_by IS NULL))
);

CREATE UNIQUE INDEX holiday_key ON conciliation.holiday (date) WHERE ended_at IS NULL;

COMMENT ON TABLE conciliation.holiday IS
  'Holidays that a person has added to the national ones, such as those of a state or a city.';
COMMENT ON COLUMN conciliation.holiday.id IS
  'Key of the row.';
COMMENT ON COLUMN conciliation.holiday.date IS
  'The day without service.';
COMMENT ON COLUMN conciliation.holiday.name IS
  'The name of the holiday.';
COMMENT ON COLUMN conciliation.holiday.confirmed_at IS
  'When the person added the holiday.';
COMMENT ON COLUMN conciliation.holiday.confirmed_by IS
  'The person who added the holiday.';
COMMENT ON COLUMN conciliation.holiday.ended_at IS
  'When a person ended the holiday. Null: the holiday counts.';
COMMENT ON COLUMN conciliation.holiday.ended_by IS
  'The person who ended the holiday. Null: the holiday counts.';


CREATE TABLE conciliation.closed_day (
  date         date PRIMARY KEY,
  business_day date NOT NULL
);

COMMENT ON TABLE conciliation.closed_day IS
  'Every day of the years 2010 to 2059 on which banks pay nothing, with the day on which they pay instead. The service writes the rows at its start and when a holiday changes.';
COMMENT ON COLUMN conciliation.closed_day.date IS
  'Saturday, Sunday, national holiday, 31 December, or a date of the table holiday.';
COMMENT ON COLUMN conciliation.closed_day.business_day IS
  'The next or the last business day, as BUSINESS_DAY_RULE says.';


CREATE TABLE conciliation.matching_rule (
  id              bigserial   PRIMARY KEY,
  due_days        smallint    NOT NULL,
  value_tolerance numeric     NOT NULL,
  confirmed_at    timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  confirmed_by    text        NOT NULL,
  reason          text        NOT NULL,

  CONSTRAINT matching_rule_due_days_check CHECK (due_days BETWEEN 0 AND 10),
  CONSTRAINT matching_rule_value_tolerance_check CHECK (value_tolerance BETWEEN 0 AND 1000000)
);

COMMENT ON TABLE conciliation.matching_rule IS
  'The tolerances of the matching, as persons have set them. The newest row counts.';
COMMENT ON COLUMN conciliation.matching_rule.id IS
  'Key of the row.';
COMMENT ON COLUMN conciliation.matching_rule.due_days IS
  'The most days between the due dates of a title and a payable that fit.';
COMMENT ON COLUMN conciliation.matching_rule.value_tolerance IS
  'The greatest difference in value of a proposal. The program makes no match with a difference.';
COMMENT ON COLUMN conciliation.matching_rule.confirmed_at IS
  'When the person set the values.';
COMMENT ON COLUMN conciliation.matching_rule.confirmed_by IS
  'The person who set the values.';
COMMENT ON COLUMN conciliation.matching_rule.reason IS
  'The reason of the person.';


CREATE TABLE conciliation.title_match (
  id            bigserial   PRIMARY KEY,
  title_id      bigint      NOT NULL,
  erp_key       text        NOT NULL REFERENCES conciliation.erp_payable (erp_key),
  sum_id        bigint,
  title_part    smallint    NOT NULL DEFAULT 0,
  erp_part      smallint    NOT NULL DEFAULT 0,
  rule          text        NOT NULL,
  rule_version  smallint    NOT NULL,
  run_id        bigint,
  made_at       timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  made_by       text        NOT NULL,
  code          text,
  reason        text,
  title_ground  uuid        NOT NULL,
  erp_ground    uuid        NOT NULL,
  erp_value     numeric     NOT NULL,
  difference    numeric     NOT NULL DEFAULT 0,
  ended_at      timestamptz,
  ended_by      text,
  end_reason    text,

  CONSTRAINT title_match_rule_check CHECK (rule IN ('order', 'exact', 'tolerance', 'sum', 'inherited', 'person')),
  CONSTRAINT title_match_run_check CHECK ((rule = 'person') = (run_id IS NULL)),
  CONSTRAINT title_match_sum_check
    CHECK (CASE rule WHEN 'sum' THEN sum_id IS NOT NULL WHEN 'person' THEN true ELSE sum_id IS NULL END),
  CONSTRAINT title_match_code_check
    CHECK (code IS NULL OR code IN ('corrected', 'booked_outside', 'agreed', 'accepted', 'other') AND rule = 'person'),
  CONSTRAINT title_match_difference_check CHECK (difference = 0 OR rule = 'person'),
  -- One side of a sum is one title or one payable.
  CONSTRAINT title_match_part_check
    CHECK (title_part BETWEEN 0 AND 4 AND erp_part BETWEEN 0 AND 4
           AND (title_part = 0 OR erp_part = 0) AND (sum_id IS NOT NULL OR title_part + erp_part = 0)),
  CONSTRAINT title_match_end_check CHECK (num_nulls(ended_at, ended_by, end_reason) IN (0, 3))
) WITH (autovacuum_vacuum_threshold = 50000, autovacuum_vacuum_scale_factor = 0,
        autovacuum_analyze_threshold = 50000, autovacuum_analyze_scale_factor = 0);

-- Every match has a row with part 0 of each of its titles and payables, so nothing is in two matches.
CREATE UNIQUE INDEX title_match_title_key
  ON conciliation.title_match (title_id, title_part) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX title_match_payable_key
  ON conciliation.title_match (erp_key, erp_part) WHERE ended_at IS NULL;
-- Finds the titles that a payable had before.
CREATE INDEX title_match_ended_idx ON conciliation.title_match (erp_key) WHERE ended_at IS NOT NULL;
CREATE INDEX title_match_title_idx ON conciliation.title_match (title_id);
-- Finds what a person has decided.
CREATE INDEX title_match_person_idx
  ON conciliation.title_match (coalesce(ended_by, CASE rule WHEN 'person' THEN made_by END));
CREATE INDEX title_match_sum_idx ON conciliation.title_match (sum_id) WHERE sum_id IS NOT NULL;

COMMENT ON TABLE conciliation.title_match IS
  'Every match of a title with a payable of the ERP. A match of several payables or titles has a row for each of them, with one sum_id. A title and a payable have one match at most that has not ended.';
COMMENT ON COLUMN conciliation.title_match.id IS
  'Key of the match.';
COMMENT ON COLUMN conciliation.title_match.title_id IS
  'title.id.';
COMMENT ON COLUMN conciliation.title_match.erp_key IS
  'erp_payable.erp_key.';
COMMENT ON COLUMN conciliation.title_match.sum_id IS
  'The number that the rows of one sum share. Null: one title and one payable.';
COMMENT ON COLUMN conciliation.title_match.title_part IS
  'The place of the payable among those of the title, from 0. 0 where the title has one.';
COMMENT ON COLUMN conciliation.title_match.erp_part IS
  'The place of the title among those of the payable, from 0. 0 where the payable has one.';
COMMENT ON COLUMN conciliation.title_match.rule IS
  'order: the order and the value. exact: supplier, value and due date. tolerance: supplier, value, and a due date within the tolerance. sum: supplier, due date and the sum of the values. inherited: taken over from the title that this one replaces. person: a person made the match.';
COMMENT ON COLUMN conciliation.title_match.rule_version IS
  'The version of the rules.';
COMMENT ON COLUMN conciliation.title_match.run_id IS
  'The run that made the match. Null: a person made it.';
COMMENT ON COLUMN conciliation.title_match.made_at IS
  'When the match was made.';
COMMENT ON COLUMN conciliation.title_match.made_by IS
  'The person who made the match, or requested the run.';
COMMENT ON COLUMN conciliation.title_match.code IS
  'Why the person matched the two, as break_decision.code. Null: the program made the match.';
COMMENT ON COLUMN conciliation.title_match.reason IS
  'The reason of the person. Null: the program made the match.';
COMMENT ON COLUMN conciliation.title_match.title_ground IS
  'Hash of the fields of the title that the rules compare, as they were.';
COMMENT ON COLUMN conciliation.title_match.erp_ground IS
  'Hash of the fields of the payable that the rules compare, as they were.';
COMMENT ON COLUMN conciliation.title_match.erp_value IS
  'The whole value of the payable, or its open value where the ERP did not state the whole, as it was.';
COMMENT ON COLUMN conciliation.title_match.difference IS
  'What was open of the payables minus the value of the title, as the person confirmed it. The lines of the title post this difference too. On the row with title_part 0; 0 on the others.';
COMMENT ON COLUMN conciliation.title_match.ended_at IS
  'When the match ended. Null: it lasts.';
COMMENT ON COLUMN conciliation.title_match.ended_by IS
  'The person who undid the match; matching: a run ended the match. Null: the match lasts.';
COMMENT ON COLUMN conciliation.title_match.end_reason IS
  'Why the match ended. Null: it lasts.';


CREATE TABLE conciliation.erp_break (
  id            uuid     PRIMARY KEY,
  kind          text     NOT NULL,
  severity      smallint NOT NULL,
  waits         boolean  NOT NULL,
  title_id      bigint,
  erp_key       text,
  candidates    text[]   NOT NULL,
  accepted_date date,
  since         date     NOT NULL,
  value         numeric  NOT NULL,
  ground        uuid     NOT NULL,

  CONSTRAINT erp_break_subject_check CHECK (num_nonnulls(title_id, erp_key) > 0),
  CONSTRAINT erp_break_severity_check CHECK (severity IN (1, 2))
);

CREATE INDEX erp_break_title_idx ON conciliation.erp_break (title_id);
CREATE INDEX erp_break_payable_idx ON conciliation.erp_break (erp_key);

COMMENT ON TABLE conciliation.erp_break IS
  'The breaks between titles and payables, as the newest run of the matching found them. A break with a break_resolution of its ground is resolved.';
COMMENT ON COLUMN conciliation.erp_break.id IS
  'Hash of the other columns.';
COMMENT ON COLUMN conciliation.erp_break.kind IS
  'The kind of the break.';
COMMENT ON COLUMN conciliation.erp_break.severity IS
  '2: urgent, money may be paid twice or to the wrong party. 1: otherwise.';
COMMENT ON COLUMN conciliation.erp_break.waits IS
  'Whether the title is not released while the break is open.';
COMMENT ON COLUMN conciliation.erp_break.title_id IS
  'title.id. Null: the break has no title.';
COMMENT ON COLUMN conciliation.erp_break.erp_key IS
  'erp_payable.erp_key. Null: the break has no payable.';
COMMENT ON COLUMN conciliation.erp_break.candidates IS
  'erp_key of the open payables that must not be paid before a person has looked: that of the break, unless only its supplier and due date are those of the title, and, of a title without a match, those without a match that may be that of the title: with its value and its order or due date; if there is none, with nearly its due date and its value or order; otherwise with its supplier and due date and nearly its value. Beside a cancelled payable of the break, or a settled one of another value: only those of the first kind. Beside a settled one of the value: none. Of a title without a match, also those of the matches that the program has ended, of the title and of those that it continues, and what their invoices were entered as again.';
COMMENT ON COLUMN conciliation.erp_break.accepted_date IS
  'Of the title.';
COMMENT ON COLUMN conciliation.erp_break.since IS
  'The accepted date of the title, or the day on which the ERP first stated the payable.';
COMMENT ON COLUMN conciliation.erp_break.value IS
  'The original value of the title, or the open value of the payable.';
COMMENT ON COLUMN conciliation.erp_break.ground IS
  'Hash of the kind and of both sides as they were.';


CREATE TABLE conciliation.break_decision (
  id         bigserial   PRIMARY KEY,
  kind       text        NOT NULL,
  title_id   bigint,
  erp_key    text,
  ground     uuid        NOT NULL,
  decided_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  decided_by text        NOT NULL,
  code       text        NOT NULL,
  reason     text        NOT NULL,

  CONSTRAINT break_decision_subject_check CHECK (num_nonnulls(title_id, erp_key) > 0),
  CONSTRAINT break_decision_code_check
    CHECK (code IN ('corrected', 'booked_outside', 'agreed', 'accepted', 'other', 'reopened'))
);

CREATE INDEX break_decision_title_idx ON conciliation.break_decision (title_id);
CREATE INDEX break_decision_payable_idx ON conciliation.break_decision (erp_key);

COMMENT ON TABLE conciliation.break_decision IS
  'Breaks that a person has resolved, or opened again, with a reason. The newest decision counts while both sides are as the person saw them.';
COMMENT ON COLUMN conciliation.break_decision.id IS
  'Key of the decision.';
COMMENT ON COLUMN conciliation.break_decision.kind IS
  'The kind of the break.';
COMMENT ON COLUMN conciliation.break_decision.title_id IS
  'title.id. Null: the break has no title.';
COMMENT ON COLUMN conciliation.break_decision.erp_key IS
  'erp_payable.erp_key. Null: the break has no payable.';
COMMENT ON COLUMN conciliation.break_decision.ground IS
  'erp_break.ground as the person saw it.';
COMMENT ON COLUMN conciliation.break_decision.decided_at IS
  'When the person decided.';
COMMENT ON COLUMN conciliation.break_decision.decided_by IS
  'The person.';
COMMENT ON COLUMN conciliation.break_decision.code IS
  'corrected: it is being corrected in the ERP or on the platform. booked_outside: the ERP has it under other keys. agreed: settled with the other party. accepted: the difference is accepted. other: see the reason. reopened: the break is open again.';
COMMENT ON COLUMN conciliation.break_decision.reason IS
  'The reason in words.';

CREATE VIEW conciliation.break_resolution AS
SELECT ground, decided_at, decided_by, code, reason FROM (
  SELECT DISTINCT ON (ground) * FROM conciliation.break_decision ORDER BY ground, id DESC
) AS newest WHERE code <> 'reopened';

COMMENT ON VIEW conciliation.break_resolution IS
  'The newest decision about each break in its state, where the decision has resolved the break.';
COMMENT ON COLUMN conciliation.break_resolution.ground IS
  'erp_break.ground.';
COMMENT ON COLUMN conciliation.break_resolution.decided_at IS
  'break_decision.decided_at.';
COMMENT ON COLUMN conciliation.break_resolution.decided_by IS
  'break_decision.decided_by.';
COMMENT ON COLUMN conciliation.break_resolution.code IS
  'break_decision.code.';
COMMENT ON COLUMN conciliation.break_resolution.reason IS
  'break_decision.reason.';


CREATE VIEW conciliation.title_payable AS
SELECT title_id, erp_key FROM conciliation.title_match WHERE ended_at IS NULL;

COMMENT ON VIEW conciliation.title_payable IS
  'The payables that each matched title has. A title or a payable of a sum has several rows.';
COMMENT ON COLUMN conciliation.title_payable.title_id IS
  'title.id.';
COMMENT ON COLUMN conciliation.title_payable.erp_key IS
  'erp_payable.erp_key.';


-- Bookings -------------------------------------------------------------------------------------

-- What a seal releases to the ERP, and what the ERP answers. docs/bookings.md describes the use of the tables.
-- They stay empty until BOOKINGS_FROM is set.

CREATE TABLE conciliation.booking_consumer (
  name            text        PRIMARY KEY,
  database_role   text,
  api_key_id      bigint,
  buyers          text[],
  created_at      timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,

  CONSTRAINT booking_consumer_name_check CHECK (name ~ '^[a-z][a-z0-9_-]{0,62}$')
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
COMMENT ON COLUMN conciliation.booking_consumer.created_at IS
  'When the consumer was named.';

-- The policies are in prisma/roles.sql, because the roles need not exist when a migration runs. Without a
-- policy only the owner of the table reads or writes rows.
ALTER TABLE conciliation.booking_consumer ENABLE ROW LEVEL SECURITY;


-- A table of its own, because a login that may update a column of a row may also lock the row, and the lines of a
-- sign-off refer to booking_consumer.
CREATE TABLE conciliation.booking_position (
  consumer        text        PRIMARY KEY REFERENCES conciliation.booking_consumer (name)
                              ON DELETE RESTRICT ON UPDATE RESTRICT,
  last_seq        bigint      NOT NULL DEFAULT 0,
  acknowledged_at timestamptz,

  CONSTRAINT booking_position_last_seq_check CHECK (last_seq >= 0)
);

INSERT INTO conciliation.booking_position (consumer) VALUES ('erp');

COMMENT ON TABLE conciliation.booking_position IS
  'The positions of the consumers in booking_feed. A database user sees and updates the row of its own consumer only.';
COMMENT ON COLUMN conciliation.booking_position.consumer IS
  'booking_consumer.name.';
COMMENT ON COLUMN conciliation.booking_position.last_seq IS
  'The greatest booking_feed.seq that the consumer has processed, as the consumer stated last. 0: none.';
COMMENT ON COLUMN conciliation.booking_position.acknowledged_at IS
  'When the consumer stated last_seq. Null: never.';

ALTER TABLE conciliation.booking_position ENABLE ROW LEVEL SECURITY;


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
  original_value_sum             numeric     NOT NULL DEFAULT 0,
  platform_discounted_value_sum  numeric     NOT NULL DEFAULT 0,
  financial_discounted_value_sum numeric     NOT NULL DEFAULT 0,
  buyer_discounted_value_sum     numeric     NOT NULL DEFAULT 0,
  billing_fee_sum                numeric     NOT NULL DEFAULT 0,
  money_transfer_fee_sum         numeric     NOT NULL DEFAULT 0,
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
  'What the lines add to the sum of original_value: book adds, adjust adds the difference from the line that it succeeds, or all of its value after a reversal, and reverse subtracts.';
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

CREATE TRIGGER booking_batch_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON conciliation.booking_batch
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();


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
  failure_kind                   text,
  accounting_date                date      NOT NULL,
  accounting_basis               text      NOT NULL,
  erp_key                        text,
  posting_value                  numeric,
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
  promoted                       jsonb,

  CONSTRAINT booking_line_kind_check CHECK (kind IN ('book', 'adjust', 'reverse')),
  CONSTRAINT booking_line_state_check CHECK (state IN ('released', 'posted', 'failed', 'refused', 'superseded')),
  CONSTRAINT booking_line_failure_kind_check
    CHECK (failure_kind IN ('period_closed', 'supplier_unknown', 'payable_unknown', 'other')),
  CONSTRAINT booking_line_accounting_check
    CHECK (accounting_basis IN ('acceptance', 'event', 'erp')
           AND (accounting_basis <> 'acceptance' OR kind <> 'reverse' AND accounting_date = date)),
  CONSTRAINT booking_line_occurrence_check CHECK (occurrence >= 1),
  CONSTRAINT booking_line_version_check CHECK (version >= 1 AND succeeds < version),
  -- The content of a reversal is nothing, whatever it reverses.
  CONSTRAINT booking_line_content_check
    CHECK ((kind = 'reverse') = (content_hash = '00000000-0000-0000-0000-000000000000')),
  CONSTRAINT booking_line_dates_check
    CHECK (date BETWEEN '0001-01-01' AND '9999-12-31'
           AND anticipated_due_date BETWEEN '0001-01-01' AND '9999-12-31'
           AND accounting_date BETWEEN '0001-01-01' AND '9999-12-31')
) WITH (
  -- Grows with every title.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000
);

-- Also serves reads by date, because date is its first column.
CREATE UNIQUE INDEX booking_line_key ON conciliation.booking_line (date, identity_hash, occurrence, version);
CREATE INDEX booking_line_batch_idx ON conciliation.booking_line (batch_id);
CREATE INDEX booking_line_open_idx ON conciliation.booking_line (state, id) WHERE state IN ('released', 'failed', 'refused');
CREATE INDEX booking_line_erp_key_idx ON conciliation.booking_line (erp_key) WHERE erp_key IS NOT NULL;
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
  'released: the ERP has not answered. posted: the ERP has posted the line. failed: the ERP could not post the line, which is offered again, or repeated by a line of the next version with another payable or value. refused: the ERP will never post the line, which is repeated when the day is signed off again. superseded: not posted, because the ERP has posted a later version of the booking.';
COMMENT ON COLUMN conciliation.booking_line.state_at IS
  'Since when the line has the state.';
COMMENT ON COLUMN conciliation.booking_line.document IS
  'The document of the ERP, as of the newest receipt. Null: not posted. May be personal data.';
COMMENT ON COLUMN conciliation.booking_line.failure IS
  'The reason of the ERP, as of the newest receipt. Null: not failed. May be personal data.';
COMMENT ON COLUMN conciliation.booking_line.failure_kind IS
  'The kind of the failure, as of the newest receipt: period_closed, supplier_unknown, payable_unknown or other. Null: not failed.';
COMMENT ON COLUMN conciliation.booking_line.accounting_date IS
  'The day on which the ERP enters the line in its books: accounting_basis says why.';
COMMENT ON COLUMN conciliation.booking_line.accounting_basis IS
  'acceptance: a line of the kind book has the accepted date, and so has the next version of such a line that failed. event: a line of the kind adjust or reverse has the day of its release. erp: the ERP named the date because it had closed the period.';
COMMENT ON COLUMN conciliation.booking_line.erp_key IS
  'The ERP''s key of the payable that the title was matched with at the release. Null: no payable was matched, or no payables are given.';
COMMENT ON COLUMN conciliation.booking_line.posting_value IS
  'The value to post: the original value, and the difference to the payable''s own value that a person has confirmed. Null: taken from a receipt.';
COMMENT ON COLUMN conciliation.booking_line.title_id IS
  'title.id of the title. Null: taken from a receipt.';
COMMENT ON COLUMN conciliation.booking_line.provider_destination IS
  'The undocumented fields of provider.bankAccount that name a destination, such as a Pix key. Null: none. Personal data.';
COMMENT ON COLUMN conciliation.booking_line.payment_destination IS
  'The undocumented fields of financialAgent.payment that name a destination, such as a Pix key. Null: none. Personal data.';
COMMENT ON COLUMN conciliation.booking_line.promoted IS
  'The values of the promoted fields that are content of the date, by name. Null: none. Personal data.';

CREATE TRIGGER booking_line_not_deleted
  BEFORE DELETE OR TRUNCATE ON conciliation.booking_line
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();

CREATE TRIGGER booking_line_kept
  BEFORE UPDATE ON conciliation.booking_line
  FOR EACH ROW
  WHEN (to_jsonb(OLD) - '{state,state_at,document,failure,failure_kind,accounting_date,accounting_basis,posted_hash}'::text[]
        IS DISTINCT FROM to_jsonb(NEW) - '{state,state_at,document,failure,failure_kind,accounting_date,accounting_basis,posted_hash}'::text[])
  EXECUTE FUNCTION conciliation.refuse_rewriting();


-- What a booking has come to is derived here alone.
CREATE VIEW conciliation.booking_version AS
SELECT
  line.*,
  line.version = max(line.version) OVER booking AS is_newest,
  max(line.version) FILTER (WHERE line.state = 'posted') OVER booking AS posted_version,
  (max(line.version) FILTER (WHERE line.state = 'posted') OVER booking
    = max(line.version) FILTER (WHERE line.state = 'posted' AND line.has_content) OVER booking) IS TRUE AS stands
FROM (
  SELECT *, coalesce(posted_hash, content_hash) <> '00000000-0000-0000-0000-000000000000' AS has_content
  FROM conciliation.booking_line
) AS line
WINDOW booking AS (PARTITION BY line.date, line.identity_hash, line.occurrence);

COMMENT ON VIEW conciliation.booking_version IS
  'booking_line with what follows from all lines of the booking. Every page, release and judgement of the program reads it here. A condition on date, identity_hash and occurrence is fast.';
COMMENT ON COLUMN conciliation.booking_version.has_content IS
  'Whether the ERP has a posting once the line is posted: the content of the line, or of the receipt that a person recorded for the line, is not nothing. So a recorded receipt decides, and not kind.';
COMMENT ON COLUMN conciliation.booking_version.is_newest IS
  'Whether the line has the greatest version of the booking.';
COMMENT ON COLUMN conciliation.booking_version.posted_version IS
  'The greatest version of the booking that is posted. Null: none.';
COMMENT ON COLUMN conciliation.booking_version.stands IS
  'Whether the ERP has a posting of the booking: the line with posted_version has content.';


CREATE TABLE conciliation.booking_offer (
  seq        bigserial   PRIMARY KEY,
  line_id    bigint      NOT NULL REFERENCES conciliation.booking_line (id) ON DELETE NO ACTION ON UPDATE NO ACTION,
  offered_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP
) WITH (
  -- Grows with every title.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000
);

CREATE INDEX booking_offer_line_idx ON conciliation.booking_offer (line_id);

COMMENT ON TABLE conciliation.booking_offer IS
  'The positions of lines in booking_feed. A released line is offered once, and once more after each receipt that says that it failed and that is not final, unless the next release repeats it. Numbered under the lock of the closing phase, in the order in which the transactions commit. Append-only.';
COMMENT ON COLUMN conciliation.booking_offer.seq IS
  'Position in booking_feed. When a seq is visible, no smaller one can still appear. Not dense: numbers may be skipped.';
COMMENT ON COLUMN conciliation.booking_offer.line_id IS
  'booking_line.id.';
COMMENT ON COLUMN conciliation.booking_offer.offered_at IS
  'When the line was offered.';

CREATE TRIGGER booking_offer_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON conciliation.booking_offer
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();

-- A wake-up for sessions that wait with LISTEN conciliation_booking.
CREATE FUNCTION conciliation.announce_offers() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  -- The position is text, because many readers of JSON round numbers beyond 2^53. The name of a consumer needs no escape.
  PERFORM pg_notify('conciliation_booking', format('{"consumer":"%s","seq":"%s"}', offered.consumer, offered.seq))
  FROM (
    SELECT line.consumer, max(added.seq) AS seq
    FROM added JOIN conciliation.booking_line AS line ON line.id = added.line_id
    GROUP BY line.consumer
  ) AS offered;
  RETURN NULL;
END
$$;

COMMENT ON FUNCTION conciliation.announce_offers() IS
  'Sends {"consumer":"erp","seq":"118"} to the channel conciliation_booking for each consumer with new offers. PostgreSQL delivers the message after the commit, to the sessions that listen at that time. A lost message loses no line: the reader goes on from its own position.';

REVOKE ALL ON FUNCTION conciliation.announce_offers() FROM PUBLIC;

CREATE TRIGGER booking_offer_announced
  AFTER INSERT ON conciliation.booking_offer
  REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.announce_offers();


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
  failure_kind    text,
  accounting_date date,
  is_final        boolean     NOT NULL DEFAULT false,
  received_at     timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  outcome         text,
  settled_at      timestamptz,
  settled_by      text,

  CONSTRAINT booking_receipt_outcome_check
    CHECK (outcome IN ('accepted', 'unknown_key', 'other_content', 'other_document', 'after_refusal', 'other_consumer', 'recorded', 'set_aside')
           AND (outcome IS NULL) = (settled_at IS NULL))
) WITH (
  -- Grows with every title.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000
);

CREATE UNIQUE INDEX booking_receipt_idempotency_key ON conciliation.booking_receipt (consumer, idempotency_key);
CREATE INDEX booking_receipt_line_idx
  ON conciliation.booking_receipt (date, identity_hash, occurrence, version);
CREATE INDEX booking_receipt_unsettled_idx ON conciliation.booking_receipt (id) WHERE outcome IS NULL;
CREATE INDEX booking_receipt_question_idx
  ON conciliation.booking_receipt (date) WHERE outcome IN ('unknown_key', 'other_content', 'other_document', 'after_refusal');

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
  'The ERP''s document. Null: failed. May be personal data.';
COMMENT ON COLUMN conciliation.booking_receipt.reason IS
  'Why the line could not be posted. Null: posted. May be personal data.';
COMMENT ON COLUMN conciliation.booking_receipt.failure_kind IS
  'Why the line failed: period_closed, supplier_unknown (the ERP has no such supplier), payable_unknown (the ERP finds no payable, or several), or other. Null: posted, or failed without a stated kind, which counts as other.';
COMMENT ON COLUMN conciliation.booking_receipt.accounting_date IS
  'With period_closed: the accounting date that the ERP accepts, not before date. The line is offered again with it. Null: not stated.';
COMMENT ON COLUMN conciliation.booking_receipt.is_final IS
  'True: failed, and the ERP will never post the line. The line is refused and not offered again.';
COMMENT ON COLUMN conciliation.booking_receipt.received_at IS
  'When the receipt was inserted.';
COMMENT ON COLUMN conciliation.booking_receipt.outcome IS
  'accepted: the line has the key, the content and the consumer. unknown_key: no line has the key. other_content: the line has another content. other_document: the line is posted with another document. after_refusal: posted, although the ERP had refused the line for good. These block the date until a person answers: recorded, if the ERP has posted it, or set_aside. other_consumer: the line belongs to another consumer; the receipt counts for nothing. Null: not compared yet.';
COMMENT ON COLUMN conciliation.booking_receipt.settled_at IS
  'When outcome was set. Null: not compared yet.';
COMMENT ON COLUMN conciliation.booking_receipt.settled_by IS
  'The person who answered the receipt. Null: the program. Personal data.';

-- In place of CHECK, whose error names no field.
CREATE FUNCTION conciliation.check_booking_receipt() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  -- With the blanks of Unicode, which a locale may not know.
  blank CONSTANT text := '^[[:space:]\u00A0\u2000-\u200D\u202F\u3000\uFEFF]*$';
  -- The columns that the program writes.
  program CONSTANT text[] := '{id,received_at,outcome,settled_at,settled_by}';
  fault text := CASE
    WHEN length(NEW.idempotency_key) > 200 OR NEW.idempotency_key ~ blank
      THEN 'idempotency_key: expected 1 to 200 characters, not only blanks'
    -- ON CONFLICT DO NOTHING would drop it. Of an erased receipt, the text is not there to compare.
    WHEN EXISTS (
      SELECT FROM conciliation.booking_receipt AS given
      WHERE (given.consumer, given.idempotency_key) = (NEW.consumer, NEW.idempotency_key)
        AND (to_jsonb(given) - program) <> (to_jsonb(NEW) - program)
        AND coalesce(given.document, given.reason) !~ '^erased-[0-9]+$')
      THEN 'idempotency_key: expected a key that no other receipt has'
    WHEN NEW.date NOT BETWEEN '0001-01-01' AND '9999-12-31' THEN 'date: expected a date from 0001-01-01 to 9999-12-31'
    WHEN NEW.occurrence < 1 THEN 'occurrence: expected at least 1'
    WHEN NEW.version NOT BETWEEN 1 AND 1000000000 THEN 'version: expected 1 to 1000000000'
    WHEN NEW.status NOT IN ('posted', 'failed') THEN 'status: expected posted or failed'
    WHEN NEW.status = 'posted' AND (length(NEW.document) <= 200 AND NEW.document !~ blank) IS NOT TRUE
      THEN 'document: expected 1 to 200 characters, not only blanks, with the status posted'
    WHEN NEW.status = 'failed' AND NEW.document IS NOT NULL THEN 'document: expected null with the status failed'
    WHEN NEW.status = 'failed' AND (length(NEW.reason) <= 2000 AND NEW.reason !~ blank) IS NOT TRUE
      THEN 'reason: expected 1 to 2000 characters, not only blanks, with the status failed'
    WHEN NEW.status = 'posted' AND NEW.reason IS NOT NULL THEN 'reason: expected null with the status posted'
    WHEN NEW.is_final AND NEW.status <> 'failed' THEN 'is_final: expected true only with the status failed'
    WHEN NEW.failure_kind NOT IN ('period_closed', 'supplier_unknown', 'payable_unknown', 'other')
         OR NEW.failure_kind IS NOT NULL AND NEW.status <> 'failed'
      THEN 'failure_kind: expected period_closed, supplier_unknown, payable_unknown or other, with the status failed'
    WHEN NEW.accounting_date NOT BETWEEN NEW.date AND '9999-12-31'
         OR NEW.accounting_date IS NOT NULL AND (NEW.failure_kind IS DISTINCT FROM 'period_closed' OR NEW.is_final)
      THEN format('accounting_date: expected a date from %s on, with the failure_kind period_closed and without is_final',
                  NEW.date)
  END;
BEGIN
  IF fault IS NOT NULL THEN
    -- The program passes the message of this SQLSTATE on to the sender.
    RAISE EXCEPTION 'receipt %: %', to_json(NEW.idempotency_key), fault USING ERRCODE = 'IN001';
  END IF;
  RETURN NEW;
END
$$;

COMMENT ON FUNCTION conciliation.check_booking_receipt() IS
  'Refuses a receipt with a fault. The message names the idempotency key, the field and what is expected.';

REVOKE ALL ON FUNCTION conciliation.check_booking_receipt() FROM PUBLIC;

CREATE TRIGGER booking_receipt_checked
  BEFORE INSERT ON conciliation.booking_receipt
  FOR EACH ROW EXECUTE FUNCTION conciliation.check_booking_receipt();

CREATE TRIGGER booking_receipt_not_deleted
  BEFORE DELETE OR TRUNCATE ON conciliation.booking_receipt
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();

CREATE TRIGGER booking_receipt_kept
  BEFORE UPDATE ON conciliation.booking_receipt
  FOR EACH ROW
  WHEN (to_jsonb(OLD) - '{outcome,settled_at,settled_by}'::text[]
        IS DISTINCT FROM to_jsonb(NEW) - '{outcome,settled_at,settled_by}'::text[])
  EXECUTE FUNCTION conciliation.refuse_rewriting();

ALTER TABLE conciliation.booking_receipt ENABLE ROW LEVEL SECURITY;


CREATE VIEW conciliation.offered_line AS
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
  line.posting_value,
  line.accounting_date,
  line.accounting_basis,
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
  line.payment_destination,
  line.promoted
FROM conciliation.booking_offer AS offer
JOIN conciliation.booking_line AS line ON line.id = offer.line_id;

COMMENT ON VIEW conciliation.offered_line IS
  'The lines of all consumers as they are offered. The API and the files read it, and booking_feed for a database user.';
COMMENT ON COLUMN conciliation.offered_line.seq IS
  'booking_offer.seq: position in the feed.';
COMMENT ON COLUMN conciliation.offered_line.key IS
  'Key of the line: date, identity_hash without hyphens, occurrence and version, joined by colons. A key is posted at most once.';
COMMENT ON COLUMN conciliation.offered_line.succeeds_key IS
  'Key of the line before, of the same booking. Null: there is none.';
COMMENT ON COLUMN conciliation.offered_line.effect IS
  'early_payment: the buyer itself is the financial agent and pays the supplier early. payee_change: the financial agent is to be paid instead of the supplier. not_stated: the platform did not state buyerIsFinancial.';
COMMENT ON COLUMN conciliation.offered_line.payee_before IS
  'Tax identifier of the payee without the anticipation: the provider. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.offered_line.payee_after IS
  'Tax identifier of the payee with the anticipation: the financial agent, or the provider for an early payment. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.offered_line.erp_key IS
  'booking_line.erp_key.';
COMMENT ON COLUMN conciliation.offered_line.posting_value IS
  'The value to post: the payable''s own value, where a person has confirmed a difference; otherwise original_value. Null: taken from a receipt.';
COMMENT ON COLUMN conciliation.offered_line.offered_at IS
  'booking_offer.offered_at: when the line was offered at this position.';
COMMENT ON COLUMN conciliation.offered_line.provider_destination IS
  'booking_line.provider_destination. Personal data.';
COMMENT ON COLUMN conciliation.offered_line.payment_destination IS
  'booking_line.payment_destination. Personal data.';
COMMENT ON COLUMN conciliation.offered_line.promoted IS
  'booking_line.promoted. Personal data.';


CREATE VIEW conciliation.booking_feed WITH (security_barrier) AS
SELECT * FROM conciliation.offered_line
WHERE consumer = (
  SELECT consumer.name FROM conciliation.booking_consumer AS consumer
  WHERE consumer.database_role = CURRENT_USER::text
);

COMMENT ON VIEW conciliation.booking_feed IS
  'What the database user of a consumer reads, by booking_feed_after. Shows the released lines of that consumer, and no line to any other user. A consumer misses no line: when a seq is visible, no smaller one can still appear.';


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
  claim.made_at AS matched_at,
  coalesce(newest.state, 'not_released') AS state
FROM (
  SELECT title_id, erp_key, made_at FROM conciliation.title_match WHERE ended_at IS NULL
  UNION
  -- What a break names, or may be the payable of its title, until a person has resolved the break.
  SELECT title_id, unnest(candidates), NULL FROM conciliation.erp_break
  WHERE ground NOT IN (SELECT ground FROM conciliation.break_resolution)
  UNION
  -- What the ERP is asked to post on, also after the match has ended.
  SELECT title_id, unnest(string_to_array(erp_key, ',')), NULL FROM conciliation.booking_line
  WHERE state IN ('released', 'failed') AND kind <> 'reverse'
) AS claim
JOIN conciliation.title AS title ON title.id = claim.title_id AND title.status = 'current'
JOIN conciliation.erp_payable AS payable
  ON payable.erp_key = claim.erp_key AND payable.status = 'open' AND payable.closed_at IS NULL
-- By the key of the lines, which has an index.
LEFT JOIN LATERAL (
  SELECT line.state, line.kind FROM conciliation.booking_line AS line
  WHERE line.date = title.accepted_date AND line.identity_hash = title.identity_hash AND line.title_id = title.id
    AND line.kind <> 'reverse'
  ORDER BY line.version DESC LIMIT 1
) AS newest ON true
WHERE CASE WHEN made_at IS NULL
        THEN NOT EXISTS (SELECT FROM conciliation.title_payable AS match WHERE match.erp_key = claim.erp_key)
        -- A version that the ERP has posted on the payable changed the payee, until a reversal is posted.
        ELSE (SELECT line.has_content AND (claim.erp_key = ANY(string_to_array(line.erp_key, ','))) IS NOT FALSE
              FROM conciliation.booking_version AS line
              WHERE line.date = title.accepted_date AND line.identity_hash = title.identity_hash
                AND line.title_id = title.id AND line.state = 'posted'
              ORDER BY line.version DESC LIMIT 1) IS NOT TRUE END;

COMMENT ON VIEW conciliation.payables_to_block IS
  'The open payables whose titles are matched and not posted yet, those that a break names or that may belong to its title, and those on which a line without an answer asks the ERP to post, one row for each pair. The ERP blocks them from its payment run, because the financial agent is going to be paid, or the buyer pays early.';
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
  'When the match was made. Null: no match; see erp_break.candidates and booking_line.erp_key.';
COMMENT ON COLUMN conciliation.payables_to_block.state IS
  'State of the newest line of the title: released, failed, refused or superseded. posted: a posted reversal is newer, or the line named no payable or another one. not_released: the title has no line.';


-- Positions of the feeds -----------------------------------------------------------------------

-- For the readers of booking_feed and title_feed: reads that refuse a position that this database did not give.

-- A position is 0 or the number of a row that exists. The rows of a feed are never deleted, and after a restore the
-- numbers go on above every number that was given. So a position that a restore has lost names no row.
CREATE FUNCTION conciliation.safe_position(feed text, place bigint) RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  safe bigint;
BEGIN
  IF feed = 'booking_feed' THEN
    SELECT max(seq) INTO safe FROM conciliation.booking_offer WHERE seq <= place;
    IF place > (SELECT last_value FROM conciliation.booking_offer_seq_seq) THEN safe := 0; END IF;
  ELSE
    SELECT max(change_seq) INTO safe FROM conciliation.title_change WHERE change_seq <= place;
    IF place > (SELECT last_value FROM conciliation.title_change_change_seq_seq) THEN safe := 0; END IF;
  END IF;
  RETURN coalesce(safe, 0);
END
$$;

COMMENT ON FUNCTION conciliation.safe_position(text, bigint) IS
  'The position from which a reader of booking_feed or title_feed misses no row: the given position where this database gave it. A smaller one where a restore has lost the position. 0 where no number was ever so great, so that the numbers may have been given again.';

CREATE FUNCTION conciliation.require_position(feed text, place bigint) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  safe bigint := conciliation.safe_position(feed, place);
BEGIN
  IF safe IS DISTINCT FROM place THEN
    RAISE EXCEPTION 'position: % does not have the position %: it was never given, or a restore has lost it; read again from %',
      feed, place, safe
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'Set the position of the reader to the named one, and after a restore send all receipts again. See "After a restore" in docs/bookings.md.';
  END IF;
END
$$;

COMMENT ON FUNCTION conciliation.require_position(text, bigint) IS
  'Raises an error that names the safe position where safe_position differs from the given one.';

CREATE FUNCTION conciliation.check_booking_position() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM conciliation.require_position('booking_feed', NEW.last_seq);
  RETURN NEW;
END
$$;

COMMENT ON FUNCTION conciliation.check_booking_position() IS
  'Refuses a position that the feed does not have.';

REVOKE ALL ON FUNCTION conciliation.check_booking_position() FROM PUBLIC;

CREATE TRIGGER booking_position_checked
  BEFORE UPDATE OF last_seq ON conciliation.booking_position
  FOR EACH ROW EXECUTE FUNCTION conciliation.check_booking_position();

CREATE FUNCTION conciliation.booking_feed_after(place bigint, max_lines integer)
RETURNS SETOF conciliation.booking_feed
LANGUAGE plpgsql STABLE ROWS 1000 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM conciliation.require_position('booking_feed', place);
  RETURN QUERY SELECT * FROM conciliation.booking_feed AS feed
    WHERE feed.seq > place ORDER BY feed.seq LIMIT max_lines;
END
$$;

COMMENT ON FUNCTION conciliation.booking_feed_after(bigint, integer) IS
  'The next rows of booking_feed after a position, in their order. The position is the greatest seq that the reader has processed, 0 at first. Raises an error for a position that a restore of the database has lost.';

CREATE FUNCTION conciliation.title_feed_after(place bigint, max_rows integer)
RETURNS SETOF conciliation.title_feed
LANGUAGE plpgsql STABLE ROWS 1000 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM conciliation.require_position('title_feed', place);
  RETURN QUERY SELECT * FROM conciliation.title_feed AS feed
    WHERE feed.change_seq > place ORDER BY feed.change_seq LIMIT max_rows;
END
$$;

COMMENT ON FUNCTION conciliation.title_feed_after(bigint, integer) IS
  'The next rows of title_feed after a position, in their order. The position is the greatest change_seq that the reader has processed, 0 at first. Raises an error for a position that a restore of the database has lost.';

-- The next number is the number of microseconds since 2026. No installation gives a number each microsecond, so it is
-- above every number that was given before, also above those that the restore has lost. Below 2^53 until the year 2311.
CREATE FUNCTION conciliation.skip_numbers() RETURNS bigint
-- With the rights of the owner: the service may move the numbers forward, and not back.
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  start bigint;
BEGIN
  SELECT greatest(floor(extract(epoch FROM clock_timestamp() - timestamptz '2026-01-01 00:00:00+00') * 1000000)::bigint,
                  offer.last_value + 1, change.last_value + 1, title.last_value + 1) INTO start
  FROM conciliation.booking_offer_seq_seq AS offer, conciliation.title_change_change_seq_seq AS change,
       conciliation.title_id_seq AS title;
  PERFORM setval('conciliation.booking_offer_seq_seq', start, false),
          setval('conciliation.title_change_change_seq_seq', start, false),
          setval('conciliation.title_id_seq', start, false);
  RETURN start;
END
$$;

COMMENT ON FUNCTION conciliation.skip_numbers() IS
  'Makes booking_offer.seq, title_change.change_seq and title.id go on above every number that was ever given, after a restore. Returns the next number.';

REVOKE ALL ON FUNCTION conciliation.safe_position(text, bigint), conciliation.require_position(text, bigint),
  conciliation.booking_feed_after(bigint, integer), conciliation.title_feed_after(bigint, integer),
  conciliation.skip_numbers() FROM PUBLIC;


-- Payment schedule -----------------------------------------------------------------------------

-- Written by the merges, each for its own date, and by erasures: src/schedule/.
CREATE TABLE conciliation.schedule_total (
  accepted_date  date    NOT NULL,
  due_date       date,
  payee          uuid    NOT NULL,
  titles         integer NOT NULL,
  title_id       bigint  NOT NULL,
  original_value numeric NOT NULL,

  CONSTRAINT schedule_total_titles_check CHECK (titles >= 1),
  CONSTRAINT schedule_total_dates_check
    CHECK (accepted_date BETWEEN '0001-01-01' AND '9999-12-31'
           AND due_date BETWEEN '0001-01-01' AND '9999-12-31')
) WITH (
  -- The rows of a date are replaced by each merge that changes the date: up to one row a title.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000
);

CREATE INDEX schedule_total_accepted_idx ON conciliation.schedule_total (accepted_date);
CREATE INDEX schedule_total_due_idx ON conciliation.schedule_total (due_date);

COMMENT ON TABLE conciliation.schedule_total IS
  'Totals of the current titles of an accepted date for each due date, party to be paid and bank account. Derived from title, for the payment schedule. A merge writes the rows of its date, and an erasure those of the dates of the party.';
COMMENT ON COLUMN conciliation.schedule_total.accepted_date IS
  'title.accepted_date.';
COMMENT ON COLUMN conciliation.schedule_total.due_date IS
  'title.anticipated_due_date. Null: the titles state none.';
COMMENT ON COLUMN conciliation.schedule_total.payee IS
  'Hash of the party to be paid and its bank account.';
COMMENT ON COLUMN conciliation.schedule_total.titles IS
  'Number of the titles.';
COMMENT ON COLUMN conciliation.schedule_total.title_id IS
  'title.id of one of the titles, which names the party and the account.';
COMMENT ON COLUMN conciliation.schedule_total.original_value IS
  'Exact sum of original_value.';


-- Erased parties -------------------------------------------------------------------------------

CREATE TABLE conciliation.erased_party (
  id         bigserial   PRIMARY KEY,
  erased_at  timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  ended_at   timestamptz,
  salt       bytea       NOT NULL,
  key_hashes bytea[]     NOT NULL
);

COMMENT ON TABLE conciliation.erased_party IS
  'Suppliers and financial agents whose personal data "conciliation erase-party" has erased. In title their names are erased- and the id. Later answers about them are stored without personal data; hashes identify them.';
COMMENT ON COLUMN conciliation.erased_party.id IS
  'Key of the party; its pseudonym is erased- and this number.';
COMMENT ON COLUMN conciliation.erased_party.erased_at IS
  'When the party was erased.';
COMMENT ON COLUMN conciliation.erased_party.ended_at IS
  'When the erasure was lifted: from then on answers are written as they come. Null: it lasts.';
COMMENT ON COLUMN conciliation.erased_party.salt IS
  'For the program only: a secret random number that goes into the hashes.';
COMMENT ON COLUMN conciliation.erased_party.key_hashes IS
  'For the program only: SHA-256 over salt and each key of the party, "tax_id:" and its tax identifier or "external_id:" and its number in the ERP. A reader with the salt can try out tax identifiers. Personal data.';


-- Console --------------------------------------------------------------------------------------

CREATE TABLE conciliation.console_user (
  id              bigserial   PRIMARY KEY,
  name            text        NOT NULL,
  role            text        NOT NULL,
  decides_from    timestamptz,
  password_hash   text,
  totp_secret     text,
  totp_step       bigint,
  link_hash       text,
  link_expires_at timestamptz,
  email           text,
  oidc_issuer     text,
  oidc_subject    text,
  created_at      timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  created_by      text        NOT NULL,
  last_login_at   timestamptz,
  disabled_at     timestamptz,

  CONSTRAINT console_user_role_check CHECK (role IN ('viewer', 'reviewer', 'operator', 'admin')),
  CONSTRAINT console_user_name_check CHECK (name = lower(name) AND name <> ''),
  CONSTRAINT console_user_email_check CHECK (email = lower(email) AND email LIKE '%_@_%'),
  CONSTRAINT console_user_oidc_check CHECK ((oidc_issuer IS NULL) = (oidc_subject IS NULL)),
  CONSTRAINT console_user_totp_check CHECK ((totp_secret IS NULL) = (totp_step IS NULL)),
  CONSTRAINT console_user_link_check CHECK ((link_hash IS NULL) = (link_expires_at IS NULL))
);

CREATE UNIQUE INDEX console_user_name_key ON conciliation.console_user (name);
CREATE UNIQUE INDEX console_user_email_key ON conciliation.console_user (email);
CREATE UNIQUE INDEX console_user_link_key ON conciliation.console_user (link_hash);
CREATE UNIQUE INDEX console_user_oidc_key
  ON conciliation.console_user (oidc_issuer, oidc_subject);

COMMENT ON TABLE conciliation.console_user IS
  'People who may sign in to the console. Empty until the first "conciliation user add".';
COMMENT ON COLUMN conciliation.console_user.id IS
  'Key of the user.';
COMMENT ON COLUMN conciliation.console_user.name IS
  'Name to sign in with, in lower case; also the value of audit_entry.actor and of the columns with the author of a decision. Personal data.';
COMMENT ON COLUMN conciliation.console_user.role IS
  'viewer: reads, tax identifiers and accounts masked. reviewer: also decides and signs off. operator: also decides, pulls and backfills. admin: users, keys, pulls and backfills, and no decision.';
COMMENT ON COLUMN conciliation.console_user.decides_from IS
  'When the role of a user who was an administrator changed last: the user signs no date off that was open then, which is in the ledger without a seal in force. Null: the user was no administrator, or has had no other role.';
COMMENT ON COLUMN conciliation.console_user.password_hash IS
  'Scrypt in PHC format. Null: the person has not chosen a password yet.';
COMMENT ON COLUMN conciliation.console_user.totp_secret IS
  'For the program only: secret of the second factor (TOTP, RFC 6238), in base32. Not encrypted. Null: the user has no second factor.';
COMMENT ON COLUMN conciliation.console_user.totp_step IS
  'Time step of the newest accepted code, in units of 30 seconds since 1970. Codes of this step and of earlier ones are refused. Null: the user has no second factor.';
COMMENT ON COLUMN conciliation.console_user.link_hash IS
  'For the program only: SHA-256 of the token in the newest link with which the person chooses a password, in hexadecimal. Null: there is none, or it was used.';
COMMENT ON COLUMN conciliation.console_user.link_expires_at IS
  'Until when that link works.';
COMMENT ON COLUMN conciliation.console_user.email IS
  'E-mail address, in lower case, by which an account of the identity provider is recognised when it signs in first. Null: the person signs in with a password only. Personal data.';
COMMENT ON COLUMN conciliation.console_user.oidc_issuer IS
  'Issuer of the account that the person signs in with. Null: no account was tied to the user yet.';
COMMENT ON COLUMN conciliation.console_user.oidc_subject IS
  'The account''s subject ("sub") at that issuer. After the first sign-in only the subject identifies the account, not the e-mail address. Null: no account is linked to the user yet. Personal data.';
COMMENT ON COLUMN conciliation.console_user.created_at IS
  'When the user was added.';
COMMENT ON COLUMN conciliation.console_user.created_by IS
  'Who added it. Personal data.';
COMMENT ON COLUMN conciliation.console_user.last_login_at IS
  'When the person signed in last. Null: never.';
COMMENT ON COLUMN conciliation.console_user.disabled_at IS
  'Since when the person may not sign in. Null: may.';


CREATE TABLE conciliation.console_session (
  token_hash   text        PRIMARY KEY,
  user_id      bigint      NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  last_seen_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at   timestamptz NOT NULL,
  by_oidc      boolean     NOT NULL DEFAULT false,

  CONSTRAINT console_session_user_id_fkey FOREIGN KEY (user_id)
    REFERENCES conciliation.console_user (id) ON DELETE NO ACTION ON UPDATE NO ACTION
);

CREATE INDEX console_session_user_idx ON conciliation.console_session (user_id);

COMMENT ON TABLE conciliation.console_session IS
  'For the program only: the sessions of users who are signed in to the console. A row is deleted when the user signs out.';
COMMENT ON COLUMN conciliation.console_session.token_hash IS
  'SHA-256 of the cookie''s value, in hexadecimal.';
COMMENT ON COLUMN conciliation.console_session.user_id IS
  'console_user.id of the person.';
COMMENT ON COLUMN conciliation.console_session.created_at IS
  'When the person signed in.';
COMMENT ON COLUMN conciliation.console_session.last_seen_at IS
  'When the session was last used, to the minute.';
COMMENT ON COLUMN conciliation.console_session.expires_at IS
  'When it ends however much it is used.';
COMMENT ON COLUMN conciliation.console_session.by_oidc IS
  'Whether the person signed in with an account of the identity provider.';


CREATE TABLE conciliation.sign_in_limit (
  key_hash     bytea       PRIMARY KEY,
  tries        integer     NOT NULL,
  forgotten_at timestamptz NOT NULL
);

CREATE INDEX sign_in_limit_forgotten_idx ON conciliation.sign_in_limit (forgotten_at);

COMMENT ON TABLE conciliation.sign_in_limit IS
  'For the program only: tries to sign in to the console, counted over all processes of the service. Each further try removes rows whose time has passed.';
COMMENT ON COLUMN conciliation.sign_in_limit.key_hash IS
  'SHA-256 of what the limit is for: an address, or a user name and an address. Not the text, because a typed name may be a password.';
COMMENT ON COLUMN conciliation.sign_in_limit.tries IS
  'Tries that were allowed.';
COMMENT ON COLUMN conciliation.sign_in_limit.forgotten_at IS
  'When the tries no longer count.';


CREATE TABLE conciliation.api_key (
  id           bigserial   PRIMARY KEY,
  name         text        NOT NULL,
  key_hash     text        NOT NULL,
  key_start    text        NOT NULL,
  user_id      bigint,
  role         text        NOT NULL,
  scopes       text[]      NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  created_by   text        NOT NULL,
  expires_at   timestamptz NOT NULL,
  last_used_at timestamptz,
  revoked_at   timestamptz,
  revoked_by   text,

  CONSTRAINT api_key_user_id_fkey FOREIGN KEY (user_id)
    REFERENCES conciliation.console_user (id) ON DELETE NO ACTION ON UPDATE NO ACTION,
  CONSTRAINT api_key_role_check CHECK (role IN ('viewer', 'reviewer', 'operator')),
  CONSTRAINT api_key_revoked_check CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
);

CREATE UNIQUE INDEX api_key_key_hash_key ON conciliation.api_key (key_hash);
CREATE INDEX api_key_user_idx ON conciliation.api_key (user_id);

COMMENT ON TABLE conciliation.api_key IS
  'Keys with which scripts use /api. The keys themselves are kept nowhere.';
COMMENT ON COLUMN conciliation.api_key.id IS
  'Key of the row.';
COMMENT ON COLUMN conciliation.api_key.name IS
  'The purpose of the key, as given by its creator; also part of audit_entry.actor.';
COMMENT ON COLUMN conciliation.api_key.key_hash IS
  'SHA-256 of the key, in hexadecimal.';
COMMENT ON COLUMN conciliation.api_key.key_start IS
  'Its first characters, to distinguish keys.';
COMMENT ON COLUMN conciliation.api_key.user_id IS
  'console_user.id of the owner, with whom the key ends: a disabled owner ends all of them, another role those that the role does not cover. Null: a key without an owner, which only the command line makes.';
COMMENT ON COLUMN conciliation.api_key.role IS
  'As console_user.role: a key can do no more than a person of that role.';
COMMENT ON COLUMN conciliation.api_key.scopes IS
  'The permitted uses, within the rights of the role: read, export, pull, payables.';
COMMENT ON COLUMN conciliation.api_key.created_at IS
  'When it was made.';
COMMENT ON COLUMN conciliation.api_key.created_by IS
  'Who made it. Personal data.';
COMMENT ON COLUMN conciliation.api_key.expires_at IS
  'Until when it works.';
COMMENT ON COLUMN conciliation.api_key.last_used_at IS
  'When it was last used, to the minute. Null: never.';
COMMENT ON COLUMN conciliation.api_key.revoked_at IS
  'Since when it works no more. Null: it was not revoked.';
COMMENT ON COLUMN conciliation.api_key.revoked_by IS
  'Who revoked it. Null: it was not revoked. Personal data.';


-- Staging of one attempt -----------------------------------------------------------------------

-- All rows of a fence belong to one accepted date.
--
-- The tables are unlogged, because their rows have no value after the merge, and a date whose rows a crash
-- removed is pulled again.
--
-- Rows are inserted and deleted in batches of a whole day. Autovacuum therefore starts after a fixed number
-- of dead rows instead of a share of the table, runs without a cost delay, and does not start because of
-- inserts alone. Statistics are always out of date when a statement is planned; see configurePlanner in
-- src/core/merge/merge-plan.sql.ts.

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
  raw_hash                       uuid    NOT NULL,
  erased_at                      timestamptz
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
COMMENT ON COLUMN conciliation.staged_title.extra IS
  'Fields beyond the documented interface, at their places in the response. A field whose value cannot be kept exactly as jsonb has the JSON text of the value, and a name that cannot be kept is its JSON text. provider.externalId is in extra if it differs from providerExternalId. Null: there were none. May be personal data.';
COMMENT ON COLUMN conciliation.staged_title.content_hash IS
  'As title.content_hash.';
COMMENT ON COLUMN conciliation.staged_title.erased_at IS
  'As title.erased_at: set by a merge before it compares.';


CREATE UNLOGGED TABLE conciliation.staged_reject (
  fence     bigint  NOT NULL,
  ordinal   integer NOT NULL,
  order_uid text,
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
COMMENT ON COLUMN conciliation.staged_reject.order_uid IS
  'As rejected_title.order_uid.';
COMMENT ON COLUMN conciliation.staged_reject.reasons IS
  'As rejected_title.reasons.';
COMMENT ON COLUMN conciliation.staged_reject.raw IS
  'As rejected_title.raw. Personal data.';
COMMENT ON COLUMN conciliation.staged_reject.raw_bytes IS
  'As rejected_title.raw_bytes.';
COMMENT ON COLUMN conciliation.staged_reject.raw_hash IS
  'As rejected_title.raw_hash.';


CREATE UNLOGGED TABLE conciliation.staged_base (
  fence           bigint      NOT NULL,
  known           integer     NOT NULL,
  base_changed_at timestamptz NOT NULL
) WITH (
  autovacuum_vacuum_insert_threshold = -1
);

CREATE INDEX staged_base_fence_idx ON conciliation.staged_base (fence);

COMMENT ON TABLE conciliation.staged_base IS
  'For the program only: the state of the day whose current titles an attempt compared with the response while reading, so that only the difference was staged. No row: all titles were staged. Unlogged.';
COMMENT ON COLUMN conciliation.staged_base.fence IS
  'pull.fence of the attempt.';
COMMENT ON COLUMN conciliation.staged_base.known IS
  'Titles of the response that were not staged, because the date has them already, in the same text.';
COMMENT ON COLUMN conciliation.staged_base.base_changed_at IS
  'day.changed_at at that time. The staged rows are the difference from the titles of that time.';


CREATE UNLOGGED TABLE conciliation.staged_missing (
  fence    bigint  NOT NULL,
  raw_hash uuid    NOT NULL,
  copies   integer NOT NULL
) WITH (
  autovacuum_vacuum_insert_threshold = -1
);

CREATE INDEX staged_missing_fence_idx ON conciliation.staged_missing (fence);

COMMENT ON TABLE conciliation.staged_missing IS
  'For the program only: current titles of the date whose text the response lacks. Unlogged.';
COMMENT ON COLUMN conciliation.staged_missing.fence IS
  'pull.fence of the attempt.';
COMMENT ON COLUMN conciliation.staged_missing.raw_hash IS
  'title.raw_hash of the titles.';
COMMENT ON COLUMN conciliation.staged_missing.copies IS
  'How many titles of that text the response has less than the date.';


CREATE UNLOGGED TABLE conciliation.staged_change (
  fence      bigint NOT NULL,
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
  'For the program only: the plan of a merge, one row for each title that changes. Empty outside a merge. Unlogged.';
COMMENT ON COLUMN conciliation.staged_change.fence IS
  'pull.fence of the attempt.';
COMMENT ON COLUMN conciliation.staged_change.kind IS
  'inserted, changed, withdrawn or restored.';
COMMENT ON COLUMN conciliation.staged_change.ordinal IS
  'Its row in staged_title. Null: withdrawn, so the response has none.';
COMMENT ON COLUMN conciliation.staged_change.title_id IS
  'title.id of the title concerned. Null: inserted, so there is none yet.';
COMMENT ON COLUMN conciliation.staged_change.occurrence IS
  'title.occurrence to be given to an inserted title. Null: not inserted.';


CREATE UNLOGGED TABLE conciliation.staged_account (
  fence         bigint  NOT NULL,
  kind          text    NOT NULL,
  party_key     text    NOT NULL,
  tax_id        text,
  writing_hash  uuid    NOT NULL,
  account_hash  uuid,
  normal_form   text,
  bank          text,
  agency        text,
  agency_digit  text,
  account       text,
  account_digit text,
  destination   jsonb,
  is_restated   boolean NOT NULL
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
COMMENT ON COLUMN conciliation.staged_account.tax_id IS
  'As party_account.tax_id. May be personal data.';
COMMENT ON COLUMN conciliation.staged_account.writing_hash IS
  'As party_account.writing_hash.';
COMMENT ON COLUMN conciliation.staged_account.account_hash IS
  'As party_account.account_hash. Null: not computed yet.';
COMMENT ON COLUMN conciliation.staged_account.normal_form IS
  'As party_account.normal_form. Null: not computed yet. Personal data.';
COMMENT ON COLUMN conciliation.staged_account.bank IS
  'Bank code. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.staged_account.agency IS
  'Branch number. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.staged_account.agency_digit IS
  'Check digit of the branch number. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.staged_account.account IS
  'Account number. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.staged_account.account_digit IS
  'Check digit of the account number. Null: not stated. Personal data.';
COMMENT ON COLUMN conciliation.staged_account.destination IS
  'As party_account.destination. Personal data.';
COMMENT ON COLUMN conciliation.staged_account.is_restated IS
  'Whether a title that was here before the merge names it since.';


-- Comments of copied columns -------------------------------------------------------------------

-- Every other column of these tables and views means the same as the column of that name in the relation before it.

DO $$
DECLARE
  pair text[];
  field record;
BEGIN
  FOREACH pair SLICE 1 IN ARRAY ARRAY[
    ['title', 'title_feed'], ['title', 'staged_title'], ['title', 'booking_line'], ['booking_line', 'booking_version'],
    ['booking_line', 'offered_line'], ['offered_line', 'booking_feed']]
  LOOP
    FOR field IN
      SELECT source.attname AS name, col_description(source.attrelid, source.attnum) AS description
      FROM pg_attribute AS source
      JOIN pg_attribute AS copy ON copy.attname = source.attname
      WHERE source.attrelid = ('conciliation.' || pair[1])::regclass AND source.attnum > 0
        AND copy.attrelid = ('conciliation.' || pair[2])::regclass
        AND col_description(copy.attrelid, copy.attnum) IS NULL
    LOOP
      EXECUTE format('COMMENT ON COLUMN conciliation.%I.%I IS %L', pair[2], field.name, field.description);
    END LOOP;
  END LOOP;
END
$$;
