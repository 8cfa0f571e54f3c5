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
  const raised = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      raiseAlert(index % 2 === 0 ? table.database : table.other, platformAuthAlert(BigInt(index))),
    ),
  );
  expect(raised.filter((isNew) => isNew)).toHaveLength(1);
  expect(await readAlerts(table.database)).toMatchObject([
    { kind: 'platform_auth', dedupe_key: 'platform_auth', open: true, delivered: false },
  ]);
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
