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
