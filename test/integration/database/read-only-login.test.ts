/** A login that may only read cannot keep the service waiting with locks. */
import { beforeAll, expect, test } from 'vitest';
import { FEATURES } from '../../../src/app/features.ts';
import { recordAudit } from '../../../src/base/audit/audit.ts';
import { planPulls } from '../../../src/core/planner/planner.sql.ts';
import { openQueues } from '../../../src/core/work/job-queue.ts';
import { deriveAlerts } from '../../../src/features/alerts/alerts.sql.ts';
import { runCommand } from '../../support/child-command.ts';
import { clientOfFile, worldWithUsers } from '../../support/file-world.ts';
import { logger } from '../../support/logger.ts';
import { DAY } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const world = worldWithUsers();
const { users } = world;
const analyst = clientOfFile(() => users.urlOf('finance'));
// With the queue.
beforeAll(async () => {
  await runCommand(['migrate', '--roles'], { DATABASE_URL: world.databaseUrl });
});

/** Every key that a lock of the program ever had, in both forms of advisory locks, and that of migrations. */
const KEYS = [7_203_114_001n, 7_201_604_312n, 7_201_604_313n, 720_160_431n, 72_707_369n];

test('a reader may take no advisory lock, so not those of the queue, which the service takes', async () => {
  const { rows: functions } = await analyst.query<{ name: string; may: boolean }>(
    `SELECT proname AS name, has_function_privilege(oid, 'EXECUTE') AS may
     FROM pg_proc WHERE proname LIKE 'pg%advisory%'`,
  );
  expect(functions.length).toBeGreaterThan(20);
  expect(functions.filter(({ may }) => may)).toEqual([]);
  for (const name of ['pulls', 'sweeps', 'pushes']) {
    for (const lock of ['pg_advisory_lock', 'pg_try_advisory_lock', 'pg_advisory_lock_shared']) {
      const taking = analyst.query(
        `SELECT ${lock}(hashtext('bullmq:finalization'), hashtext($1))`,
        [name],
      );
      await expect(taking).rejects.toMatchObject({ code: '42501' });
    }
  }
  const queues = await openQueues({
    redisUrl: null,
    databaseUrl: users.urlOf('worker'),
    logger,
  });
  await queues.pull.enqueue(7n);
  expect(await queues.pull.jobsOf([7n])).toEqual(new Set([7n]));
  await queues.close();
});

test('where a reader may take advisory locks, they stop neither pulls, plans, alerts, the audit log nor a start', async () => {
  // As on a server where no superuser has run prisma/advisory-locks.sql.
  await world.database.pool.query('GRANT EXECUTE ON FUNCTION pg_advisory_lock(bigint) TO PUBLIC');
  for (const key of KEYS) await analyst.query('SELECT pg_advisory_lock($1::bigint)', [key]);
  expect(await runCommand(['migrate'], { DATABASE_URL: world.databaseUrl })).toMatchObject({
    exit: 0,
  });
  expect(await world.serve(DAY, [titleText()])).toMatchObject({ inserted: 1 });
  const policy = { timeZone: 'America/Sao_Paulo', lookbackDays: 1 };
  const now = new Date();
  await planPulls(
    { database: world.database, features: FEATURES },
    { slotAt: now, policy, startDate: null, now },
    1,
  );
  await deriveAlerts(world.database, new Date(), {
    timeZone: 'America/Sao_Paulo',
  });
  await recordAudit(world.database.prisma, { actor: 'ana', action: 'export' });
});

test('a reader cannot lock the rows that the program locks', async () => {
  await expect(
    analyst.query('SELECT FROM conciliation.program_lock FOR UPDATE'),
  ).rejects.toMatchObject({ code: '42501' });
  await expect(
    analyst.query('BEGIN; LOCK TABLE conciliation.day IN SHARE MODE'),
  ).rejects.toMatchObject({
    code: '42501',
  });
  await analyst.query('ROLLBACK');
});
