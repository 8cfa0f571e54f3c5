/**
 * The limit: PostgreSQL's own loader with rows that were parsed, checked and hashed in advance. COPY into a temporary
 * table, then one merge into a table of the columns and indexes of conciliation.title and a numbered feed
 * (change_seq), without history, ledger or checkpoint. One connection, one transaction for each response.
 *
 * It is made as hard to reach as possible: the rows come from a file in COPY's text format, the connection is open
 * before the clock starts, and "changed" is one comparison of two hashes that were computed in advance.
 */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { TITLE_COLUMNS } from '#dist/core/title/title.js';
import { answerParent } from './child.ts';
import { type MeterReading, startMeter } from './meter.ts';
import type { Answer } from './render-process.ts';

const CHUNK_BYTES = 256 * 1024;

const HASHES = ['identity_hash', 'content_hash', 'raw_hash'];
/** Of a rendered row: the columns of the content behind their number among equals. */
const columns = ['occurrence', ...TITLE_COLUMNS, ...HASHES].join(', ');
const assignments = [...TITLE_COLUMNS, 'content_hash', 'raw_hash']
  .map((name) => `${name} = excluded.${name}`)
  .join(', ');

const CREATE_LIMIT_TABLE = `
  CREATE SCHEMA IF NOT EXISTS bench_limit;
  CREATE SEQUENCE IF NOT EXISTS bench_limit.change_seq;
  CREATE TABLE IF NOT EXISTS bench_limit.title
    (LIKE conciliation.title INCLUDING ALL, change_seq bigint NOT NULL);
  CREATE UNIQUE INDEX IF NOT EXISTS title_change_seq_idx ON bench_limit.title (change_seq)`;

const CREATE_INCOMING = `
  CREATE TEMPORARY TABLE incoming ON COMMIT DELETE ROWS AS
  SELECT ${columns} FROM bench_limit.title WITH NO DATA`;

const COPY_INCOMING = `COPY incoming (${columns}) FROM STDIN`;

const MERGE_INCOMING = `
  INSERT INTO bench_limit.title AS title (${columns}, change_seq, first_pull_id, last_change_pull_id)
  SELECT ${columns}, nextval('bench_limit.change_seq'), 1, 1 FROM incoming
  ON CONFLICT (accepted_date, identity_hash, occurrence) DO UPDATE
  SET ${assignments}, change_seq = excluded.change_seq,
      last_change_pull_id = excluded.last_change_pull_id, changed_at = now()
  WHERE title.content_hash IS DISTINCT FROM excluded.content_hash`;

async function load({
  databaseUrl,
  answers,
}: {
  readonly databaseUrl: string;
  readonly answers: readonly Answer[];
}): Promise<MeterReading & { titles: number }> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  // As every session of the product has it.
  await client.query('SET TimeZone TO UTC');
  await client.query(CREATE_LIMIT_TABLE);
  await client.query(CREATE_INCOMING);
  await client.query('CHECKPOINT');
  const readMeter = startMeter();
  let titles = 0;
  for (const { rows } of answers) {
    await client.query('BEGIN');
    const copy = client.query(copyFrom(COPY_INCOMING));
    await pipeline(createReadStream(rows, { highWaterMark: CHUNK_BYTES }), copy);
    titles += copy.rowCount;
    await client.query(MERGE_INCOMING);
    await client.query('COMMIT');
  }
  const measured = readMeter();
  await client.end();
  return { ...measured, titles };
}
export type LimitProgram = typeof load;

answerParent(load);
