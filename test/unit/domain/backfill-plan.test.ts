import { describe, expect, test } from 'vitest';
import { addDays, toCivilDate } from '../../../src/base/values/business-day.ts';
import { backfillRangeFault } from '../../../src/features/backfills/backfill-ledger.sql.ts';

const from = toCivilDate('2026-03-01');
const range = { from, to: toCivilDate('2026-03-05') };

describe('backfillRangeFault', () => {
  const today = toCivilDate('2026-03-05');

  test('takes one date, today, and ten years', () => {
    expect(backfillRangeFault(range, today)).toBeNull();
    expect(backfillRangeFault({ from: today, to: today }, today)).toBeNull();
    expect(backfillRangeFault({ from: addDays(today, -3659), to: today }, today)).toBeNull();
  });

  test('describes the fault', () => {
    expect(backfillRangeFault({ from: today, to: from }, today)?.message).toBe(
      'The range ends on 2026-03-01, before it begins on 2026-03-05.',
    );
    expect(backfillRangeFault({ from, to: addDays(today, 1) }, today)?.message).toBe(
      'The range ends on 2026-03-06, which is in the future: today is 2026-03-05.',
    );
    expect(backfillRangeFault({ from: addDays(today, -3660), to: today }, today)?.message).toBe(
      'The range has 3661 dates. A backfill takes at most 3660 (ten years).',
    );
  });
});
