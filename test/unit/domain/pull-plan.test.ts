import { describe, expect, test } from 'vitest';
import {
  addDays,
  type CivilDate,
  datesBetween,
  toCivilDate,
} from '../../../src/domain/business-day.ts';
import {
  type DuePull,
  isInWindow,
  MAX_OPEN_PULLS,
  type PlanLedger,
  planDue,
  pullUrgency,
  sweepWindow,
} from '../../../src/domain/pull-plan.ts';

const date = toCivilDate;
const policy = { timeZone: 'America/Sao_Paulo', lookbackDays: 3, sweepDays: 45 };
/** 06:00 on Wednesday 2026-03-11 and 03:00 on the Sunday before. */
const slots = {
  pullAt: new Date('2026-03-11T09:00:00Z'),
  sweepAt: new Date('2026-03-08T06:00:00Z'),
};
const yesterday = date('2026-03-10');

/** A ledger in which everything up to `lastReconciledDate` was pulled and this week's sweep is done. */
function ledger(changes: Partial<PlanLedger> = {}): PlanLedger {
  return {
    startDate: date('2026-01-01'),
    lastReconciledDate: date('2026-03-09'),
    reconciledDates: new Set(),
    coveredDates: new Set(),
    sweeps: [{ from: date('2026-01-22'), isOfSlot: true }],
    openPulls: 0,
    ...changes,
  };
}

const outline = (pulls: readonly DuePull[]) =>
  pulls.map(({ origin, window }) => `${origin} ${window.from}${window.to === null ? '…' : ''}`);

describe('planDue', () => {
  test('a slot makes yesterday and the lookback due, the newest date first', () => {
    const due = planDue(slots, ledger(), policy);
    expect(outline(due)).toEqual([
      'daily 2026-03-10',
      'lookback 2026-03-09',
      'lookback 2026-03-08',
      'lookback 2026-03-07',
    ]);
    expect(due.every(({ slotAt }) => slotAt === slots.pullAt)).toBe(true);
    expect(due.every(({ window }) => window.to === window.from)).toBe(true);
  });

  test('yesterday is the day before the slot on the calendar of the time zone', () => {
    const evening = { ...slots, pullAt: new Date('2026-03-12T01:30:00Z') };
    expect(planDue(evening, ledger(), policy)[0]?.window.from).toBe('2026-03-10');
    const tokyo = { ...policy, timeZone: 'Asia/Tokyo' };
    expect(planDue(evening, ledger(), tokyo)[0]?.window.from).toBe('2026-03-11');
  });

  test('on the first day only yesterday is due: nothing before the first date is looked back at', () => {
    const first = ledger({ startDate: yesterday, lastReconciledDate: null, sweeps: [] });
    expect(outline(planDue(slots, first, policy))).toEqual(['daily 2026-03-10']);
  });

  test('before the first date there is nothing to do', () => {
    const future = ledger({ startDate: date('2026-03-11'), lastReconciledDate: null, sweeps: [] });
    expect(planDue(slots, future, policy)).toEqual([]);
  });

  test('after three weeks off every date since is due, from the oldest on', () => {
    const behind = ledger({ lastReconciledDate: date('2026-02-17') });
    const due = planDue(slots, behind, policy);
    expect(outline(due.slice(0, 5))).toEqual([
      'daily 2026-03-10',
      'lookback 2026-03-09',
      'lookback 2026-03-08',
      'lookback 2026-03-07',
      'daily 2026-02-18',
    ]);
    expect(due.map(({ window }) => window.from).sort()).toEqual(
      datesBetween(date('2026-02-18'), yesterday),
    );
  });

  test('a hole behind reconciled dates is due, the reconciled dates are not', () => {
    const holed = ledger({
      lastReconciledDate: date('2026-02-27'),
      reconciledDates: new Set(datesBetween(date('2026-03-02'), yesterday)),
    });
    expect(outline(planDue(slots, holed, { ...policy, lookbackDays: 0 }))).toEqual([
      'daily 2026-03-10',
      'daily 2026-02-28',
      'daily 2026-03-01',
    ]);
  });

  test('a date that is covered is not due, as yesterday, in the lookback or in the gap', () => {
    const covered = [yesterday, date('2026-03-08'), date('2026-03-02')];
    const due = planDue(
      slots,
      ledger({ lastReconciledDate: date('2026-02-28'), coveredDates: new Set(covered) }),
      policy,
    );
    expect(due.filter(({ window }) => covered.includes(window.from))).toEqual([]);
    expect(due).toHaveLength(7);
  });

  test('no date is due twice', () => {
    const behind = ledger({ lastReconciledDate: null });
    const dates = planDue(slots, behind, policy).map(({ window }) => window.from);
    expect(new Set(dates).size).toBe(dates.length);
  });

  test('ten years are caught up with in portions that go on where the last one ended', () => {
    const startDate = date('2016-01-01');
    const old = ledger({ startDate, lastReconciledDate: null });
    const first = planDue(slots, old, policy);
    expect(first).toHaveLength(MAX_OPEN_PULLS);
    expect(outline(first.slice(0, 5)).at(-1)).toBe('daily 2016-01-01');

    const planned = new Set(first.map(({ window }) => window.from));
    const full = { ...old, coveredDates: planned, openPulls: MAX_OPEN_PULLS };
    expect(planDue(slots, full, policy)).toEqual([]);

    const next = planDue(slots, { ...full, openPulls: MAX_OPEN_PULLS - 2 }, policy);
    expect(outline(next)).toEqual(
      [0, 1].map((days) => `daily ${addDays(startDate, MAX_OPEN_PULLS - 4 + days)}`),
    );
  });

  test('yesterday and the lookback do not wait for the portion to shrink', () => {
    const crowded = ledger({ lastReconciledDate: null, openPulls: 2 * MAX_OPEN_PULLS });
    expect(outline(planDue(slots, crowded, policy))).toEqual([
      'daily 2026-03-10',
      'lookback 2026-03-09',
      'lookback 2026-03-08',
      'lookback 2026-03-07',
    ]);
  });

  describe('the sweep', () => {
    const sweepOf = (changes: Partial<PlanLedger>) =>
      planDue(slots, ledger({ sweeps: [], ...changes }), policy).filter(
        ({ origin }) => origin === 'sweep',
      );

    test('reaches back from the date of its own slot', () => {
      expect(sweepOf({})).toEqual([
        { origin: 'sweep', window: { from: '2026-01-22', to: null }, slotAt: slots.sweepAt },
      ]);
    });

    test('does not reach behind the first date', () => {
      const startDate = date('2026-02-10');
      expect(sweepOf({ startDate }).map(({ window }) => window.from)).toEqual([startDate]);
    });

    test('has nothing to look at when its slot was before the first date was over', () => {
      expect(sweepOf({ startDate: date('2026-03-08') })).toEqual([]);
      expect(sweepOf({ startDate: date('2026-03-07') })).toHaveLength(1);
    });

    test('is not due beside one of the same slot, whatever SWEEP_DAYS was then', () => {
      expect(sweepOf({ sweeps: [{ from: date('2026-03-01'), isOfSlot: true }] })).toEqual([]);
    });

    test('is not due beside one that reaches as far back, but beside one that does not', () => {
      const beside = (from: CivilDate) => sweepOf({ sweeps: [{ from, isOfSlot: false }] });
      expect(beside(date('2026-01-22'))).toEqual([]);
      expect(beside(date('2026-01-23'))).toHaveLength(1);
    });
  });
});

test('a window holds its day, or every date since', () => {
  expect(isInWindow({ from: yesterday, to: yesterday }, addDays(yesterday, 1))).toBe(false);
  expect(isInWindow(sweepWindow(yesterday), addDays(yesterday, 1))).toBe(true);
  expect(isInWindow(sweepWindow(yesterday), addDays(yesterday, -1))).toBe(false);
});

test('a person comes first, then yesterday, the lookback, the sweep, missed dates and backfills', () => {
  const slotAt = slots.pullAt;
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
  expect(pullUrgency({ origin: 'sweep', from: yesterday, slotAt: null }, policy.timeZone)).toBe(0);
});
