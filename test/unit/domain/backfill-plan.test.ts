import { describe, expect, test } from 'vitest';
import { addDays, type CivilDate, toCivilDate } from '../../../src/base/values/business-day.ts';
import { PULL_STATES, type PullState } from '../../../src/core/ledger/pull-ledger.sql.ts';
import { backfillRangeFault, planBackfill } from '../../../src/features/backfills/backfill-plan.ts';

const from = toCivilDate('2026-03-01');
const range = { from, to: toCivilDate('2026-03-05') };
const backfill = { ...range, concurrency: 2 };
const day = (days: number) => addDays(from, days);

const pulls = (...states: readonly PullState[]) =>
  new Map<CivilDate, PullState>(states.map((state, days) => [day(days), state]));

describe('planBackfill', () => {
  test('begins with the oldest dates, as many as are pulled at once', () => {
    expect(planBackfill(backfill, pulls(), 100)).toEqual({
      dates: [day(0), day(1)],
      isDone: false,
    });
  });

  test('makes one new pull for each that has ended', () => {
    expect(planBackfill(backfill, pulls('merged', 'running'), 100).dates).toEqual([day(2)]);
    expect(planBackfill(backfill, pulls('queued', 'running'), 100).dates).toEqual([]);
  });

  test('creates at most as many as there is room for', () => {
    expect(planBackfill(backfill, pulls(), 1).dates).toEqual([day(0)]);
    expect(planBackfill(backfill, pulls(), 0).dates).toEqual([]);
    expect(planBackfill(backfill, pulls(), -3).dates).toEqual([]);
  });

  test('is not set back by more open pulls than its concurrency', () => {
    expect(planBackfill(backfill, pulls('queued', 'queued', 'queued'), 100).dates).toEqual([]);
  });

  test('is done when every date has its pull behind it, well or badly', () => {
    const ended = pulls('merged', 'unchanged', 'failed', 'held', 'superseded');
    expect(planBackfill(backfill, ended, 100)).toEqual({ dates: [], isDone: true });
  });

  test.each(PULL_STATES)('a last pull that is %s', (state) => {
    const plan = planBackfill(backfill, pulls('merged', 'merged', 'merged', 'merged', state), 100);
    expect(plan.isDone).toBe(!['queued', 'running', 'cancelled'].includes(state));
    expect(plan.dates).toEqual(state === 'cancelled' ? [day(4)] : []);
  });
});

describe('backfillRangeFault', () => {
  const today = toCivilDate('2026-03-05');

  test('takes one date, today, and ten years', () => {
    expect(backfillRangeFault(range, today)).toBeNull();
    expect(backfillRangeFault({ from: today, to: today }, today)).toBeNull();
    expect(backfillRangeFault({ from: addDays(today, -3659), to: today }, today)).toBeNull();
  });

  test('describes the fault', () => {
    expect(backfillRangeFault({ from: today, to: from }, today)?.message).toBe(
      'the range ends on 2026-03-01, before it begins on 2026-03-05',
    );
    expect(backfillRangeFault({ from, to: addDays(today, 1) }, today)?.message).toBe(
      'the range ends on 2026-03-06, which is in the future: today is 2026-03-05',
    );
    expect(backfillRangeFault({ from: addDays(today, -3660), to: today }, today)?.message).toBe(
      'the range has 3661 dates, and a backfill takes at most 3660 (ten years)',
    );
  });
});
