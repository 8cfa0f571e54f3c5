/** That autovacuum comes after a number of rows and not after a share of a table of 100 million. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../../src/database/migrate.ts';
import {
  type EmbeddedPostgres,
  openEmbeddedPostgres,
} from '../../../src/embedded/embedded-postgres.ts';

const HUNDRED_MILLION = 100_000_000;
const MOST_ROWS = 200_000;
/** Tables whose rows are few by nature, so that a share of them is a few rows too. */
const SMALL = [
  '_prisma_migrations',
  'account_change',
  'alert',
  'alert_delivery',
  'api_key',
  'backfill',
  'booking_batch',
  'booking_consumer',
  'booking_position',
  'booking_start',
  'break_decision',
  'check_finding',
  'checkpoint',
  'company_buyer',
  'console_link',
  'console_oidc_login',
  'console_session',
  'console_user',
  'date_digest',
  'day_buyer',
  'day_check',
  'digest_delivery',
  'drift',
  'erased_party',
  'erp_payable_import',
  'match_run',
  'month_seal',
  'party_equivalent',
  'payment_hold',
  'process_fault',
  'program_lock',
  'sign_in_limit',
  'sign_off',
  'sweep',
  'sweep_difference',
  'title_check',
  'title_finding',
  'title_succession',
];
const PATIENCE_MS = 90_000;

let dataDir: string;
let server: EmbeddedPostgres;
let client: Client;
// A separate server, whose autovacuum runs every second.
beforeAll(async () => {
  const logger = pino({ level: 'silent' });
  dataDir = await mkdtemp(join(tmpdir(), 'conciliation-autovacuum-'));
  server = await openEmbeddedPostgres({ dataDir, logger });
  await migrate({ databaseUrl: server.url, logger });
  client = new Client({ connectionString: server.url });
  await client.connect();
  await client.query('ALTER SYSTEM SET autovacuum = off');
  await client.query(`ALTER SYSTEM SET autovacuum_naptime = '1s'`);
  await client.query('SELECT pg_reload_conf()');
});
afterAll(async () => {
  await client.end();
  await server.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function pretendLarge(): Promise<void> {
  await client.query(
    `UPDATE pg_class SET reltuples = $1, relpages = $2
     WHERE relnamespace = 'conciliation'::regnamespace AND relkind = 'r'`,
    [HUNDRED_MILLION, HUNDRED_MILLION / 20],
  );
}

interface Threshold {
  readonly table_name: string;
  readonly vacuum_at: number;
  readonly vacuum_insert_at: number;
  readonly analyze_at: number;
}

test('the documented query returns thresholds that do not grow with the table', async () => {
  await pretendLarge();
  const { rows: tables } = await client.query<Threshold>(
    `SELECT relname AS table_name, 0 AS vacuum_at, 0 AS vacuum_insert_at, 0 AS analyze_at FROM pg_class
     WHERE relnamespace = 'conciliation'::regnamespace AND relkind = 'r' ORDER BY relname`,
  );
  const document = await readFile('docs/large-tables.md', 'utf8').catch(() => '');
  const query = [...document.matchAll(/```sql\n(.*?)```/gs)]
    .map((match) => match[1] ?? '')
    .find((sql) => sql.includes('autovacuum_vacuum_threshold'));
  expect(query).toBeDefined();
  const { rows } = await client.query<Threshold>(query ?? '');
  expect(rows.map((row) => row.table_name).sort()).toEqual(
    tables.map((row) => row.table_name).sort(),
  );
  const unbounded = rows.filter(
    ({ vacuum_at, analyze_at }) => vacuum_at > MOST_ROWS || analyze_at > MOST_ROWS,
  );
  // The staging tables are emptied, not kept; two of them are as small as what differs.
  const names = unbounded.map((row) => row.table_name).filter((name) => !name.startsWith('staged'));
  expect(names.sort()).toEqual(SMALL);
  const title = rows.find((row) => row.table_name === 'title');
  expect(title).toMatchObject({
    vacuum_at: 100_000,
    vacuum_insert_at: 100_000,
    analyze_at: 50_000,
  });
});

async function readTitleStatistics() {
  const { rows } = await client.query<{ vacuums: number; analyzes: number; dead: number }>(
    `SELECT autovacuum_count::int AS vacuums, autoanalyze_count::int AS analyzes, n_dead_tup::int AS dead
     FROM pg_stat_all_tables WHERE relid = 'conciliation.title'::regclass`,
  );
  return rows[0];
}

test('autovacuum comes to a table that passes for 100 million rows after 100,000 dead ones', async () => {
  await client.query(`
    INSERT INTO conciliation.title
      (order_uid, occurrence, accepted_date, original_value, identity_hash, content_hash, raw_hash,
       first_pull_id, last_change_pull_id)
    SELECT 'o', nr, '2026-01-05', 1, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 1, 1
    FROM generate_series(1, 20000) AS nr`);
  for (let round = 0; round < 6; round += 1) {
    await client.query(`UPDATE conciliation.title SET last_change_pull_id = ${round + 2}`);
  }
  await pretendLarge();
  expect(await readTitleStatistics()).toMatchObject({ vacuums: 0, analyzes: 0 });
  await client.query('ALTER SYSTEM SET autovacuum = on');
  await client.query('SELECT pg_reload_conf()');
  const startedMs = performance.now();
  for (;;) {
    const statistics = await readTitleStatistics();
    const isDone = statistics !== undefined && statistics.vacuums > 0 && statistics.analyzes > 0;
    if (isDone || performance.now() - startedMs > PATIENCE_MS) break;
    await sleep(500);
  }
  const statistics = await readTitleStatistics();
  expect(statistics?.vacuums).toBeGreaterThan(0);
  expect(statistics?.analyzes).toBeGreaterThan(0);
});
