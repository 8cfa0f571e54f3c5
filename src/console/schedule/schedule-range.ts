import { daysBetween, parseCivilDate } from '../../domain/business-day.ts';
import { InputError } from '../../runtime/errors.ts';
import type { DueRange } from '../../schedule/read-schedule.sql.ts';
import { MAX_DUE_DAYS } from '../../schedule/schedule-file.ts';
import { textParameter } from '../shell/page-context.ts';

/** @throws InputError unless `dueFrom` and `dueTo` are two dates in order, within a year */
export function dueRangeParameters(source: unknown): DueRange {
  const from = parseCivilDate(textParameter(source, 'dueFrom') ?? '');
  const to = parseCivilDate(textParameter(source, 'dueTo') ?? '');
  if (from === null || to === null || from > to || daysBetween(from, to) >= MAX_DUE_DAYS) {
    throw new InputError(
      `dueFrom and dueTo: expected two dates as YYYY-MM-DD, in order, at most ${MAX_DUE_DAYS} days`,
    );
  }
  return { from, to };
}
