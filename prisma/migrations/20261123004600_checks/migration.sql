-- The checks of the data of a day. docs/checks.md lists the checks.

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
  'What a check found in a title. A finding is open until the title no longer has the fault or a person resolves the finding. A date with an open finding of the severity review is in the state attention. docs/checks.md lists the checks.';
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

ALTER TABLE conciliation.pull ADD COLUMN hold_detail jsonb;

COMMENT ON COLUMN conciliation.pull.hold_detail IS
  'What the limit was compared with: found (titles, or the factor), of (the titles that found is a share of, or the usual number), limit, and buyer where the limit holds for the titles of one buyer. Null: the pull was not held, or not for its plausibility.';
COMMENT ON COLUMN conciliation.pull.hold_reason IS
  'Why the pull was held. emptied: the response has no title for a date that has some. unreadable: the response has titles, all of them rejected. withdrawal_limit: it would withdraw more than the configured share. run_withdrawals: the responses of one run together would, or the run has not ended. buyer_withdrawals: more than that share of the titles of one buyer. buyer_missing: it has no title of a buyer that has titles on each of these weekdays. duplicates: many titles equal another one of the response. growth: many times the usual number of titles of the weekday. changed_share: it would change more than the configured share. value_jump: the mean value differs from the usual one of the weekday by a great factor. Null: it was not held.';
