-- An account of a provider that is named with another external identifier, or without one, is compared with the
-- accounts of the same tax identifier.
ALTER TABLE conciliation.party_account ADD COLUMN tax_id text;
ALTER TABLE conciliation.staged_account ADD COLUMN tax_id text;
CREATE INDEX party_account_tax_id_idx ON conciliation.party_account (tax_id);

COMMENT ON COLUMN conciliation.party_account.tax_id IS
  'The tax identifier of the party in the newest title that named the account: in the form of provider.tax_id, or the MD5 of a text of more than 255 characters. Null: not stated, or not read since the column exists. May be personal data.';
COMMENT ON COLUMN conciliation.staged_account.tax_id IS
  'As party_account.tax_id. May be personal data.';
