/** That autovacuum comes after a number of rows and not after a share of a table of 100 million. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { clientOfFile, worldOfFile } from '../../support/file-world.ts';

const HUNDRED_MILLION = 100_000_000;
const MOST_ROWS = 200_000;
/** Tables whose rows are few by nature, so that a share of them is a few rows too. */
const SMALL = `
  _prisma_migrations account_change alert alert_delivery api_key backfill booking_batch
  booking_consumer booking_position booking_start break_decision check_finding checkpoint
  closed_day company_buyer console_link console_oidc_login console_session console_user date_digest
  day_buyer day_check digest_delivery drift erased_party erp_balance erp_payable_import holiday match_run
  month_seal party_equivalent payment_hold process_fault program_lock sign_in_limit sign_off
  sweep sweep_difference title_check title_finding title_succession`
  .trim()
  .split(/\s+/);

const world = worldOfFile();
const client = clientOfFile(() => world.databaseUrl);

interface Threshold {
  readonly table_name: string;
  readonly vacuum_at: number;
  readonly vacuum_insert_at: number;
  readonly analyze_at: number;
}

test('ops/postgres/autovacuum.sql returns thresholds that do not grow with the table', async () => {
  await client.query(
    `UPDATE pg_class SET reltuples = $1, relpages = $2
     WHERE relnamespace = 'conciliation'::regnamespace AND relkind = 'r'`,
    [HUNDRED_MILLION, HUNDRED_MILLION / 20],
  );
  const { rows: tables } = await client.query<Threshold>(
    `SELECT relname AS table_name, 0 AS vacuum_at, 0 AS vacuum_insert_at, 0 AS analyze_at FROM pg_class
     WHERE relnamespace = 'conciliation'::regnamespace AND relkind = 'r' ORDER BY relname`,
  );
  const query = await readFile('ops/postgres/autovacuum.sql', 'utf8');
  const { rows } = await client.query<Threshold>(query);
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
