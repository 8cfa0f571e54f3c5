-- The account of the first title depended on the order of the response.
ALTER TABLE conciliation.staged_account DROP COLUMN first_id;

COMMENT ON COLUMN conciliation.party_account.last_seen_at IS
  'When last_accepted_date was written, or a title of that date was restated to the account.';
