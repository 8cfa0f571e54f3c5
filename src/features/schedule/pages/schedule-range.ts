import { InputError } from '../../../base/runtime/errors.ts';
import { daysBetween, parseCivilDate } from '../../../base/values/business-day.ts';
import { textParameter } from '../../../console/shell/page-context.ts';
import type { DueRange } from '../read-schedule.sql.ts';
import { MAX_DUE_DAYS, SCHEDULE_FORMATS, type ScheduleFormat } from '../schedule-file.ts';

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

/** @throws InputError unless `format` is one of the formats */
export function scheduleFormat(source: unknown): ScheduleFormat {
  const wanted = textParameter(source, 'format');
  const format = SCHEDULE_FORMATS.find((known) => known === wanted);
  if (format === undefined) {
    throw new InputError(`format: expected one of ${SCHEDULE_FORMATS.join(', ')}`, {
      context: { fault: 'file_format' },
    });
  }
  return format;
}
