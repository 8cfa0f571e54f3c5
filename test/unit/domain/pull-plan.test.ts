import { describe, expect, test } from 'vitest';
import { addDays, datesBetween, toCivilDate } from '../../../src/base/values/business-day.ts';
import {
  type DuePull,
  isInWindow,
  MAX_OPEN_PULLS,
  type PlanLedger,
  type PullOrigin,
  planDue,
  pullUrgency,
  sweepWindow,
} from '../../../src/core/planner/pull-plan.ts';

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

const outline = (pulls: readonly DuePull[]) => pulls.map((pull) => `${pull.origin} ${pull.date}`);

describe('planDue', () => {
  test('a slot makes yesterday and the lookback due, the newest date first', () => {
    const due = planDue(slotAt, ledger(), policy);
    expect(outline(due)).toEqual([
      'daily 2026-03-10',
      'lookback 2026-03-09',
      'lookback 2026-03-08',
      'lookback 2026-03-07',
    ]);
    expect(due.every((pull) => pull.slotAt === slotAt && pull.round === 0)).toBe(true);
  });

  test('yesterday is the day before the slot on the calendar of the time zone', () => {
    const evening = new Date('2026-03-12T01:30:00Z');
    expect(planDue(evening, ledger(), policy)[0]?.date).toBe('2026-03-10');
    const tokyo = { ...policy, timeZone: 'Asia/Tokyo' };
    expect(planDue(evening, ledger(), tokyo)[0]?.date).toBe('2026-03-11');
  });

  test('on the first day only yesterday is due: nothing before the first date is looked back at', () => {
    const first = ledger({ startDate: yesterday, lastReconciledDate: null });
    expect(outline(planDue(slotAt, first, policy))).toEqual(['daily 2026-03-10']);
  });

  test('before the first date there is nothing to do', () => {
    const future = ledger({ startDate: date('2026-03-11'), lastReconciledDate: null });
    expect(planDue(slotAt, future, policy)).toEqual([]);
  });

  test('after three weeks off every date since is due, from the oldest on', () => {
    const behind = ledger({ lastReconciledDate: date('2026-02-17') });
    const due = planDue(slotAt, behind, policy);
    expect(outline(due.slice(0, 5))).toEqual([
      'daily 2026-03-10',
      'lookback 2026-03-09',
      'lookback 2026-03-08',
      'lookback 2026-03-07',
      'daily 2026-02-18',
    ]);
    expect(due.map(({ date: of }) => of).sort()).toEqual(
      datesBetween(date('2026-02-18'), yesterday),
    );
  });

  test('a hole behind reconciled dates is due, the reconciled dates are not', () => {
    const holed = ledger({
      lastReconciledDate: date('2026-02-27'),
      reconciledDates: new Set(datesBetween(date('2026-03-02'), yesterday)),
    });
    expect(outline(planDue(slotAt, holed, { ...policy, lookbackDays: 0 }))).toEqual([
      'daily 2026-03-10',
      'daily 2026-02-28',
      'daily 2026-03-01',
    ]);
  });

  test('a date that is covered is not due, as yesterday, in the lookback or in the gap', () => {
    const covered = [yesterday, date('2026-03-08'), date('2026-03-02')];
    const due = planDue(
      slotAt,
      ledger({ lastReconciledDate: date('2026-02-28'), coveredDates: new Set(covered) }),
      policy,
    );
    expect(due.filter((pull) => covered.includes(pull.date))).toEqual([]);
    expect(due).toHaveLength(7);
  });

  test('no date is due twice', () => {
    const behind = ledger({ lastReconciledDate: null });
    const dates = planDue(slotAt, behind, policy).map(({ date: of }) => of);
    expect(new Set(dates).size).toBe(dates.length);
  });

  test('a gap of ten years is planned in portions that continue where the last portion ended', () => {
    const startDate = date('2016-01-01');
    const old = ledger({ startDate, lastReconciledDate: null });
    const first = planDue(slotAt, old, policy);
    expect(first).toHaveLength(MAX_OPEN_PULLS);
    expect(outline(first.slice(0, 5)).at(-1)).toBe('daily 2016-01-01');

    const planned = new Set(first.map(({ date: of }) => of));
    const full = { ...old, coveredDates: planned, openPulls: MAX_OPEN_PULLS };
    expect(planDue(slotAt, full, policy)).toEqual([]);

    const next = planDue(slotAt, { ...full, openPulls: MAX_OPEN_PULLS - 2 }, policy);
    expect(outline(next)).toEqual(
      [0, 1].map((days) => `daily ${addDays(startDate, MAX_OPEN_PULLS - 4 + days)}`),
    );
  });

  test('yesterday and the lookback do not wait for the portion to shrink', () => {
    const crowded = ledger({ lastReconciledDate: null, openPulls: 2 * MAX_OPEN_PULLS });
    expect(outline(planDue(slotAt, crowded, policy))).toEqual([
      'daily 2026-03-10',
      'lookback 2026-03-09',
      'lookback 2026-03-08',
      'lookback 2026-03-07',
    ]);
  });

  test('a date whose pulls of the slot have failed is due in a further round', () => {
    const failed = ledger({ failedPulls: new Map([[yesterday, 2]]) });
    expect(planDue(slotAt, failed, policy).map(({ round }) => round)).toEqual([2, 0, 0, 0]);
  });
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
