// The limit: what PostgreSQL's own loader does with rows that somebody has parsed, checked and hashed
// already. COPY into a temporary table, then one merge into a table of the columns and indexes of
// conciliation.title and a numbered feed (change_seq), without history, ledger or checkpoint.
//
// It is made as hard to reach as it can be: the rows come from a file in COPY's text format, the
// connection is open before the clock starts, and "changed" is one comparison of two hashes that were
// worked out beforehand.
import { TITLE_COLUMNS } from '#dist/domain/title.js';

export const LIMIT_TABLE = 'bench_limit.title';

/** The columns of a pre-rendered row: the 32 of the content behind their number among equals. */
export const ROW_COLUMNS = [
  'occurrence',
  ...TITLE_COLUMNS,
  'identity_hash',
  'content_hash',
  'raw_hash',
];

const columns = ROW_COLUMNS.join(', ');
const assignments = [...TITLE_COLUMNS, 'content_hash', 'raw_hash']
  .map((name) => `${name} = excluded.${name}`)
  .join(', ');

export const CREATE_LIMIT_TABLE = `
  CREATE SCHEMA bench_limit;
  CREATE SEQUENCE bench_limit.change_seq;
  CREATE TABLE ${LIMIT_TABLE} (LIKE conciliation.title INCLUDING ALL, change_seq bigint NOT NULL);
  CREATE UNIQUE INDEX ON ${LIMIT_TABLE} (change_seq)`;

export const CREATE_INCOMING = `
  CREATE TEMPORARY TABLE incoming ON COMMIT DELETE ROWS AS
  SELECT ${columns} FROM ${LIMIT_TABLE} WITH NO DATA`;

export const COPY_INCOMING = `COPY incoming (${columns}) FROM STDIN`;

export const MERGE_INCOMING = `
  INSERT INTO ${LIMIT_TABLE} AS title (${columns}, change_seq, first_pull_id, last_change_pull_id)
  SELECT ${columns}, nextval('bench_limit.change_seq'), 1, 1 FROM incoming
  ON CONFLICT (accepted_date, identity_hash, occurrence) DO UPDATE
  SET ${assignments}, change_seq = excluded.change_seq,
      last_change_pull_id = excluded.last_change_pull_id, changed_at = now()
  WHERE title.content_hash IS DISTINCT FROM excluded.content_hash`;

/** Only where titles are missing: an upsert by itself never notices them. */
export const WITHDRAW_MISSING = `
  UPDATE ${LIMIT_TABLE} AS title
  SET status = 'withdrawn', change_seq = nextval('bench_limit.change_seq'), changed_at = now()
  WHERE status = 'current' AND accepted_date = ANY($1::date[])
    AND NOT EXISTS (SELECT FROM incoming
                    WHERE incoming.accepted_date = title.accepted_date
                      AND incoming.identity_hash = title.identity_hash
                      AND incoming.occurrence = title.occurrence)`;
