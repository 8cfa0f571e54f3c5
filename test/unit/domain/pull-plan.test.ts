import { expect, test } from 'vitest';
import { addDays, toCivilDate } from '../../../src/base/values/business-day.ts';
import type { PullOrigin } from '../../../src/core/ledger/pull-ledger.sql.ts';
import { type PlanLedger, planDue, pullUrgency } from '../../../src/core/planner/pull-plan.ts';
import { isInWindow, sweepWindow } from '../../../src/core/title/title-contract.ts';

const date = toCivilDate;
const policy = {
  timeZone: 'America/Sao_Paulo',
  lookbackDays: 3,
};
/** 06:00 on Wednesday 2026-03-11. */
const slotAt = new Date('2026-03-11T09:00:00Z');
const yesterday = date('2026-03-10');

/** A ledger in which everything up to `lastReconciledDate` was pulled. */
function ledger(changes: Partial<PlanLedger> = {}): PlanLedger {
  return {
    startDate: date('2026-01-01'),
    lastReconciledDate: date('2026-03-09'),
    reconciledDates: new Set(),
    coveredDates: new Set(),
    failedPulls: new Map(),
    openPulls: 0,
    ...changes,
  };
}

test('yesterday is the day before the slot on the calendar of the time zone', () => {
  const evening = new Date('2026-03-12T01:30:00Z');
  expect(planDue(evening, ledger(), policy)[0]?.date).toBe('2026-03-10');
  const tokyo = { ...policy, timeZone: 'Asia/Tokyo' };
  expect(planDue(evening, ledger(), tokyo)[0]?.date).toBe('2026-03-11');
});

test('a window holds its day, or every date since', () => {
  expect(isInWindow({ from: yesterday, to: yesterday }, addDays(yesterday, 1))).toBe(false);
  expect(isInWindow(sweepWindow(yesterday), addDays(yesterday, 1))).toBe(true);
  expect(isInWindow(sweepWindow(yesterday), addDays(yesterday, -1))).toBe(false);
});

test('a person comes first, then yesterday, the lookback, differing dates, missed dates and backfills', () => {
  const waiting = [
    { origin: 'manual', from: date('2020-01-01'), slotAt: null },
    { origin: 'daily', from: yesterday, slotAt },
    { origin: 'lookback', from: date('2026-03-09'), slotAt },
    { origin: 'sweep', from: date('2026-01-22'), slotAt },
    { origin: 'daily', from: date('2026-02-01'), slotAt },
    { origin: 'backfill', from: yesterday, slotAt: null },
  ] as const;
  const urgencies = waiting.map((pull) => pullUrgency(pull, policy.timeZone));
  expect(urgencies).toEqual([0, 1, 2, 3, 4, 5]);
  const withoutSlot = (origin: PullOrigin) =>
    pullUrgency({ origin, from: yesterday, slotAt: null }, policy.timeZone);
  expect([withoutSlot('sweep'), withoutSlot('daily')]).toEqual([3, 4]);
});
