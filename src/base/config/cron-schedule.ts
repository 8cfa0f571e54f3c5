import { CronExpressionParser, type CronFieldCollection } from 'cron-parser';
import { addDays, type CivilDate, daysBetween, toCivilDate } from '../values/business-day.ts';

/**
 * Numbers, names, `*`, lists, ranges and steps. cron-parser also accepts `H`, which gives every process
 * different slots; seconds, which a tick a minute cannot keep; fewer fields; `L`, `#` and `?`.
 */
const VALUE = '(?:\\d+|[a-z]{3})';
const ITEM = `(?:\\*|${VALUE}(?:-${VALUE})?)(?:/\\d+)?`;
const FIVE_FIELDS = new RegExp(`^${ITEM}(?:,${ITEM})*(?:\\s+${ITEM}(?:,${ITEM})*){4}$`, 'i');

const A_SUNDAY = toCivilDate('0001-01-07');
const A_LEAP_YEAR = toCivilDate('2024-01-01');

export interface TimeOfDay {
  readonly hour: number;
  readonly minute: number;
}

/** The days and times of day of a cron expression. The times are in descending order. */
export interface CronSchedule {
  readonly isOnDate: (date: CivilDate) => boolean;
  readonly times: readonly TimeOfDay[];
}

/** Returns a description of a valid cron expression, or null when `expression` is valid. */
export function cronFault(expression: string): string | null {
  const expected = 'a cron expression of five fields, such as "0 6 * * *"';
  try {
    return occurs(parseCron(expression)) ? null : `${expected}, for a date that exists`;
  } catch {
    return expected;
  }
}

/** @throws Error when `expression` is not a cron expression of five fields */
export function parseCron(expression: string): CronSchedule {
  if (!FIVE_FIELDS.test(expression.trim())) {
    throw new RangeError('not a cron expression of five fields');
  }
  const { fields } = CronExpressionParser.parse(expression);
  const latestFirst = (values: readonly number[]) => [...values].sort((a, b) => b - a);
  const minutes = latestFirst(fields.minute.values);
  return {
    isOnDate: toDateTest(fields),
    times: latestFirst(fields.hour.values).flatMap((hour) =>
      minutes.map((minute) => ({ hour, minute })),
    ),
  };
}

/** If both the day of month and the day of week are given, one match is enough, as in crontab(5). */
function toDateTest(fields: CronFieldCollection): (date: CivilDate) => boolean {
  const months = new Set<number>(fields.month.values);
  const daysOfMonth = new Set<number | string>(fields.dayOfMonth.values);
  const daysOfWeek = new Set(fields.dayOfWeek.values.map((day) => Number(day) % 7));
  const anyDayOfMonth = fields.dayOfMonth.isWildcard;
  const anyDayOfWeek = fields.dayOfWeek.isWildcard;
  return (date) => {
    if (!months.has(Number(date.slice(5, 7)))) return false;
    const isDayOfMonth = daysOfMonth.has(Number(date.slice(8, 10)));
    const isDayOfWeek = daysOfWeek.has(daysBetween(A_SUNDAY, date) % 7);
    if (anyDayOfMonth) return anyDayOfWeek || isDayOfWeek;
    return isDayOfMonth || (!anyDayOfWeek && isDayOfWeek);
  };
}

function occurs({ isOnDate }: CronSchedule): boolean {
  for (let days = 0; days < 4 * 366; days += 1) {
    if (isOnDate(addDays(A_LEAP_YEAR, days))) return true;
  }
  return false;
}
