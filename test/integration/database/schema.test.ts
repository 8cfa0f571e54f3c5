import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { clientOfFile, worldOfFile } from '../../support/pull-world.ts';

const world = worldOfFile();
const client = clientOfFile(() => world.databaseUrl);

beforeEach(() => client.query('BEGIN'));
afterEach(() => client.query('ROLLBACK'));

async function refusal(statement: string): Promise<string | undefined> {
  await client.query('SAVEPOINT before');
  const code = await client.query(statement).then(
    () => undefined,
    (error: { code?: string }) => error.code,
  );
  await client.query('ROLLBACK TO SAVEPOINT before');
  return code;
}

const RESTRICT_VIOLATION = '23001';

test('the staging tables are unlogged, and no other table is', async () => {
  const { rows } = await client.query<{ name: string }>(`
    SELECT relname AS name FROM pg_class
    WHERE relnamespace = 'conciliation'::regnamespace AND relkind = 'r' AND relpersistence = 'u'
    ORDER BY relname`);
  expect(rows.map((row) => row.name)).toEqual([
    'staged_account',
    'staged_base',
    'staged_change',
    'staged_missing',
    'staged_reject',
    'staged_title',
  ]);
});

test('the feed shows every column of a title but the hashes, and when it was erased', async () => {
  const { rows } = await client.query<{ name: string }>(`
    SELECT attname AS name FROM pg_attribute
    WHERE attrelid = 'conciliation.title'::regclass AND attnum > 0
    EXCEPT SELECT attname FROM pg_attribute WHERE attrelid = 'conciliation.title_feed'::regclass
    ORDER BY name`);
  expect(rows.map((row) => row.name)).toEqual([
    'content_hash',
    'erased_at',
    'identity_hash',
    'raw_hash',
  ]);
});

/** A row of each table that takes rows and gives none back, and a column of it. */
const KEPT = {
  title: [
    'status',
    `INSERT INTO conciliation.title
       (id, order_uid, occurrence, accepted_date, original_value, identity_hash, content_hash, raw_hash,
        first_pull_id, last_change_pull_id)
     VALUES (1, 'o', 1, '2026-01-05', 1.50, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 1, 1)`,
  ],
  title_revision: [
    'kind',
    `INSERT INTO conciliation.title_revision (title_id, revision, kind, pull_id, content_hash, before, after)
     VALUES (1, 1, 'changed', 1, gen_random_uuid(), '{}', '{}')`,
  ],
  title_change: [
    'kind',
    `INSERT INTO conciliation.title_change (title_id, kind, pull_id) VALUES (1, 'inserted', 1)`,
  ],
  audit_entry: [
    'action',
    `INSERT INTO conciliation.audit_entry (actor, action) VALUES ('someone', 'something')`,
  ],
} as const;

test.each(Object.keys(KEPT) as (keyof typeof KEPT)[])(
  '%s takes rows and gives none back',
  async (table) => {
    for (const [, insert] of Object.values(KEPT)) await client.query(insert);
    // A table whose triggers still wait for the commit refuses TRUNCATE for that reason alone.
    await client.query('SET CONSTRAINTS ALL IMMEDIATE');
    const [column] = KEPT[table];
    const rewriting = [
      `DELETE FROM conciliation.${table}`,
      `TRUNCATE conciliation.${table} CASCADE`,
      // The columns of a title change, with a revision.
      ...(table === 'title' ? [] : [`UPDATE conciliation.${table} SET ${column} = ${column}`]),
    ];
    for (const statement of rewriting) expect(await refusal(statement)).toBe(RESTRICT_VIOLATION);
    const { rows } = await client.query(`SELECT FROM conciliation.${table}`);
    expect(rows).toHaveLength(1);
  },
);

describe('provider', () => {
  // Every statement runs in a separate transaction, because now() is constant inside a transaction.
  beforeEach(() => client.query('ROLLBACK'));
  afterEach(() => client.query('DELETE FROM conciliation.provider'));

  const insert = `INSERT INTO conciliation.provider (external_id, name, accounts, sync_state, last_error)
    VALUES ('P1', 'Ana', '[{"bankNumber": "1", "type": "CHECKING_ACCOUNT"}]', 'synced', 'old')`;
  const read = async () => {
    const { rows } = await client.query(`
      SELECT sync_state, last_error, changed_at::text FROM conciliation.provider`);
    return rows[0];
  };
  const recordOutcome = `UPDATE conciliation.provider
    SET sync_state = 'rejected', last_error = 'refused', synced_hash = 'h', synced_at = now()`;

  test('a new row is pending, with any value of its state', async () => {
    await client.query(insert);
    expect(await read()).toMatchObject({ sync_state: 'pending', last_error: null });
  });

  test.each([
    ['external_id', `repeat('x', 1021)`],
    ['name', `repeat('x', 4001)`],
    ['phones', `jsonb_build_array(repeat('1', 65536))`],
    // Thirteen bytes, which are read as 100,001 digits.
    ['accounts', `'[1e100000]'::jsonb`],
  ])('a row too large for a page of 100 is refused: %s', async (column, value) => {
    await client.query(insert);
    const change = client.query(`UPDATE conciliation.provider SET ${column} = ${value}`);
    await expect(change).rejects.toMatchObject({ constraint: 'provider_size_check' });
  });

  test('recording the outcome of a push changes nothing else', async () => {
    await client.query(insert);
    const before = await read();
    await client.query(recordOutcome);
    expect(await read()).toEqual({
      sync_state: 'rejected',
      last_error: 'refused',
      changed_at: before.changed_at,
    });
  });

  test.each([
    `name = 'Bia'`,
    `name = NULL`,
    `phones = '[{"number": "1"}]'`,
    `external_id = 'P2'`,
    `name = 'Bia', sync_state = 'synced'`,
  ])('changed content is to be pushed again: %s', async (change) => {
    await client.query(insert);
    await client.query(recordOutcome);
    const before = await read();
    await client.query(`UPDATE conciliation.provider SET ${change}`);
    const after = await read();
    expect(after).toMatchObject({ sync_state: 'pending', last_error: null });
    expect(after.changed_at > before.changed_at).toBe(true);
  });
});
