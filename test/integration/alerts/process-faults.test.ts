/** Which alerts come of what the processes of a service report about themselves. */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { deriveAlerts } from '../../../src/features/alerts/alerts.sql.ts';
import { type ProcessFault, reportFaults } from '../../../src/features/alerts/health.sql.ts';
import { forFile } from '../../support/for-tests.ts';
import { openAlertTable, readAlerts } from './alert-table.ts';

const POLICY = { timeZone: 'America/Sao_Paulo', maxLagDays: 3, maxIdleHours: 26 };

const table = forFile(openAlertTable);
beforeEach(async () => {
  await table.clear();
  await table.database.prisma.$executeRaw`DELETE FROM conciliation.process_fault`;
});

function startProcess() {
  const processId = randomUUID();
  const report = (faults: readonly ProcessFault[]) =>
    reportFaults(table.database, processId, faults);
  /** Lets its last report have been that long ago. */
  const ageBy = async (minutes: number) => {
    await table.database.prisma.$executeRaw`
      UPDATE conciliation.process_fault SET seen_at = seen_at - make_interval(mins => ${minutes}::int)
      WHERE process_id = ${processId}::uuid`;
  };
  return { report, ageBy };
}

/** Every alert so far, open or over, as kind and state, after another look at the tables. */
async function alerts(): Promise<string[]> {
  await deriveAlerts(table.database, new Date(), POLICY);
  return (await readAlerts(table.database)).map(
    ({ kind, open }) => `${kind} ${open ? 'open' : 'over'}`,
  );
}

test('a refused token is one alert until every process that met it has another', async () => {
  const [one, other] = [startProcess(), startProcess()];
  await one.report(['token_refused']);
  expect(await alerts()).toEqual(['platform_auth open']);
  await other.report(['token_refused']);
  expect(await alerts()).toEqual(['platform_auth open']);
  await one.report([]);
  expect(await alerts()).toEqual(['platform_auth open']);
  await other.report([]);
  expect(await alerts()).toEqual(['platform_auth over']);
  await other.report(['token_refused']);
  expect(await alerts()).toEqual(['platform_auth over', 'platform_auth open']);
});

test('a refused token that is replaced by no token at all stays the same alert, in other words', async () => {
  const process = startProcess();
  await process.report(['token_refused']);
  await alerts();
  await process.report(['token_unusable']);
  expect(await alerts()).toEqual(['platform_auth open']);
  expect((await readAlerts(table.database))[0]?.message).toMatch(/cannot read a usable token/);
});

test.each([
  ['token_refused', 'platform_auth'],
  ['token_unusable', 'platform_auth'],
  ['clock_skew', 'pull_overdue'],
  ['planning_failed', 'pull_overdue'],
  ['work_unrecorded', 'pull_overdue'],
] as const)('%s is an alert while a process reports it', async (fault, kind) => {
  const process = startProcess();
  await process.report([fault]);
  expect(await alerts()).toEqual([`${kind} open`]);
  await process.ageBy(1);
  expect(await alerts()).toEqual([`${kind} open`]);
  await process.report([]);
  expect(await alerts()).toEqual([`${kind} over`]);

  await process.report([fault]);
  await process.ageBy(4);
  expect(await alerts()).toEqual([`${kind} over`]);
  await startProcess().report([]);
  expect(await table.database.prisma.processFault.count()).toBe(0);
});
