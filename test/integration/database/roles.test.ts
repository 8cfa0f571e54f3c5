import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { FEATURES } from '../../../src/app/features.ts';
import { recordAudit } from '../../../src/base/audit/audit.ts';
import { migrate } from '../../../src/base/database/migrate.ts';
import { planPulls } from '../../../src/core/planner/planner.sql.ts';
import { openQueues } from '../../../src/core/work/job-queue.ts';
import { migrateQueue } from '../../../src/core/work/postgres-backend.ts';
import { deriveAlerts } from '../../../src/features/alerts/alerts.sql.ts';
import { runCommand } from '../../support/child-command.ts';
import { withClient } from '../../support/client.ts';
import { createTestDatabase } from '../../support/database.ts';
import { FORBIDDEN, INSUFFICIENT_PRIVILEGE } from '../../support/forbidden-statements.ts';
import { logger } from '../../support/logger.ts';
import { clientOfFile, DAY, worldWithUsers } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';
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
    await clients.worker.query(`
      INSERT INTO conciliation.audit_entry (actor, action) VALUES ('service', 'something')`);
    const { rows } = await owner.query(`
      SELECT actor FROM conciliation.audit_chain JOIN conciliation.audit_entry ON id = entry_id`);
    expect(rows).toEqual([{ actor: 'service' }]);
  });
});

test('the worker may write what a statement of the service writes, and nothing else', async () => {
  const { rows } = await owner.query<{ item: string }>(`
    SELECT format('%s %s', privilege, relname) AS item
    FROM pg_class, unnest(ARRAY['INSERT', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) AS privilege
    WHERE relnamespace = 'conciliation'::regnamespace AND relkind IN ('r', 'p', 'v')
      AND has_table_privilege('conciliation_worker', pg_class.oid, privilege)
    UNION ALL
    SELECT format('UPDATE %s.%s', relname, attname)
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
    WHERE relnamespace = 'conciliation'::regnamespace AND relkind IN ('r', 'p', 'v')
      AND has_column_privilege('conciliation_worker', attrelid, attnum, 'UPDATE')`);
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
  onTestFinished(() => other.close());
  await migrate({ databaseUrl: other.url, logger });
  const { rows } = await withClient(other.url, (client) =>
    client.query(`
      SELECT FROM information_schema.role_table_grants
      WHERE grantee LIKE 'conciliation\\_%' AND table_schema = 'conciliation'
        AND grantee <> current_user`),
  );
  expect(rows).toEqual([]);
});

/**
 * Attaches the trigger function to a temporary table whose row type has a cast to audit_entry. The cast
 * calls a function of the attacker, which reports the user whose rights it has.
 */
const ATTACK = [
  'CREATE TEMPORARY TABLE forged (LIKE conciliation.audit_entry)',
  `CREATE FUNCTION pg_temp.as_entry(forged) RETURNS conciliation.audit_entry LANGUAGE plpgsql AS $$
     BEGIN
       RAISE NOTICE 'ran as %', current_user;
       RETURN ROW($1.*)::conciliation.audit_entry;
     END $$`,
  `CREATE CAST (forged AS conciliation.audit_entry)
     WITH FUNCTION pg_temp.as_entry(forged) AS IMPLICIT`,
  `CREATE TRIGGER attack AFTER INSERT ON forged
     FOR EACH ROW EXECUTE FUNCTION conciliation.link_audit_entry()`,
  `INSERT INTO forged (id, at, actor, action) VALUES (1, now(), 'attacker', 'user.add')`,
];

test.each(['erp', 'finance', 'worker', 'owner'] as const)(
  'no code of %s runs by the trigger function, which refuses every table but its own',
  async (role) => {
    const notices: (string | undefined)[] = [];
    const url = role === 'owner' ? world.databaseUrl : users.urlOf(role);
    const attack = withClient(url, async (client) => {
      client.on('notice', (notice) => notices.push(notice.message));
      for (const statement of ATTACK) await client.query(statement);
    });
    await expect(attack).rejects.toMatchObject({ code: INSUFFICIENT_PRIVILEGE });
    expect(notices).toEqual([]);
  },
);

/** Every key that a lock of the program ever had, in both forms of advisory locks, and that of migrations. */
const KEYS = [7_203_114_001n, 7_201_604_312n, 7_201_604_313n, 720_160_431n, 72_707_369n];

test('a reader may take no advisory lock, so not those of the queue, which the service takes', async () => {
  const { rows: functions } = await clients.finance.query<{ name: string; may: boolean }>(`
    SELECT proname AS name, has_function_privilege(oid, 'EXECUTE') AS may
    FROM pg_proc WHERE proname LIKE 'pg%advisory%'`);
  expect(functions.length).toBeGreaterThan(20);
  expect(functions.filter(({ may }) => may)).toEqual([]);
  await migrateQueue(world.databaseUrl, logger);
  await migrate({ databaseUrl: world.databaseUrl, logger, roles: true });
  const databaseUrl = users.urlOf('worker');
  const queues = await openQueues({ redisUrl: null, databaseUrl, logger });
  await queues.pull.enqueue(7n);
  expect(await queues.pull.jobsOf([7n])).toEqual(new Set([7n]));
  await queues.close();
});

test('where a reader may take advisory locks, they stop neither pulls, plans, alerts, the audit log nor a start', async () => {
  // As on a server where no superuser has run prisma/advisory-locks.sql.
  await world.database.pool.query('GRANT EXECUTE ON FUNCTION pg_advisory_lock(bigint) TO PUBLIC');
  for (const key of KEYS) await clients.finance.query('SELECT pg_advisory_lock($1::bigint)', [key]);
  const { exit } = await runCommand(['migrate'], { DATABASE_URL: world.databaseUrl });
  expect(exit).toBe(0);
  expect(await world.serve(DAY, [titleText()])).toMatchObject({ inserted: 1 });
  const policy = { timeZone: 'America/Sao_Paulo', lookbackDays: 1, startDate: null };
  const now = new Date();
  await planPulls(
    { database: world.database, features: FEATURES },
    { slotAt: now, policy, now },
    1,
  );
  await deriveAlerts(world.database, now, { timeZone: 'America/Sao_Paulo' });
  await recordAudit(world.prisma, { actor: 'ana', action: 'export' });
});

test.each([
  'SELECT FROM conciliation.program_lock FOR UPDATE',
  'LOCK TABLE conciliation.day IN SHARE MODE',
])('a reader cannot lock what the program locks: %s', async (statement) => {
  expect(await outcomeOf('finance', statement)).toBe(INSUFFICIENT_PRIVILEGE);
});
