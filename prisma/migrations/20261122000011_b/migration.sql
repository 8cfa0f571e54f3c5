-- Earlier days ---------------------------------------------------------------------------------

-- 16 bytes a revision: with them the digest of every earlier state of a day can be computed in SQL.
ALTER TABLE conciliation.title_revision ADD COLUMN content_hash uuid NOT NULL;

COMMENT ON COLUMN conciliation.title_revision.content_hash IS
  'title.content_hash before the change.';
