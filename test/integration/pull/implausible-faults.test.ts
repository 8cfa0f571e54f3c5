/** The sandbox's implausible responses beside thirty ordinary days. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkDays } from '../../../src/checks/check-day.sql.ts';
import { DEFAULT_RULES } from '../../support/check-rules.ts';
import { daysFrom, openPullWorld, type PullWorld } from '../../support/pull-world.ts';
import type { Fault } from '../../support/sandbox/faults.ts';

const DAYS = 30;

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());

const pull = (index: number) => world.pull(daysFrom(index), { checksPlausibility: true });
const withFault = (kind: Fault['kind'], index: number) => {
  world.sandbox.faults.add({ kind, date: daysFrom(index), times: 2 } as Fault);
  return pull(index).finally(() => world.sandbox.faults.clear());
};

test('thirty ordinary days are merged without a hold and without a payment on hold', async () => {
  for (let index = 0; index < DAYS; index += 1) {
    expect([index, await pull(index)]).toEqual([
      index,
      expect.objectContaining({ state: 'merged' }),
    ]);
  }
  expect(await world.database.prisma.paymentHold.count()).toBe(0);
});

test('thirty ordinary days have no finding that a person has to resolve', async () => {
  expect(await checkDays(world.database, DEFAULT_RULES)).toHaveLength(DAYS);
  expect(await world.database.prisma.checkFinding.count({ where: { severity: 'review' } })).toBe(0);
  // The sandbox has equal titles within a day, which are for information.
  expect(await world.database.prisma.checkFinding.count()).toBeGreaterThan(0);
});

test('a restated due date is one title with its successor', async () => {
  const report = await withFault('restated-due-date', 5);
  expect(report.state).toBe('merged');
  expect(await world.database.prisma.titleSuccession.count()).toBeGreaterThan(0);
  await pull(5);
});

test.each([
  ['double', DAYS, 'duplicates'],
  ['divided-by-100', DAYS + 1, 'value_jump'],
] as const)('the first response to a date is held: %s', async (kind, index, holdReason) => {
  expect(await withFault(kind, index)).toMatchObject({ state: 'held', holdReason });
  // The next response is as it should be.
  expect(await pull(index)).toMatchObject({ state: 'merged' });
});

test.each([
  ['double', 'duplicates'],
  ['lost-buyer', 'buyer_withdrawals'],
] as const)('a later response is held: %s', async (kind, holdReason) => {
  const before = await world.database.prisma.title.count();
  const report = await withFault(kind, 3);
  expect(report.state).toBe('held');
  // A buyer may have so many of the titles that the limit of the whole day is exceeded first.
  expect([holdReason, 'withdrawal_limit', 'emptied']).toContain(report.holdReason);
  expect(await world.database.prisma.title.count()).toBe(before);
});

test('a changed account holds the payment of the titles that name it', async () => {
  const report = await withFault('changed-account', DAYS + 2);
  expect(report.state).toBe('merged');
  expect(await world.database.prisma.paymentHold.count()).toBeGreaterThan(0);
});
