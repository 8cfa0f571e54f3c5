import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { migrate } from '../../../src/base/database/migrate.ts';
import { withClient } from '../../support/client.ts';
import { createTestDatabase } from '../../support/database.ts';
import { clientOfFile, worldWithUsers } from '../../support/file-world.ts';
import { FORBIDDEN, INSUFFICIENT_PRIVILEGE } from '../../support/forbidden-statements.ts';
import { logger } from '../../support/logger.ts';
import { readWritingStatements } from '../../support/writing-statements.ts';

const world = worldWithUsers();
const { users } = world;
const owner = clientOfFile(() => world.databaseUrl);
const clients = {
  worker: clientOfFile(() => users.urlOf('worker')),
  finance: clientOfFile(() => users.urlOf('finance')),
  erp: clientOfFile(() => users.urlOf('erp')),
};

beforeEach(() => owner.query('DELETE FROM conciliation.provider'));

/** The code of what the statement is refused with, or `taken`. Nothing of it stays. */
async function outcomeOf(
  role: keyof typeof clients,
  statement: string,
): Promise<string | undefined> {
  const client = clients[role];
  await client.query('BEGIN');
  try {
    await client.query(statement);
    return 'taken';
  } catch (error) {
    return (error as { code?: string }).code;
  } finally {
    await client.query('ROLLBACK');
  }
}

describe('the worker', () => {
  test.each(FORBIDDEN.worker)('is refused: %s', async (statement) => {
    expect(await outcomeOf('worker', statement)).toBe(INSUFFICIENT_PRIVILEGE);
  });

  test('links what it writes into the audit log, although it may not write links', async () => {
    await clients.worker.query(
      `INSERT INTO conciliation.audit_entry (actor, action) VALUES ('service', 'something')`,
    );
    const { rows } = await owner.query(
      `SELECT actor FROM conciliation.audit_chain JOIN conciliation.audit_entry ON id = entry_id`,
    );
    expect(rows).toEqual([{ actor: 'service' }]);
  });

  test('finds nothing to migrate, and so may start the service', async () => {
    expect(await migrate({ databaseUrl: users.urlOf('worker'), logger })).toMatchObject({
      applied: [],
    });
  });
});

test('the worker may write what a statement of the service writes, and nothing else', async () => {
  const { rows } = await owner.query<{ item: string }>(
    `SELECT format('%s %s', privilege, relname) AS item
     FROM pg_class, unnest(ARRAY['INSERT', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) AS privilege
     WHERE relnamespace = 'conciliation'::regnamespace AND relkind IN ('r', 'p', 'v')
       AND has_table_privilege('conciliation_worker', pg_class.oid, privilege)
     UNION ALL
     SELECT format('UPDATE %s.%s', relname, attname)
     FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
     WHERE relnamespace = 'conciliation'::regnamespace AND relkind IN ('r', 'p', 'v')
       AND has_column_privilege('conciliation_worker', attrelid, attnum, 'UPDATE')`,
  );
  // The rows of program_lock are locked and never written.
  expect(rows.map(({ item }) => item).sort()).toEqual(
    [...readWritingStatements(), 'UPDATE program_lock.name'].sort(),
  );
});

describe.each(['finance', 'erp'] as const)('the reader of %s', (role) => {
  test.each(FORBIDDEN[role])('is refused: %s', async (statement) => {
    expect(await outcomeOf(role, statement)).toBe(INSUFFICIENT_PRIVILEGE);
  });
});

test('the ERP maintains its suppliers, and cannot set the result of a push', async () => {
  const { erp } = clients;
  await erp.query(`
    INSERT INTO conciliation.provider (external_id, name) VALUES ('F1', 'one')
    ON CONFLICT (external_id) DO UPDATE SET name = excluded.name`);
  await erp.query(`UPDATE conciliation.provider SET name = 'two', sync_state = 'pending'`);
  const { rows } = await owner.query('SELECT name, sync_state FROM conciliation.provider');
  expect(rows).toEqual([{ name: 'two', sync_state: 'pending' }]);
  for (const column of ['last_error', 'synced_hash', 'synced_at', 'tax_id']) {
    expect(await outcomeOf('erp', `UPDATE conciliation.provider SET ${column} = NULL`)).toBe(
      INSUFFICIENT_PRIVILEGE,
    );
  }
  await erp.query('DELETE FROM conciliation.provider');
});

test('additional rights are revoked when the roles are set up again', async () => {
  await owner.query('GRANT UPDATE (actor) ON conciliation.audit_entry TO conciliation_worker');
  await owner.query('GRANT DELETE ON conciliation.title TO conciliation_worker, conciliation_erp');
  await migrate({ databaseUrl: world.databaseUrl, logger, roles: true });
  const statements = [
    `UPDATE conciliation.audit_entry SET actor = 'nobody'`,
    'DELETE FROM conciliation.title',
  ];
  for (const statement of statements) {
    expect(await outcomeOf('worker', statement)).toBe(INSUFFICIENT_PRIVILEGE);
  }
});

test('without the option no role is given any right', async () => {
  const other = await createTestDatabase();
  onTestFinished(() => other.drop());
  await migrate({ databaseUrl: other.url, logger });
  const { rows } = await withClient(other.url, (client) =>
    client.query(
      `SELECT FROM information_schema.role_table_grants
       WHERE grantee LIKE 'conciliation\\_%' AND table_schema = 'conciliation'
         AND grantee <> current_user`,
    ),
  );
  expect(rows).toEqual([]);
});
