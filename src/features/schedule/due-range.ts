import { InputError } from '../../base/runtime/errors.ts';
import {
  addDays,
  type CivilDate,
  daysBetween,
  parseCivilDate,
  toCivilDate,
} from '../../base/values/business-day.ts';
import { textParameter } from '../../console/shell/page-context.ts';
import type { DueRange } from './read-schedule.sql.ts';

/** The spans of due dates that a page shows. */
export const DUE_VIEWS = ['month', 'day'] as const;
export type DueView = (typeof DUE_VIEWS)[number];

const FIRST = toCivilDate('0001-01-01');
const LAST = toCivilDate('9999-12-31');

/** The longest range of due dates of a file, in days. */
const MAX_DUE_DAYS = 366;

/** @throws InputError unless `dueFrom` and `dueTo` are two dates in order, within a year */
export function dueRangeParameters(source: unknown): DueRange {
  const from = parseCivilDate(textParameter(source, 'dueFrom') ?? '');
  const to = parseCivilDate(textParameter(source, 'dueTo') ?? '');
  if (from === null || to === null || from > to || daysBetween(from, to) >= MAX_DUE_DAYS) {
    throw new InputError(
      `dueFrom and dueTo: expected two dates as YYYY-MM-DD, in order, at most ${MAX_DUE_DAYS} days`,
      { context: { fault: 'due_range', max: MAX_DUE_DAYS } },
    );
  }
  return { from, to };
}

export function dueRangeOf(view: DueView, date: CivilDate): DueRange {
  if (view === 'day') return { from: date, to: date };
  const month = date.slice(0, 7);
  const ends = ['31', '30', '29', '28'].map((day) => parseCivilDate(`${month}-${day}`));
  return {
    from: toCivilDate(`${month}-01`),
    to: ends.find((end) => end !== null) ?? date,
  };
}

/** Returns a date in the next span of the view, or in the one before. */
export function neighbour(range: DueRange, direction: 'next' | 'previous'): CivilDate {
  return direction === 'next' ? move(range.to, 1) : move(range.from, -1);
}

function move(date: CivilDate, days: number): CivilDate {
  const room = days < 0 ? daysBetween(FIRST, date) : daysBetween(date, LAST);
  return addDays(date, Math.sign(days) * Math.min(Math.abs(days), room));
}
