-- Undocumented fields that jsonb cannot hold, a second external id of the provider, and the order uids and the
-- acceptance of rejects.
DO $$
DECLARE
  relation text;
  content CONSTANT text :=
    'Fields beyond the documented interface, at their places in the response%s. A field whose value cannot be kept exactly as jsonb has the JSON text of the value, and a field (further fields) has the JSON text of fields whose names are repeated or cannot be kept. provider.externalId is in extra if it differs from providerExternalId. Null: there were none. May be personal data.';
BEGIN
  EXECUTE format('COMMENT ON COLUMN conciliation.title.extra IS %L',
                 format(content, ', as of the last change of a documented field'));
  EXECUTE format('COMMENT ON COLUMN conciliation.title_feed.extra IS %L',
                 format(content, ', as of the last change of a documented field'));
  EXECUTE format('COMMENT ON COLUMN conciliation.staged_title.extra IS %L', format(content, ''));
  FOREACH relation IN ARRAY ARRAY['title', 'title_feed', 'staged_title', 'booking_line', 'booking_feed'] LOOP
    EXECUTE format('COMMENT ON COLUMN conciliation.%I.provider_external_id IS %L', relation,
      'providerExternalId, or provider.externalId if that is absent: the provider (supplier) in the ERP''s own numbering; joins provider.external_id. Null: not stated.');
  END LOOP;
END $$;
COMMENT ON COLUMN conciliation.title.content_hash IS
  'Hash of the columns of documented fields; equal exactly for titles with equal values in all of them. 1.5 and 1.50 are equal. extra is not covered. day.content_version is the version of the list of covered fields.';
COMMENT ON COLUMN conciliation.rejected_title.order_uid IS
  'order.uid of the rejected title. Null: it cannot be read. A current title that the response lacks stays current while a reject of unknown or equal order_uid may be that title. Order uids with the same ASCII letters and digits are equal, regardless of case. An order uid without them, or with a character beyond printable ASCII, is unknown.';
COMMENT ON COLUMN conciliation.rejected_title.status IS
  'open: a person should look at it; its day is not reconciled. accepted: a person decided that the day may do without it; open again if a later response has other titles and keeps a current title because of a reject. resolved: a later response no longer contained it.';
COMMENT ON COLUMN conciliation.drift.value IS
  'Of an unknown value: the value, at most 64 characters. Of an unknown field: the JSON type of its value, string if the value is kept as JSON text; unknown for a field beside titles.';
