CREATE TABLE conciliation.process_fault (
  process_id uuid        NOT NULL,
  kind       text        NOT NULL,
  seen_at    timestamptz NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT process_fault_pkey PRIMARY KEY (process_id, kind),
  CONSTRAINT process_fault_kind_check CHECK (kind IN ('token_refused', 'token_unusable', 'clock_skew'))
);

COMMENT ON TABLE conciliation.process_fault IS
  'What keeps a process of the service from its work, as the process itself reports. The alerts platform_auth and clock_skew are derived from this table.';
COMMENT ON COLUMN conciliation.process_fault.process_id IS
  'The process that reports; drawn at each start.';
COMMENT ON COLUMN conciliation.process_fault.kind IS
  'token_refused: the platform refused the token of the process. token_unusable: the process has had no usable token for a minute. clock_skew: the clock of the process differs from the clock of the database by more than two minutes.';
COMMENT ON COLUMN conciliation.process_fault.seen_at IS
  'When the process reported the fault last, by the clock of the database. A process reports every 15 seconds; after three minutes without a report it has ended. The row of a refused token stays until a token was accepted in a request that was sent later.';


COMMENT ON TABLE conciliation.checkpoint IS
  'A single row: up to which date everything is reconciled without a gap. A merge only moves it forward; a date restated later does not move it back, see day. Where start_date is corrected, it is computed anew and may move back.';
COMMENT ON COLUMN conciliation.checkpoint.start_date IS
  'First accepted date that is reconciled here; decided at the first start and remembered. "conciliation start-date set" corrects it, with an entry in audit_entry.';
COMMENT ON COLUMN conciliation.checkpoint.pull_id IS
  'pull.id of the pull whose merge moved it last. Null: no merge has moved it since start_date was decided or corrected.';
