-- Earlier days ---------------------------------------------------------------------------------

-- 16 bytes a revision: with them the digest of every earlier state of a day can be computed in SQL.
ALTER TABLE conciliation.title_revision ADD COLUMN content_hash uuid NOT NULL;

COMMENT ON COLUMN conciliation.title_revision.content_hash IS
  'title.content_hash before the change.';


-- Retention ------------------------------------------------------------------------------------

COMMENT ON COLUMN conciliation.provider_batch.answer IS
  'Body of the answer, as received: at most 64 KiB of it, U+0000 and what is not UTF-8 replaced by U+FFFD. Null: there was none, or "conciliation retention" removed it. May be personal data.';
COMMENT ON COLUMN conciliation.rejected_title.raw IS
  'Its text as it came, cut where very long, unstorable characters replaced. Empty: "conciliation retention" removed it. Personal data.';


-- Autovacuum -----------------------------------------------------------------------------------

-- PostgreSQL waits for a share of a table, 20 % by default: at 100 million titles for 20 million dead
-- rows, which is years of restatements, and then vacuums for hours. So tables that grow without end are
-- vacuumed and analyzed after a number of rows, whatever their size: docs/large-tables.md. A vacuum for few
-- dead rows reads the pages that changed, and no index while less than 2 % of the pages have any.
--
-- Tables that stay small (backfill, checkpoint, drift, alert, sign_off, account_change and those of the
-- console) keep PostgreSQL's defaults, which for them are small numbers as well.

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


-- Erased parties -------------------------------------------------------------------------------

CREATE TABLE conciliation.erased_party (
  id         bigserial   PRIMARY KEY,
  erased_at  timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  ended_at   timestamptz,
  salt       bytea       NOT NULL,
  key_hashes bytea[]     NOT NULL
);

COMMENT ON TABLE conciliation.erased_party IS
  'Suppliers and financial agents whose personal data "conciliation erase-party" has erased. In title they are called erased- and the id. What later answers say of them is written without personal data; to be recognised they are kept as hashes.';
COMMENT ON COLUMN conciliation.erased_party.id IS
  'Key of the party; its pseudonym is erased- and this number.';
COMMENT ON COLUMN conciliation.erased_party.erased_at IS
  'When the party was erased.';
COMMENT ON COLUMN conciliation.erased_party.ended_at IS
  'When the erasure was lifted: from then on answers are written as they come. Null: it lasts.';
COMMENT ON COLUMN conciliation.erased_party.salt IS
  'For the program only: a secret random number that goes into the hashes.';
COMMENT ON COLUMN conciliation.erased_party.key_hashes IS
  'For the program only: SHA-256 over salt and each key of the party, "tax_id:" and its tax identifier or "external_id:" and its number in the ERP. Whoever has the salt can try out tax identifiers. Personal data.';

ALTER TABLE conciliation.title ADD COLUMN erased_at timestamptz;
COMMENT ON COLUMN conciliation.title.erased_at IS
  'Since when personal data of a party of the title is erased: names are pseudonyms, accounts and extra are null, and the hashes are still those of the whole title. Null: nothing is erased.';

ALTER TABLE conciliation.staged_title ADD COLUMN erased_at timestamptz;
COMMENT ON COLUMN conciliation.staged_title.erased_at IS
  'As title.erased_at: set by a merge before it compares.';

COMMENT ON TABLE conciliation.title_revision IS
  'One row for every change of a title after its first sight. Append-only: UPDATE, DELETE and TRUNCATE are refused; "conciliation erase-party" alone replaces personal data. Taking before of the newest revisions over the row in title, one after the other, gives any earlier state.';
COMMENT ON COLUMN conciliation.account_change.party_key IS
  'As party_account.party_key, or the pseudonym of a party that was erased, of which before and after are null. May be personal data.';
