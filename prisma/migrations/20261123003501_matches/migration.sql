-- Matches of titles with payables, and breaks that a person has resolved.

ALTER TABLE conciliation.program_lock DROP CONSTRAINT program_lock_name_check;
ALTER TABLE conciliation.program_lock ADD CONSTRAINT program_lock_name_check
  CHECK (name IN ('closing', 'planner', 'alerts', 'push', 'audit', 'matching'));
INSERT INTO conciliation.program_lock (name) VALUES ('matching');
COMMENT ON COLUMN conciliation.program_lock.name IS
  'closing: the closing phase of a merge. planner: the planning of pulls and sweeps. alerts: the derivation of alerts. push: the requests with providers. audit: the end of the audit chain. matching: the changes of matches.';

-- Finds whether a payable changed since the last run.
CREATE INDEX erp_payable_changed_idx ON conciliation.erp_payable (changed_at);

CREATE TABLE conciliation.match_run (
  id           bigserial   PRIMARY KEY,
  started_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  requested_by text        NOT NULL,
  rule_version smallint    NOT NULL,
  matched      integer     NOT NULL DEFAULT 0,
  reopened     integer     NOT NULL DEFAULT 0,
  time_zone     text    NOT NULL DEFAULT 'America/Sao_Paulo',
  bookings_from date,
  bookings_seen bigint  NOT NULL DEFAULT 0,
  states_paid   boolean NOT NULL DEFAULT false,
  unmapped_companies integer NOT NULL DEFAULT 0
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
COMMENT ON COLUMN conciliation.match_run.bookings_seen IS
  'The newest booking_batch.id plus the newest booking_receipt.id with an outcome, as the run saw them. A greater sum later means that a booking changed since.';
COMMENT ON COLUMN conciliation.match_run.states_paid IS
  'Whether a complete snapshot of the ERP has stated a paid payable. A payable that a snapshot of such an ERP lacks was not paid.';
COMMENT ON COLUMN conciliation.match_run.unmapped_companies IS
  'Companies of the payables that stand for no known buyer, although there are several companies or buyers. A person confirms their buyers.';


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


CREATE TABLE conciliation.title_match (
  id            bigserial   PRIMARY KEY,
  title_id      bigint      NOT NULL,
  erp_key       text        NOT NULL REFERENCES conciliation.erp_payable (erp_key),
  rule          text        NOT NULL,
  rule_version  smallint    NOT NULL,
  run_id        bigint      REFERENCES conciliation.match_run (id),
  made_at       timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  made_by       text        NOT NULL,
  reason        text,
  title_ground  uuid        NOT NULL,
  erp_ground    uuid        NOT NULL,
  erp_value     numeric     NOT NULL,
  ended_at      timestamptz,
  ended_by      text,
  end_reason    text,

  CONSTRAINT title_match_rule_check CHECK (rule IN ('order', 'exact', 'tolerance', 'person')),
  CONSTRAINT title_match_run_check CHECK ((rule = 'person') = (run_id IS NULL)),
  CONSTRAINT title_match_end_check CHECK (num_nulls(ended_at, ended_by, end_reason) IN (0, 3))
) WITH (autovacuum_vacuum_threshold = 50000, autovacuum_vacuum_scale_factor = 0,
        autovacuum_analyze_threshold = 50000, autovacuum_analyze_scale_factor = 0);

-- Nothing is matched twice.
CREATE UNIQUE INDEX title_match_title_key ON conciliation.title_match (title_id) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX title_match_payable_key ON conciliation.title_match (erp_key) WHERE ended_at IS NULL;
CREATE INDEX title_match_run_idx ON conciliation.title_match (run_id);

COMMENT ON TABLE conciliation.title_match IS
  'Every match of a title with a payable of the ERP. A title and a payable have one match at most that has not ended.';
COMMENT ON COLUMN conciliation.title_match.id IS
  'Key of the match.';
COMMENT ON COLUMN conciliation.title_match.title_id IS
  'title.id.';
COMMENT ON COLUMN conciliation.title_match.erp_key IS
  'erp_payable.erp_key.';
COMMENT ON COLUMN conciliation.title_match.rule IS
  'order: the order and the value. exact: supplier, value and due date. tolerance: supplier, value, and a due date within the tolerance. person: a person made the match.';
COMMENT ON COLUMN conciliation.title_match.rule_version IS
  'The version of the rules.';
COMMENT ON COLUMN conciliation.title_match.run_id IS
  'The run that made the match. Null: a person made it.';
COMMENT ON COLUMN conciliation.title_match.made_at IS
  'When the match was made.';
COMMENT ON COLUMN conciliation.title_match.made_by IS
  'The person who made the match, or requested the run.';
COMMENT ON COLUMN conciliation.title_match.reason IS
  'The reason of the person. Null: the program made the match.';
COMMENT ON COLUMN conciliation.title_match.title_ground IS
  'Hash of the fields of the title that the rules compare, as they were.';
COMMENT ON COLUMN conciliation.title_match.erp_ground IS
  'Hash of the fields of the payable that the rules compare, as they were.';
COMMENT ON COLUMN conciliation.title_match.erp_value IS
  'The whole value of the payable, or its open value where the ERP did not state the whole, as it was.';
COMMENT ON COLUMN conciliation.title_match.ended_at IS
  'When the match ended. Null: it lasts.';
COMMENT ON COLUMN conciliation.title_match.ended_by IS
  'The person who undid the match; matching: a run ended the match. Null: the match lasts.';
COMMENT ON COLUMN conciliation.title_match.end_reason IS
  'Why the match ended. Null: it lasts.';


CREATE TABLE conciliation.break_decision (
  id         bigserial   PRIMARY KEY,
  kind       text        NOT NULL,
  title_id   bigint,
  erp_key    text,
  ground     uuid        NOT NULL,
  decided_at timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  decided_by text        NOT NULL,
  reason     text        NOT NULL,

  CONSTRAINT break_decision_subject_check CHECK (num_nonnulls(title_id, erp_key) > 0)
);

CREATE INDEX break_decision_title_idx ON conciliation.break_decision (title_id);
CREATE INDEX break_decision_payable_idx ON conciliation.break_decision (erp_key);

COMMENT ON TABLE conciliation.break_decision IS
  'Breaks that a person has resolved with a reason. A decision counts while both sides are as the person saw them.';
COMMENT ON COLUMN conciliation.break_decision.id IS
  'Key of the decision.';
COMMENT ON COLUMN conciliation.break_decision.kind IS
  'The kind of the break.';
COMMENT ON COLUMN conciliation.break_decision.title_id IS
  'title.id. Null: the break has no title.';
COMMENT ON COLUMN conciliation.break_decision.erp_key IS
  'erp_payable.erp_key. Null: the break has no payable.';
COMMENT ON COLUMN conciliation.break_decision.ground IS
  'Hash of both sides as the person saw them.';
COMMENT ON COLUMN conciliation.break_decision.decided_at IS
  'When the person decided.';
COMMENT ON COLUMN conciliation.break_decision.decided_by IS
  'The person.';
COMMENT ON COLUMN conciliation.break_decision.reason IS
  'The reason in words.';


CREATE VIEW conciliation.title_payable AS
SELECT title_id, erp_key FROM conciliation.title_match WHERE ended_at IS NULL;

COMMENT ON VIEW conciliation.title_payable IS
  'The payable that each matched title has.';
COMMENT ON COLUMN conciliation.title_payable.title_id IS
  'title.id.';
COMMENT ON COLUMN conciliation.title_payable.erp_key IS
  'erp_payable.erp_key.';
