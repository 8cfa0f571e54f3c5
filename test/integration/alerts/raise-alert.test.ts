import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { platformAuthAlert } from '../../../src/domain/alert.ts';
import { raiseAlert, resolveAlerts } from '../../../src/staging/alerts.ts';
import { type AlertTable, openAlertTable, readAlerts } from './alert-table.ts';

let table: AlertTable;
beforeAll(async () => {
  table = await openAlertTable();
});
beforeEach(() => table.clear());
afterAll(() => table.close());

test('twenty who notice one condition at once, from two processes, raise it once', async () => {
  // So that whoever does not wait is sure to look before the first has committed.
  await table.database.prisma.$executeRaw`
    CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_sleep(0.2); RETURN NEW; END'`;
  await table.database.prisma.$executeRaw`
    CREATE TRIGGER slow AFTER INSERT ON conciliation.alert FOR EACH ROW EXECUTE FUNCTION slow()`;
  const raised = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      raiseAlert(index % 2 === 0 ? table.database : table.other, platformAuthAlert(BigInt(index))),
    ),
  );
  expect(raised.filter((isNew) => isNew)).toHaveLength(1);
  expect(await readAlerts(table.database)).toMatchObject([
    { kind: 'platform_auth', dedupe_key: 'platform_auth', open: true, delivered: false },
  ]);
  await table.database.prisma.$executeRaw`DROP TRIGGER slow ON conciliation.alert`;
});

test('a condition that comes back after it was over is raised again', async () => {
  await raiseAlert(table.database, platformAuthAlert(1n));
  expect(await resolveAlerts(table.database, 'platform_auth')).toBe(1);
  expect(await resolveAlerts(table.database, 'platform_auth')).toBe(0);
  expect(await raiseAlert(table.database, platformAuthAlert(2n))).toBe(true);
  expect(await readAlerts(table.database)).toMatchObject([
    { pull_id: 1n, open: false },
    { pull_id: 2n, open: true },
  ]);
});

test('resolving one condition leaves the others', async () => {
  await raiseAlert(table.database, platformAuthAlert(1n));
  await raiseAlert(table.database, { ...platformAuthAlert(1n), dedupeKey: 'another' });
  await resolveAlerts(table.database, 'another');
  expect(await readAlerts(table.database)).toMatchObject([
    { dedupe_key: 'platform_auth', open: true },
    { dedupe_key: 'another', open: false },
  ]);
});
