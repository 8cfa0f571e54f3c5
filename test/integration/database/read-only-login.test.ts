/** A login that may only read cannot keep the service waiting with locks. */
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deriveAlerts } from '../../../src/alerts/derive-alerts.sql.ts';
import { recordAudit } from '../../../src/audit/audit.ts';
import { STALENESS_LIMITS } from '../../../src/domain/alert.ts';
import { tryPushLock } from '../../../src/providers/push-lock.sql.ts';
import { planPulls } from '../../../src/scheduler/plan-ledger.sql.ts';
import { runCommand } from '../../support/child-command.ts';
import { createRoleUsers } from '../../support/database-roles.ts';
import { DAY, openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

let world: PullWorld;
let analyst: Client;
beforeAll(async () => {
  world = await openPullWorld();
  await runCommand(['migrate', '--roles'], { DATABASE_URL: world.databaseUrl });
  analyst = new Client((await createRoleUsers(world.databaseUrl)).urlOf('finance'));
  await analyst.connect();
});
afterAll(async () => {
  await analyst.end();
  await world.close();
});

/** Every key that a lock of the program ever had, in both forms of advisory locks. */
const KEYS = [7_203_114_001n, 7_201_604_312n, 7_201_604_313n, 720_160_431n];

test('advisory locks of a reader stop neither pulls, plans, alerts, pushes nor the audit log', async () => {
  for (const key of KEYS) await analyst.query('SELECT pg_advisory_lock($1::bigint)', [key]);
  world.sandbox.setDayTexts(DAY, [titleText()]);
  expect(await world.pull()).toMatchObject({ inserted: 1 });
  await planPulls(world.database, {
    slots: null,
    policy: { timeZone: 'America/Sao_Paulo', lookbackDays: 1, sweepDays: 1, sweepMaxDays: 1 },
    startDate: null,
    now: new Date(),
    maxOpenBackfillPulls: 1,
  });
  await deriveAlerts(world.database, new Date(), {
    ...STALENESS_LIMITS,
    timeZone: 'America/Sao_Paulo',
  });
  await recordAudit(world.database.prisma, { actor: 'ana', action: 'test' });
  const lock = await tryPushLock(world.database);
  expect(lock).not.toBeNull();
  await lock?.release();
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
