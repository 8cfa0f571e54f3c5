import fc from 'fast-check';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decideAccountChanges } from '../../../src/accounts/account-changes.sql.ts';
import { addDays, toCivilDate } from '../../../src/domain/business-day.ts';
import { eraseParty } from '../../../src/privacy/erase-party.sql.ts';
import { releasePull } from '../../../src/pull/decisions.sql.ts';
import { readGroupTotals, readSchedule } from '../../../src/schedule/read-schedule.sql.ts';
import { readStaleDate, refreshTotals } from '../../../src/schedule/schedule-totals.sql.ts';
import { DAY, daysFrom, openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import { plainSums, scheduleTitle } from './schedule-world.ts';

/** The schedule is the plain sum over `title` after any merges, erasures and computations. */
const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 500);
const DATES = 8;
const FIRST_DUE = toCivilDate('2026-06-29');

let world: PullWorld;
let client: Client;
beforeAll(async () => {
  world = await openPullWorld();
  client = new Client({ connectionString: world.databaseUrl });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await world.close();
});

const due = fc.option(
  fc.integer({ min: 0, max: 5 }).map((days) => addDays(FIRST_DUE, days)),
  { freq: 8 },
);
const titles = fc.array(
  fc.record({
    uid: fc.constantFrom('a', 'b', 'c', 'd'),
    dueDate: due,
    value: fc.constantFrom('10', '10.00', '0.1', '12345678901234567.89', '-3.555'),
    discount: fc.constantFrom(null, '0.01', '7'),
    isBuyer: fc.constantFrom(true, false, null),
    agent: fc.constantFrom('11222333000181', '11444777000161', null),
    agentAccount: fc.constantFrom('1234567', '7654321', null),
    provider: fc.constantFrom('P-1', 'P-2', null),
    providerAccount: fc.constantFrom('1111', '2222', null),
  }),
  { minLength: 1, maxLength: 12 },
);
const place = fc.integer({ min: 0, max: DATES - 1 });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('pull' as const), place, titles }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('broken' as const), place }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('refresh' as const), place }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('refreshAll' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('erase' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('acknowledge' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('release' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('sql' as const),
      statement: fc.constantFrom(
        `UPDATE conciliation.title SET original_value = original_value + 1 WHERE id % 7 = 0`,
        `INSERT INTO conciliation.title (order_uid, occurrence, accepted_date, anticipated_due_date,
           original_value, identity_hash, content_hash, raw_hash, first_pull_id, last_change_pull_id)
         VALUES ('sql', 1, '2025-01-01', '2026-06-30', 5, gen_random_uuid(), gen_random_uuid(),
                 gen_random_uuid(), 1, 1)`,
      ),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function refreshAll(): Promise<void> {
  for (;;) {
    const date = await readStaleDate(world.database);
    if (date === null) return;
    await refreshTotals(world.database, date);
  }
}

async function take(action: Step): Promise<void> {
  const { database, sandbox } = world;
  switch (action.kind) {
    case 'pull': {
      const date = daysFrom(action.place, DAY);
      sandbox.setDayTexts(
        date,
        action.titles.map((fields) => scheduleTitle({ ...fields, date })),
      );
      await world.pull(date, { withdrawalLimitPercent: 60 });
      return;
    }
    case 'broken': {
      const date = daysFrom(action.place, DAY);
      sandbox.setDayTexts(date, ['{"order":{"uid":"x"},"originalValue":"not a number"}']);
      await world.pull(date, { withdrawalLimitPercent: 60 });
      return;
    }
    case 'refresh':
      return refreshTotals(database, daysFrom(action.place, DAY));
    case 'refreshAll':
      return refreshAll();
    case 'erase':
      await eraseParty(database, {
        party: { taxId: '11444777000161', externalId: null },
        by: 'test',
        reason: 'a test',
        isDryRun: false,
      }).catch(() => {});
      return;
    case 'acknowledge': {
      const change = await database.prisma.accountChange.findFirst({
        where: { state: 'open' },
      });
      if (change !== null) {
        await decideAccountChanges(database, [change.id], {
          by: 'test',
          state: 'confirmed',
          reason: 'called',
        });
      }
      return;
    }
    case 'release': {
      const held = await database.prisma.pull.findFirst({ where: { state: 'held' } });
      if (held === null) return;
      await releasePull(database, held.id, { by: 'test', reason: 'a test' });
      return;
    }
    case 'sql':
      await client.query(action.statement).catch(() => {});
      return;
  }
}

test(`${RUNS} filters have the plain sums, whatever happened before`, async () => {
  const seen = { current: 0, stale: 0, changed: 0, waiting: 0, groups: 0, undated: 0 };
  await fc.assert(
    fc.asyncProperty(
      step,
      fc.integer({ min: -1, max: 6 }),
      fc.integer({ min: 0, max: 7 }),
      async (action, start, length) => {
        await take(action);
        const from = addDays(FIRST_DUE, start);
        const range = { from, to: addDays(from, length) };
        const { database } = world;
        const schedule = await readSchedule(database, {
          range,
          hasAllAmounts: true,
          offset: 0,
          limit: 1_000,
        });
        const plain = await plainSums(database, range);
        const { overall } = schedule;
        expect({
          titles: overall.titles,
          original_value: overall.sums.original_value,
          platform_discounted_value: overall.sums.platform_discounted_value,
          money_transfer_fee: overall.sums.money_transfer_fee,
          waiting: overall.waitingTitles,
          waiting_value: overall.waitingValue,
        }).toEqual(plain.overall);
        expect(
          schedule.dates.map(({ date, titles, sums }) => ({
            date,
            titles,
            original_value: sums.original_value,
          })),
        ).toEqual(plain.dates);
        const sorted = (rows: object[]) => rows.map((row) => JSON.stringify(row)).sort();
        expect(
          sorted(
            schedule.groups.map(({ payee, titles, sums }) => ({
              kind: payee.kind,
              party:
                payee.kind === 'provider'
                  ? (payee.externalId ?? payee.identification)
                  : (payee.identification ?? payee.name),
              account: payee.account.account,
              titles,
              original_value: sums.original_value,
              changed: payee.isChanged,
            })),
          ),
        ).toEqual(sorted(plain.groups));
        expect(schedule.groupCount).toBe(schedule.groups.length);
        expect(schedule.undated).toEqual(plain.undated);
        for (const { payee, titles, sums } of schedule.groups.slice(0, 2)) {
          expect(await readGroupTotals(database, { range, payeeOf: payee.titleId })).toEqual({
            titles,
            originalValueSum: sums.original_value,
          });
        }
        seen[(await readStaleDate(database)) === null ? 'current' : 'stale'] += 1;
        seen.changed += schedule.changed.groups;
        seen.waiting += overall.waitingTitles;
        seen.groups += schedule.groupCount;
        seen.undated += schedule.undated.titles;
      },
    ),
    { numRuns: RUNS, endOnFailure: true },
  );
  // Every case occurred.
  for (const [name, times] of Object.entries(seen)) expect(times, name).toBeGreaterThan(0);
});
