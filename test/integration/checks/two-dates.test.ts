/** A title on two accepted dates: one receivable that moved, one that was anticipated twice, or two instalments. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { type CheckCode, DEFAULT_SEVERITIES } from '../../../src/base/values/checks.ts';
import { releaseWaitingDays } from '../../../src/features/bookings/release.sql.ts';
import { checkDays } from '../../../src/features/checks/check-day.sql.ts';
import {
  countFindings,
  readFindings,
  resolveFindings,
} from '../../../src/features/checks/findings.sql.ts';
import { runMatching } from '../../../src/features/matching/run-matching.sql.ts';
import { signDay } from '../../support/days.ts';
import { lockWaits } from '../../support/lock-waits.ts';
import { importPayables } from '../../support/payables.ts';
import { DAY, daysFrom, worldOfEachTest } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const NEXT = daysFrom(1);
const THIRD = daysFrom(2);

const world = worldOfEachTest();

const other = (date: CivilDate) => titleText({ uid: `other ${date}`, date });
const twin = (date: CivilDate, fields: Parameters<typeof titleText>[0] = {}) =>
  titleText({ uid: 'twin', date, ...fields });

const check = () => checkDays(world.database, DEFAULT_SEVERITIES);
async function pull(date: CivilDate, ...texts: string[]) {
  await world.serve(date, [other(date), ...texts], { withdrawalLimitPercent: 100 });
  await check();
}

async function found(): Promise<CivilDate[]> {
  const filter = { state: 'open', check: null, severity: null, date: null } as const;
  const rows = await readFindings(world.prisma, filter, { offset: 0, limit: 99 });
  for (const { code, orderUid } of rows) {
    expect(`${code} ${orderUid}`).toBe('equal_on_two_dates twin');
  }
  return rows.map(({ date }) => date).sort();
}

async function stateOf(date: CivilDate) {
  const day = await world.prisma.day.findUniqueOrThrow({ where: { date } });
  return day.state;
}

const sign = (date: CivilDate) =>
  signDay(world.database, date, { by: 'rita', requiresChecks: true });

const resolve = (date: CivilDate, code: CheckCode = 'equal_on_two_dates') =>
  resolveFindings(
    world.database,
    { date, code, newestId: 99n, titleId: null },
    { by: 'rita', reason: 'two deliveries, or a credit note' },
  );

/** Makes the pulls that the checks ask for, until there is none. Returns their dates. */
async function pullAsked(): Promise<CivilDate[]> {
  const dates: CivilDate[] = [];
  for (;;) {
    const pulls = await world.prisma.pull.findMany({
      where: { requestedBy: 'checks', state: 'queued' },
    });
    if (pulls.length === 0) return dates.sort();
    for (const { id, date } of pulls) {
      await world.run(id);
      dates.push(date as CivilDate);
    }
    await check();
  }
}

describe.each([
  { what: 'no date', signed: [], due: 'the same due date', fields: {} },
  {
    ...{ what: 'the first date', signed: [DAY] },
    ...{ due: 'another due date', fields: { dueDate: '2026-09-09' } },
  },
])('with $what signed off, and $due', ({ signed, fields }) => {
  beforeEach(async () => {
    await pull(DAY, twin(DAY));
    for (const date of signed) await sign(date);
  });

  test('a title that moved has a finding on both dates until it is gone from the old one', async () => {
    await pull(NEXT, twin(NEXT, fields));
    expect(await found()).toEqual([DAY, NEXT]);
    expect([await stateOf(DAY), await stateOf(NEXT)]).toEqual(['attention', 'attention']);
    await expect(sign(NEXT)).rejects.toThrow();
    await pull(DAY);
    expect(await found()).toEqual([]);
    expect([await stateOf(DAY), await stateOf(NEXT)]).toEqual(['reconciled', 'reconciled']);
    await sign(NEXT);
  });

  test('the finding also ends on both dates when the new one no longer has the title', async () => {
    await pull(NEXT, twin(NEXT));
    await pull(NEXT);
    expect(await found()).toEqual([]);
    expect([await stateOf(DAY), await stateOf(NEXT)]).toEqual(['reconciled', 'reconciled']);
  });

  test('a person resolves the finding on each date', async () => {
    await pull(NEXT, twin(NEXT));
    for (const date of [DAY, NEXT]) await resolve(date);
    await check();
    expect([await stateOf(DAY), await stateOf(NEXT)]).toEqual(['reconciled', 'reconciled']);
  });
});

test('a signed date keeps the other findings that it was signed with', async () => {
  const fault = titleText({ uid: 'fault', value: '-1' });
  await pull(DAY, twin(DAY), fault);
  await resolve(DAY, 'value_not_positive');
  await sign(DAY);
  await pull(NEXT, twin(NEXT));
  expect(await found()).toEqual([DAY, NEXT]);
  await pull(NEXT);
  // A closed finding that a person has resolved counts as resolved too.
  const kept = { acceptedDate: DAY, code: 'value_not_positive', closedAt: null };
  expect(await world.prisma.checkFinding.count({ where: kept })).toBe(1);
});

test('equal instalments on three dates have findings until their dates are pulled once more, and need no person', async () => {
  const dues = { [DAY]: '2026-06-30', [NEXT]: '2026-07-30', [THIRD]: '2026-08-30' };
  const instalment = (date: CivilDate) => twin(date, { dueDate: dues[date] ?? '' });
  for (const date of [DAY, NEXT, THIRD]) await pull(date, instalment(date));
  expect(await found()).toEqual([DAY, NEXT, THIRD]);
  expect(await pullAsked()).toEqual([DAY, NEXT]);
  expect(await found()).toEqual([]);
  const states = [await stateOf(DAY), await stateOf(NEXT), await stateOf(THIRD)];
  expect(states).toEqual(['reconciled', 'reconciled', 'reconciled']);
  // Not again, whatever is pulled.
  for (const date of [THIRD, DAY, NEXT]) await pull(date, instalment(date));
  expect(await found()).toEqual([]);
  expect(await pullAsked()).toEqual([]);
});

test.each([
  ['the buyer with a mask', { buyer: '90.021.382/0001-22' }, true],
  ['the provider’s code with blanks', { code: 'P-1 ' }, true],
  ['another code of the same tax identifier', { code: 'P-2' }, true],
  ['another buyer', { buyer: '33000167000101' }, false],
  ['another value', { value: '1000.51' }, false],
  ['another order', { uid: 'twin2' }, false],
])('%s', async (_name, fields, isSame) => {
  await pull(DAY, twin(DAY));
  await pull(NEXT, twin(NEXT, fields));
  expect(await found()).toEqual(isSame ? [DAY, NEXT] : []);
});

test('a signed day that waits for the matching is released when a person has resolved the finding of an equal title on another date', async () => {
  const release = () => releaseWaitingDays(world.database, {});
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '77' }], 'snapshot');
  await pull(DAY, twin(DAY));
  await sign(DAY);
  await pull(NEXT, twin(NEXT));
  expect(await release()).toEqual([]);
  await runMatching(world.database, { by: 'test' });
  expect(await release()).toEqual([]);
  await resolve(DAY);
  expect(await release()).toEqual([DAY]);
});

test('a day whose restatement was taken back agrees with its seal, and has no finding of the restatement', async () => {
  await pull(DAY, twin(DAY, { discount: '1' }));
  await sign(DAY);
  await world.serve(DAY, [other(DAY), twin(DAY, { discount: '1000' })]);
  await pull(DAY, twin(DAY, { discount: '100000' }));
  const open = { state: 'open', check: null, date: DAY, severity: 'review' } as const;
  expect(await countFindings(world.prisma, open)).toEqual({ rows: 1 });
  await pull(DAY, twin(DAY, { discount: '1' }));
  expect(await countFindings(world.prisma, open)).toEqual({ rows: 0 });
  expect(await world.prisma.day.findUnique({ where: { date: DAY } })).toMatchObject({
    ...{ state: 'reconciled', restatedAfterSignOff: false },
  });
  await expect(sign(DAY)).rejects.toMatchObject({ context: { fault: 'already_signed_off' } });
});

test('both dates of equal titles have the finding, also where the second date came while the first was checked', async () => {
  await world.serve(DAY, [twin(DAY)]);
  const checks: Promise<unknown>[] = [];
  await world.prisma.$transaction(
    async (tx) => {
      // Stops the first check after it has looked for faults.
      await tx.$executeRaw`LOCK TABLE conciliation.day_buyer IN EXCLUSIVE MODE`;
      checks.push(check());
      await lockWaits(world.database);
      await world.serve(NEXT, [twin(NEXT)]);
      checks.push(check());
      await lockWaits(world.database, 2);
    },
    { timeout: 120_000 },
  );
  await Promise.all(checks);
  while ((await check()).length > 0);
  expect(await found()).toEqual([DAY, NEXT]);
});
