-- The staging schema. The ERP and finance read it with their own tools. Every table and column therefore
-- has a COMMENT, from which docs/data-dictionary.md is generated.
--
-- Amounts are numeric without a scale, so that a column holds the digits that the platform wrote. States
-- are text with a CHECK instead of enum types, because every ERP tool can read text.
--
-- No release came before this migration. Later changes of the schema are migrations of their own.

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

-- Every comparison of tax identifiers uses these functions. src/domain/tax-id.ts has the same rules for the input of
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
);

-- Also serves reads by date, because accepted_date is its first column.
CREATE UNIQUE INDEX title_identity_key ON conciliation.title (accepted_date, identity_hash, occurrence);
CREATE INDEX title_order_uid_idx ON conciliation.title (order_uid);
CREATE INDEX title_provider_idx ON conciliation.title (provider_external_id, accepted_date);

COMMENT ON TABLE conciliation.title IS
  'One row for every title (accepted anticipation) ever received, with the values that the platform stated last. Rows are never deleted: a title that is missing in a later response for its date is kept as withdrawn. A column that mirrors the platform is null where its field was absent or null in the response; empty text is empty text.';
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
  'Fields beyond the documented interface, at their places in the response, as of the last change of a documented field. Null: there were none. May be personal data.';
COMMENT ON COLUMN conciliation.title.identity_hash IS
  'Hash of the fields that identify an obligation: order_uid, buyer_identification, provider_external_id, accepted_date, anticipated_due_date and original_value. For matching inside the program.';
COMMENT ON COLUMN conciliation.title.content_hash IS
  'Hash of every documented field; equal exactly for titles with equal values in all of them. 1.5 and 1.50 are equal. extra is not covered. day.content_version is the version of the list of covered fields.';
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
  'Since when personal data of a party of the title is erased: names are pseudonyms, accounts and extra are null, and the hashes are still those of the whole title. Null: nothing is erased.';


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


-- Narrow, because its rows are written while the merge holds the lock that all merges share.
CREATE TABLE conciliation.title_change (
  change_seq bigserial PRIMARY KEY,
  title_id   bigint    NOT NULL,
  kind       text      NOT NULL,
  pull_id    bigint    NOT NULL,
  row_hash   bytea,

  CONSTRAINT title_change_kind_check CHECK (kind IN ('inserted', 'changed', 'withdrawn', 'restored'))
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
  'inserted: received for the first time. changed: some field was restated. withdrawn: a newer response for the date lacked the title. restored: a newer response had the withdrawn title again, perhaps restated.';
COMMENT ON COLUMN conciliation.title_change.pull_id IS
  'pull.id of the pull that brought the change.';
COMMENT ON COLUMN conciliation.title_change.row_hash IS
  'Hash of the row of title as the change left it: the first 16 bytes of SHA-256. "conciliation verify" compares the newest hash of a title with the row. Null: the row had been deleted outside of the program.';


CREATE TABLE conciliation.title_check (
  date       date        PRIMARY KEY,
  checked_at timestamptz NOT NULL,
  titles     integer     NOT NULL,

  CONSTRAINT title_check_date_check CHECK (date BETWEEN '0001-01-01' AND '9999-12-31')
);

COMMENT ON TABLE conciliation.title_check IS
  'One row for every accepted date whose rows of title were compared with the hashes that the merges recorded. The service compares each date once a day, "conciliation verify" on demand.';
COMMENT ON COLUMN conciliation.title_check.date IS
  'The accepted date.';
COMMENT ON COLUMN conciliation.title_check.checked_at IS
  'When the newest comparison of the date began.';
COMMENT ON COLUMN conciliation.title_check.titles IS
  'Rows of title that the newest comparison read, withdrawn ones included.';


CREATE TABLE conciliation.title_finding (
  id              bigserial   PRIMARY KEY,
  date            date        NOT NULL,
  title_id        bigint,
  problem         text        NOT NULL,
  found_at        timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  acknowledged_at timestamptz,
  acknowledged_by text,
  reason          text,
  closed_at       timestamptz,

  CONSTRAINT title_finding_problem_check
    CHECK (problem IN ('content', 'record', 'unrecorded', 'missing', 'history', 'day', 'unchecked')),
  CONSTRAINT title_finding_title_check CHECK ((title_id IS NULL) = (problem IN ('day', 'unchecked'))),
  CONSTRAINT title_finding_date_check CHECK (date BETWEEN '0001-01-01' AND '9999-12-31')
);

CREATE UNIQUE INDEX title_finding_open_key ON conciliation.title_finding (date, problem, title_id)
  NULLS NOT DISTINCT WHERE closed_at IS NULL;

COMMENT ON TABLE conciliation.title_finding IS
  'One row for every difference that a comparison of title with the recorded hashes found. A difference means that a row was changed by something other than a merge.';
COMMENT ON COLUMN conciliation.title_finding.id IS
  'Key of the finding.';
COMMENT ON COLUMN conciliation.title_finding.date IS
  'The accepted date whose comparison found the difference.';
COMMENT ON COLUMN conciliation.title_finding.title_id IS
  'title.id of the title; null where the problem is day or unchecked.';
COMMENT ON COLUMN conciliation.title_finding.problem IS
  'content: the columns do not have the recorded content hash or identity hash. record: the row does not have the hash that its newest change recorded. unrecorded: no merge inserted the row. missing: the row is gone. history: the revisions do not agree with the recorded changes or with the row, or the first recorded change is not the insertion by the pull in first_pull_id. day: counts, sums or digest of the row of day, or the rows of schedule_total, are not those of the titles, their number is not that of the newest merged answer, or the seal is not that of sign_off. unchecked: a value in the tables makes a part of the comparison fail.';
COMMENT ON COLUMN conciliation.title_finding.found_at IS
  'When the difference was found first.';
COMMENT ON COLUMN conciliation.title_finding.acknowledged_at IS
  'When a person acknowledged the finding, which ends its alert; null: open.';
COMMENT ON COLUMN conciliation.title_finding.acknowledged_by IS
  'The person who acknowledged the finding.';
COMMENT ON COLUMN conciliation.title_finding.reason IS
  'The reason that the person gave.';
COMMENT ON COLUMN conciliation.title_finding.closed_at IS
  'When a comparison no longer found the difference; null: the difference lasts.';


CREATE TABLE conciliation.program_lock (
  name text PRIMARY KEY,

  CONSTRAINT program_lock_name_check CHECK (name IN ('closing', 'planner', 'alerts', 'push', 'audit'))
);

INSERT INTO conciliation.program_lock (name)
VALUES ('closing'), ('planner'), ('alerts'), ('push'), ('audit');

COMMENT ON TABLE conciliation.program_lock IS
  'For the program only: rows that transactions lock. Rows and not advisory locks, because every role may take an advisory lock, and a role that may only read cannot lock a row.';
COMMENT ON COLUMN conciliation.program_lock.name IS
  'closing: the closing phase of a merge. planner: the planning of pulls and sweeps. alerts: the derivation of alerts. push: the requests with providers. audit: the end of the audit chain.';


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
  title.changed_at
FROM conciliation.title_change change
-- A row that was deleted outside of the program must leave the consumers too.
LEFT JOIN conciliation.title title ON title.id = change.title_id;

-- A column without a comment here gets the comment of its column in title: see the end of the staging
-- tables.
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


-- Days and pulls -------------------------------------------------------------------------------

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
  content_version                smallint NOT NULL DEFAULT 1,
  fold_count                     integer,
  fold_sum                       text,
  last_pull_id                   bigint,
  held_pull_id                   bigint,
  verified_at                    timestamptz,
  changed_at                     timestamptz,
  signed_off_at                  timestamptz,
  signed_off_by                  text,
  signed_off_digest              text,
  restated_after_sign_off        boolean  NOT NULL DEFAULT false,

  CONSTRAINT day_state_check
    CHECK (state IN ('pending', 'reconciled', 'attention', 'held', 'failed')),
  CONSTRAINT day_counts_check
    CHECK (title_count >= 0 AND withdrawn_count >= 0 AND rejected_count >= 0),
  CONSTRAINT day_fold_check
    CHECK (fold_count >= 0 AND fold_sum ~ '^[0-9a-f]{32}$' AND (fold_count IS NULL) = (fold_sum IS NULL)),
  CONSTRAINT day_dates_check
    CHECK (date BETWEEN '0001-01-01' AND '9999-12-31' AND latest_due_date BETWEEN '0001-01-01' AND '9999-12-31'),
  -- The versions that this version of the program knows. A release with a further version widens the range.
  CONSTRAINT day_content_version_check CHECK (content_version = 1)
);

CREATE INDEX day_state_idx ON conciliation.day (state);
-- Finds the oldest date that the next sweep has to cover.
CREATE INDEX day_latest_due_date_idx ON conciliation.day (latest_due_date);

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
COMMENT ON COLUMN conciliation.day.latest_due_date IS
  'Latest anticipated_due_date of the current titles. Null: there is none.';
COMMENT ON COLUMN conciliation.day.content_digest IS
  'Digest of the contents of the current titles, in any order: equal digests mean equal titles. Null: nothing was merged yet.';
COMMENT ON COLUMN conciliation.day.content_version IS
  'Version of the content hashes of the date: which columns they cover. A date keeps the version that its titles were hashed with first.';
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
  'True if the platform restated the date after its sign-off, so that title no longer holds the signed content.';


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
  abandoned        integer     NOT NULL DEFAULT 0,
  process_id       uuid,
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
    CHECK (attempts >= 0 AND abandoned >= 0 AND response_bytes >= 0 AND titles >= 0
           AND inserted >= 0 AND changed >= 0
           AND withdrawn >= 0 AND restored >= 0 AND unchanged >= 0 AND rejected >= 0),
  CONSTRAINT pull_withheld_check CHECK (withheld >= 0),
  CONSTRAINT pull_fold_check
    CHECK (fold_count >= 0 AND fold_sum ~ '^[0-9a-f]{32}$' AND (fold_count IS NULL) = (fold_sum IS NULL)),
  CONSTRAINT pull_date_check CHECK (date BETWEEN '0001-01-01' AND '9999-12-31')
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
  'Why it was made. daily: the day before, or a date that was missed. lookback: one of the days before that, pulled again. backfill: part of a backfill. sweep: a sweep found that the date differs, or the date is pulled once a week because no sweep succeeds within its limits. manual: a person asked for the date. repair: rows of the date were changed outside of a merge.';
COMMENT ON COLUMN conciliation.pull.date IS
  'The accepted date that is asked for (conciliationDate).';
COMMENT ON COLUMN conciliation.pull.slot_at IS
  'The instant that made the pull due: of the schedule, or for a pull that a sweep asked for when its answer had ended. Null: a person or a backfill asked for it.';
COMMENT ON COLUMN conciliation.pull.round IS
  'Pulls of the same date, origin and slot_at that had failed before this one was planned.';
COMMENT ON COLUMN conciliation.pull.backfill_id IS
  'backfill.id it belongs to. Null: none.';
COMMENT ON COLUMN conciliation.pull.requested_by IS
  'The requester: a part of the program or a person. May be personal data.';
COMMENT ON COLUMN conciliation.pull.state IS
  'queued: due at next_attempt_at. running: an attempt is under way. merged: titles changed, by the pull itself or by the release of a person (decided_at). unchanged: the response equals the stored titles. held: waits for a release by a person. superseded: a newer fetch was merged or held before; nothing was changed. failed: no attempt is left, or a repetition is pointless. cancelled: a person stopped it.';
COMMENT ON COLUMN conciliation.pull.attempts IS
  'Attempts spent. One that ended because the program stopped or the token was refused is not spent.';
COMMENT ON COLUMN conciliation.pull.abandoned IS
  'Attempts in a row whose process ended without recording an outcome. After three of them the pull has failed.';
COMMENT ON COLUMN conciliation.pull.process_id IS
  'The process of the newest attempt; a process draws a new identifier when it starts.';
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
  'Why the pull was held. emptied: the response has no title for a date that has some. unreadable: the response has titles, all of them rejected. withdrawal_limit: it would withdraw more than the configured share. Null: it was not held.';
COMMENT ON COLUMN conciliation.pull.run_ended_at IS
  'When the program decided again about a held pull of the schedule or of a backfill, after the other pulls with the same slot_at or backfill_id had ended: the pull waits for a person. Null: the run has not ended, or the pull was not held then.';
COMMENT ON COLUMN conciliation.pull.decided_at IS
  'When a person released the pull. Null: no person decided.';
COMMENT ON COLUMN conciliation.pull.decided_by IS
  'The person who released it. Null: no person decided. Personal data.';
COMMENT ON COLUMN conciliation.pull.reason IS
  'The reason in the words of that person. Null: no person decided.';
COMMENT ON COLUMN conciliation.pull.error_code IS
  'Stable code of the latest attempt''s failure, for example PLATFORM_UNAVAILABLE. Null: it did not fail.';
COMMENT ON COLUMN conciliation.pull.error_message IS
  'The failure in words, free of personal data. Null: it did not fail.';

-- Without a cache: two sessions with cached numbers would draw them out of order.
CREATE SEQUENCE conciliation.pull_fence_seq CACHE 1 OWNED BY conciliation.pull.fence;

COMMENT ON SEQUENCE conciliation.pull_fence_seq IS
  'Numbers the attempts at pulls and sweeps. Drawn before the request is sent, so a greater fence is a newer fetch.';


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
    CHECK (state IN ('queued', 'running', 'complete', 'failed')),
  -- A count that is null passes: no answer has been read to its end yet.
  CONSTRAINT sweep_counts_check
    CHECK (attempts >= 0 AND round >= 0 AND response_bytes >= 0 AND titles >= 0
           AND dates_differing BETWEEN 0 AND dates_compared
           AND undated_titles >= 0 AND future_titles >= 0 AND early_titles >= 0),
  CONSTRAINT sweep_from_date_check CHECK (from_date BETWEEN '0001-01-01' AND '9999-12-31')
);

CREATE UNIQUE INDEX sweep_fence_key ON conciliation.sweep (fence);
CREATE UNIQUE INDEX sweep_slot_key ON conciliation.sweep (slot_at, round);

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
  'The requester: a part of the program or a person. May be personal data.';
COMMENT ON COLUMN conciliation.sweep.state IS
  'queued: due at next_attempt_at. running: an attempt is under way. complete: every date was compared. failed: no attempt is left, or repeating is pointless.';
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
COMMENT ON COLUMN conciliation.sweep.over_limit IS
  'True where the latest attempt ended because the answer took longer than an hour or exceeded PLATFORM_MAX_BYTES. While that is so of the newest sweep that has ended, each date in reach is pulled once a week.';
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

  CONSTRAINT checkpoint_single_row_check CHECK (id = 1),
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
  'order.uid of the rejected title. Null: it cannot be read. A current title that the response lacks stays current while a reject of unknown or equal order_uid may be that title.';
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
  'open: a person should look at it; its day is not reconciled. accepted: a person decided that the day may do without it. resolved: a later response no longer contained it.';
COMMENT ON COLUMN conciliation.rejected_title.created_at IS
  'When it was first received.';
COMMENT ON COLUMN conciliation.rejected_title.decided_at IS
  'When it was accepted. Null: not accepted by a person.';
COMMENT ON COLUMN conciliation.rejected_title.decided_by IS
  'Who accepted it. Null: not accepted by a person. Personal data.';
COMMENT ON COLUMN conciliation.rejected_title.reason IS
  'Why, in that person''s words. Null: not accepted by a person.';


CREATE TABLE conciliation.drift (
  path            text        NOT NULL,
  kind            text        NOT NULL,
  value           text        NOT NULL,
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
  'What responses have beyond the documented interface: unknown fields, and unknown values of documented enumerations. One row for each, from its first sight on. Such a field or value is kept with its title, rejects no title and fails no pull. A row that no person has acknowledged is an alert (contract_drift).';
COMMENT ON COLUMN conciliation.drift.path IS
  'Place in the response, by field names.';
COMMENT ON COLUMN conciliation.drift.kind IS
  'unknown_field: the interface does not have the field. unknown_value: the interface has the field and does not have the value.';
COMMENT ON COLUMN conciliation.drift.value IS
  'Of an unknown value: the value, at most 64 characters. Of an unknown field: the JSON type of its value; unknown for a field beside titles.';
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


CREATE TABLE conciliation.alert_delivery (
  alert_id          bigint      NOT NULL REFERENCES conciliation.alert (id) ON DELETE CASCADE,
  channel           text        NOT NULL,
  attempts          integer     NOT NULL DEFAULT 0,
  next_attempt_at   timestamptz,
  deliveries        integer     NOT NULL DEFAULT 0,
  delivered_at      timestamptz,
  delivered_message text,

  CONSTRAINT alert_delivery_pkey PRIMARY KEY (alert_id, channel),
  CONSTRAINT alert_delivery_channel_check CHECK (channel IN ('webhook', 'slack', 'teams', 'email'))
);

COMMENT ON TABLE conciliation.alert_delivery IS
  'The delivery of each alert to each configured channel.';
COMMENT ON COLUMN conciliation.alert_delivery.alert_id IS
  'alert.id.';
COMMENT ON COLUMN conciliation.alert_delivery.channel IS
  'webhook, slack, teams or email.';
COMMENT ON COLUMN conciliation.alert_delivery.attempts IS
  'Deliveries tried.';
COMMENT ON COLUMN conciliation.alert_delivery.next_attempt_at IS
  'When delivery is tried next. Null: nothing is planned.';
COMMENT ON COLUMN conciliation.alert_delivery.deliveries IS
  'Messages about the alert that the channel took.';
COMMENT ON COLUMN conciliation.alert_delivery.delivered_at IS
  'When the channel took the last message. Null: never.';
COMMENT ON COLUMN conciliation.alert_delivery.delivered_message IS
  'The condition in the words of that message. An alert whose words have changed is sent again after a day.';


CREATE TABLE conciliation.digest_delivery (
  slot_at         timestamptz NOT NULL,
  channel         text        NOT NULL,
  attempts        integer     NOT NULL DEFAULT 0,
  next_attempt_at timestamptz DEFAULT CURRENT_TIMESTAMP,
  delivered_at    timestamptz,

  CONSTRAINT digest_delivery_pkey PRIMARY KEY (slot_at, channel),
  CONSTRAINT digest_delivery_channel_check CHECK (channel IN ('webhook', 'slack', 'teams', 'email'))
);

COMMENT ON TABLE conciliation.digest_delivery IS
  'The delivery of the daily digest to each channel. One row for each channel and day.';
COMMENT ON COLUMN conciliation.digest_delivery.slot_at IS
  'The time at which the digest was due.';
COMMENT ON COLUMN conciliation.digest_delivery.channel IS
  'webhook, slack, teams or email.';
COMMENT ON COLUMN conciliation.digest_delivery.attempts IS
  'Deliveries tried.';
COMMENT ON COLUMN conciliation.digest_delivery.next_attempt_at IS
  'When delivery is tried next. Null: the digest was delivered.';
COMMENT ON COLUMN conciliation.digest_delivery.delivered_at IS
  'When the channel took the digest. Null: not delivered.';


CREATE TABLE conciliation.process_fault (
  process_id uuid        NOT NULL,
  kind       text        NOT NULL,
  seen_at    timestamptz NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT process_fault_pkey PRIMARY KEY (process_id, kind),
  CONSTRAINT process_fault_kind_check CHECK (kind IN ('token_refused', 'token_unusable', 'clock_skew', 'planning_failed'))
);

COMMENT ON TABLE conciliation.process_fault IS
  'What keeps a process of the service from its work, as the process itself reports. The alerts platform_auth, clock_skew and pull_overdue are derived from this table.';
COMMENT ON COLUMN conciliation.process_fault.process_id IS
  'The process that reports; drawn at each start.';
COMMENT ON COLUMN conciliation.process_fault.kind IS
  'token_refused: the platform refused the token of the process. token_unusable: the process has had no usable token for a minute. clock_skew: the clock of the process differs from the clock of the database by more than two minutes. planning_failed: no run of the planner has succeeded for five minutes.';
COMMENT ON COLUMN conciliation.process_fault.seen_at IS
  'When the process reported the fault last, by the clock of the database. A process reports every 15 seconds; after three minutes without a report it has ended. The row of a refused token stays until a token was accepted in a request that was sent later.';

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


-- A table of its own, because an entry is linked when its transaction commits. By then the transaction
-- holds every other lock that it needs. Waiting for the lock of the chain therefore cannot deadlock, and
-- the lock is held no longer than a commit takes. No process can stop while it holds that lock.
CREATE TABLE conciliation.audit_chain (
  position      bigint PRIMARY KEY,
  entry_id      bigint NOT NULL,
  previous_hash text   NOT NULL,
  hash          text   NOT NULL
);

CREATE UNIQUE INDEX audit_chain_entry_id_key ON conciliation.audit_chain (entry_id);
-- Also a writer that does not take the lock cannot give a link two successors.
CREATE UNIQUE INDEX audit_chain_previous_hash_key ON conciliation.audit_chain (previous_hash);

COMMENT ON TABLE conciliation.audit_chain IS
  'One link for each audit_entry, in the order of their commits. Each hash covers the entry and the hash before it, so that "conciliation audit verify" finds an entry that was changed, removed, inserted or moved. Append-only; written only by a trigger.';
COMMENT ON COLUMN conciliation.audit_chain.position IS
  'Place in the chain, from 1 without a gap.';
COMMENT ON COLUMN conciliation.audit_chain.entry_id IS
  'audit_entry.id of the entry.';
COMMENT ON COLUMN conciliation.audit_chain.previous_hash IS
  'hash of the link before; 64 zeros for the first.';
COMMENT ON COLUMN conciliation.audit_chain.hash IS
  'SHA-256 in hexadecimal, as the function audit_entry_hash makes it.';


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
  'Of an invalid or rejected row: external_id of other rows that had its tax_id when it became so, or may have had it at the platform; a few of them where there are many. Once one lets go of it, the row is pending again by itself.';
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


CREATE TABLE conciliation.provider_batch (
  id              bigserial   PRIMARY KEY,
  external_ids    text[]      NOT NULL,
  http_status     integer,
  answer          text,
  error_code      text,
  created_at      timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  finished_at     timestamptz,
  next_attempt_at timestamptz
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
  'Before then nothing is pushed after this request failed. Null: it did not fail.';


CREATE TABLE conciliation.party_account (
  kind               text        NOT NULL,
  party_key          text        NOT NULL,
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
);

COMMENT ON TABLE conciliation.party_account IS
  'Every bank account that a title named for a provider or a financial agent, with a row for each writing of the account. A row without bank, branch, number and destination stands for titles that name no account.';
COMMENT ON COLUMN conciliation.party_account.kind IS
  'provider or financial_agent.';
COMMENT ON COLUMN conciliation.party_account.party_key IS
  'Of a provider title.provider_external_id, or title.provider_identification where there is none; of a financial agent title.financial_agent_identification. A tax identifier without mask. Longer than 255 characters: md5: and its MD5. May be personal data.';
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
  'When last_accepted_date was written.';


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


-- Payment schedule -----------------------------------------------------------------------------

-- Written by the merges, each for its own date, and by erasures: src/schedule/.
CREATE TABLE conciliation.schedule_total (
  accepted_date              date    NOT NULL,
  due_date                   date,
  payee                      uuid    NOT NULL,
  titles                     integer NOT NULL,
  title_id                   bigint  NOT NULL,
  original_value             numeric NOT NULL,
  platform_discounted_value  numeric NOT NULL,
  financial_discounted_value numeric NOT NULL,
  buyer_discounted_value     numeric NOT NULL,
  billing_fee                numeric NOT NULL,
  money_transfer_fee         numeric NOT NULL,

  CONSTRAINT schedule_total_titles_check CHECK (titles >= 1),
  CONSTRAINT schedule_total_dates_check
    CHECK (accepted_date BETWEEN '0001-01-01' AND '9999-12-31'
           AND due_date BETWEEN '0001-01-01' AND '9999-12-31')
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
COMMENT ON COLUMN conciliation.schedule_total.platform_discounted_value IS
  'Exact sum of platform_discounted_value. A title that does not state the amount adds nothing.';
COMMENT ON COLUMN conciliation.schedule_total.financial_discounted_value IS
  'Exact sum of financial_discounted_value. A title that does not state the amount adds nothing.';
COMMENT ON COLUMN conciliation.schedule_total.buyer_discounted_value IS
  'Exact sum of buyer_discounted_value. A title that does not state the amount adds nothing.';
COMMENT ON COLUMN conciliation.schedule_total.billing_fee IS
  'Exact sum of billing_fee. A title that does not state the amount adds nothing.';
COMMENT ON COLUMN conciliation.schedule_total.money_transfer_fee IS
  'Exact sum of money_transfer_fee. A title that does not state the amount adds nothing.';


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
  recovery_hashes text[]      NOT NULL DEFAULT '{}',
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
  CONSTRAINT console_user_totp_check CHECK ((totp_secret IS NULL) = (totp_step IS NULL))
);

CREATE UNIQUE INDEX console_user_name_key ON conciliation.console_user (name);
CREATE UNIQUE INDEX console_user_email_key ON conciliation.console_user (email);
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
COMMENT ON COLUMN conciliation.console_user.recovery_hashes IS
  'For the program only: SHA-256 of each recovery code that was not used, in hexadecimal. Empty: none is left, or the user has no second factor.';
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
  address      text,
  totp_offer   text,
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
COMMENT ON COLUMN conciliation.console_session.address IS
  'IP address of the sign-in. Null: unknown. Personal data.';
COMMENT ON COLUMN conciliation.console_session.totp_offer IS
  'For the program only: secret of a second factor, in base32, that a page has shown and that no code has confirmed yet. Null: none.';
COMMENT ON COLUMN conciliation.console_session.created_at IS
  'When the person signed in.';
COMMENT ON COLUMN conciliation.console_session.last_seen_at IS
  'When the session was last used, to the minute.';
COMMENT ON COLUMN conciliation.console_session.expires_at IS
  'When it ends however much it is used.';
COMMENT ON COLUMN conciliation.console_session.by_oidc IS
  'Whether the person signed in with an account of the identity provider. Signing out of such a session leads to the provider.';


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


CREATE TABLE conciliation.console_link (
  token_hash text        PRIMARY KEY,
  user_id    bigint      NOT NULL,
  purpose    text        NOT NULL,
  created_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at timestamptz NOT NULL,
  used_at    timestamptz,

  CONSTRAINT console_link_user_id_fkey FOREIGN KEY (user_id)
    REFERENCES conciliation.console_user (id) ON DELETE NO ACTION ON UPDATE NO ACTION,
  CONSTRAINT console_link_purpose_check CHECK (purpose IN ('password', 'sign_in'))
);

CREATE INDEX console_link_user_idx ON conciliation.console_link (user_id);

COMMENT ON TABLE conciliation.console_link IS
  'For the program only: links that work once, for a person without a password.';
COMMENT ON COLUMN conciliation.console_link.token_hash IS
  'SHA-256 of the token in the link, in hexadecimal.';
COMMENT ON COLUMN conciliation.console_link.user_id IS
  'console_user.id of the person it is for.';
COMMENT ON COLUMN conciliation.console_link.purpose IS
  'password: to choose a password. sign_in: to be signed in, as the demo does.';
COMMENT ON COLUMN conciliation.console_link.created_at IS
  'When it was made.';
COMMENT ON COLUMN conciliation.console_link.expires_at IS
  'Until when it works.';
COMMENT ON COLUMN conciliation.console_link.used_at IS
  'When it was used, or replaced by a newer one; it works no more. Null: not yet.';


CREATE TABLE conciliation.console_oidc_login (
  state_hash    text        PRIMARY KEY,
  visit_hash    text        NOT NULL,
  nonce         text        NOT NULL,
  code_verifier text        NOT NULL,
  next          text        NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at    timestamptz NOT NULL
);

CREATE INDEX console_oidc_login_expires_idx ON conciliation.console_oidc_login (expires_at);

COMMENT ON TABLE conciliation.console_oidc_login IS
  'For the program only: sign-ins that are at the identity provider at this moment. A row is deleted when its visitor comes back, or when its time is over.';
COMMENT ON COLUMN conciliation.console_oidc_login.state_hash IS
  'SHA-256 of the state that was sent along, in hexadecimal.';
COMMENT ON COLUMN conciliation.console_oidc_login.visit_hash IS
  'SHA-256 of the cookie of the browser that began, in hexadecimal: no other can end it.';
COMMENT ON COLUMN conciliation.console_oidc_login.nonce IS
  'What the ID token has to repeat.';
COMMENT ON COLUMN conciliation.console_oidc_login.code_verifier IS
  'The secret of PKCE, which exchanges the code.';
COMMENT ON COLUMN conciliation.console_oidc_login.next IS
  'Path of the console to go to afterwards.';
COMMENT ON COLUMN conciliation.console_oidc_login.created_at IS
  'When the visitor was sent to the provider.';
COMMENT ON COLUMN conciliation.console_oidc_login.expires_at IS
  'Until when the visitor may come back.';


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
  'The permitted uses, within the rights of the role: read, export, pull.';
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
-- src/ledger/planner-settings.sql.ts.

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
  'Fields beyond the documented interface, at their places in the response. Null: there were none. May be personal data.';
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
  writing_hash  uuid    NOT NULL,
  account_hash  uuid,
  normal_form   text,
  bank          text,
  agency        text,
  agency_digit  text,
  account       text,
  account_digit text,
  destination   jsonb,
  first_id      bigint  NOT NULL,
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
COMMENT ON COLUMN conciliation.staged_account.first_id IS
  'Orders the accounts by the titles that name them.';
COMMENT ON COLUMN conciliation.staged_account.is_restated IS
  'Whether a title that was here before the merge names it since.';


-- Every other column of title_feed and staged_title means the same as the column of that name in title.
DO $$
DECLARE
  field record;
BEGIN
  FOR field IN
    SELECT copy.attrelid::regclass AS relation, copy.attname AS name,
           col_description(source.attrelid, source.attnum) AS description
    FROM pg_attribute AS copy
    JOIN pg_attribute AS source ON source.attname = copy.attname
    WHERE copy.attrelid IN ('conciliation.title_feed'::regclass, 'conciliation.staged_title'::regclass)
      AND source.attrelid = 'conciliation.title'::regclass
      AND copy.attnum > 0
      AND col_description(copy.attrelid, copy.attnum) IS NULL
  LOOP
    EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', field.relation, field.name, field.description);
  END LOOP;
END
$$;


-- Rules that the database enforces for every writer --------------------------------------------

CREATE FUNCTION conciliation.refuse_rewriting() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RAISE EXCEPTION '%.% is append-only, so % is refused', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
    USING ERRCODE = 'restrict_violation', SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME;
END
$$;

COMMENT ON FUNCTION conciliation.refuse_rewriting() IS
  'Trigger of append-only tables: refuses to change or delete a row.';

-- A title that disappears from its date becomes withdrawn.
CREATE TRIGGER title_kept
  BEFORE DELETE OR TRUNCATE ON conciliation.title
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();

CREATE TRIGGER title_revision_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON conciliation.title_revision
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();

CREATE TRIGGER title_change_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON conciliation.title_change
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();

CREATE TRIGGER month_seal_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON conciliation.month_seal
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();

CREATE TRIGGER audit_entry_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON conciliation.audit_entry
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();

CREATE TRIGGER audit_chain_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON conciliation.audit_chain
  FOR EACH STATEMENT EXECUTE FUNCTION conciliation.refuse_rewriting();


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
  'Trigger of pull: refuses another key, date or origin, an older fence, and another fence or state of a pull that has ended.';

CREATE TRIGGER pull_kept
  BEFORE UPDATE OF id, date, origin, fence, state ON conciliation.pull
  FOR EACH ROW
  WHEN (
    (OLD.id, OLD.date, OLD.origin) IS DISTINCT FROM (NEW.id, NEW.date, NEW.origin)
    OR NEW.fence < OLD.fence OR (OLD.fence IS NOT NULL AND NEW.fence IS NULL)
    OR (OLD.state IN ('merged', 'unchanged', 'superseded', 'failed', 'cancelled')
        AND (OLD.state, OLD.fence) IS DISTINCT FROM (NEW.state, NEW.fence))
  )
  EXECUTE FUNCTION conciliation.keep_pull();


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

COMMENT ON FUNCTION conciliation.audit_entry_hash(bigint, text, audit_entry) IS
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


-- Autovacuum -----------------------------------------------------------------------------------

-- PostgreSQL waits for a share of a table, 20 % by default: at 100 million titles for 20 million dead
-- rows, which is years of restatements, and then vacuums for hours. So tables that grow without end are
-- vacuumed and analyzed after a number of rows, whatever their size: docs/large-tables.md. A vacuum for few
-- dead rows reads the pages that changed, and no index while less than 2 % of the pages have any.
--
-- Tables that stay small (sweep, sweep_difference, backfill, checkpoint, drift, alert, alert_delivery, digest_delivery, process_fault,
-- sign_off, month_seal, account_change, erased_party and those of the console) keep PostgreSQL's defaults, which for
-- them are small numbers as well.

-- Two busy days of 50,000 titles. The vacuum after inserts marks new pages as visible to all, so that it
-- need not read them again and an index alone can answer. ANALYZE reads 30,000 pages, however many there
-- are; less often, the statistics would not know the newest dates, which are asked for most.
ALTER TABLE conciliation.title SET (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000
);

-- Only grows; rows die where a merge is rolled back.
ALTER TABLE conciliation.title_revision SET (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000
);

-- A row is updated three to five times, from queued to its outcome, and its index on the state each time.
-- The planner and every worker look for the few open ones, so dead entries of that index are in their way.
ALTER TABLE conciliation.pull SET (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000
);

-- One row for every change of a title, read from its end by consumers of the feed.
ALTER TABLE conciliation.title_change SET (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000
);

-- 365 rows a year, each updated several times a merge: small, and read by every page.
ALTER TABLE conciliation.day SET (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 500
);

-- Every pull of a date updates the date's open rejects. Their texts are TOAST: they are written once,
-- and emptied by the command retention.
ALTER TABLE conciliation.rejected_title SET (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000,
  toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 1000
);

-- An ERP may write all its suppliers every night, changed or not, and each pushed row is updated twice.
ALTER TABLE conciliation.provider SET (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000
);

-- One update a request, with an answer of up to 64 KiB in TOAST, which retention sets to null.
ALTER TABLE conciliation.provider_batch SET (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000,
  toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 1000
);

-- Each account that a day names is updated by the day's merge.
ALTER TABLE conciliation.party_account SET (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000
);

-- The rows of a date are replaced by each merge that changes the date: up to one row a title.
ALTER TABLE conciliation.schedule_total SET (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000
);

-- Only grow, an entry and a link for everything that a person does.
ALTER TABLE conciliation.audit_entry SET (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000
);
ALTER TABLE conciliation.audit_chain SET (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000
);
