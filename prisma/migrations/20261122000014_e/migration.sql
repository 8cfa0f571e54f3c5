-- A person acknowledges what responses have beyond the documented interface.

ALTER TABLE conciliation.drift
  ADD COLUMN acknowledged_at timestamptz,
  ADD COLUMN acknowledged_by text,
  ADD COLUMN reason          text,
  ADD CONSTRAINT drift_acknowledged_check
    CHECK (num_nonnulls(acknowledged_at, acknowledged_by, reason) IN (0, 3)),
  ADD CONSTRAINT drift_reason_check CHECK (btrim(reason) <> '');

COMMENT ON TABLE conciliation.drift IS
  'What responses have beyond the documented interface: unknown fields, and unknown values of documented enumerations. One row for each, from its first sight on. Such a field or value is kept with its title, rejects no title and fails no pull. A row that no person has acknowledged is an alert (contract_drift).';
COMMENT ON COLUMN conciliation.drift.path IS
  'Place in the response, by field names.';
COMMENT ON COLUMN conciliation.drift.kind IS
  'unknown_field: the interface does not have the field. unknown_value: the interface has the field and does not have the value.';
COMMENT ON COLUMN conciliation.drift.value IS
  'Of an unknown value: the value, at most 64 characters. Of an unknown field: the JSON type of what it holds; unknown for a field beside titles.';
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
