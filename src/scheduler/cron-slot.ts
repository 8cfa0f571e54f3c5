import { CronExpressionParser, type CronFieldCollection } from 'cron-parser';
import {
  addDays,
  type CivilDate,
  dateIn,
  daysBetween,
  toCivilDate,
} from '../domain/business-day.ts';
import { reachedAt } from './wall-clock.ts';

/**
 * Numbers, names, `*`, lists, ranges and steps. cron-parser takes more: `H`, which would give every
 * process slots of its own; seconds, which a tick a minute cannot keep; fewer fields; `L`, `#`, `?`.
 */
const VALUE = '(?:\\d+|[a-z]{3})';
const ITEM = `(?:\\*|${VALUE}(?:-${VALUE})?)(?:/\\d+)?`;
const FIVE_FIELDS = new RegExp(`^${ITEM}(?:,${ITEM})*(?:\\s+${ITEM}(?:,${ITEM})*){4}$`, 'i');

/** Leap years are at most eight years apart (1896 to 1904, 2096 to 2104). */
const MAX_DAYS_BACK = 9 * 366;

const A_SUNDAY = toCivilDate('0001-01-07');

/** A cron expression's days and times of day, the times from the latest on. */
interface Schedule {
  readonly isOnDate: (date: CivilDate) => boolean;
  readonly times: readonly { readonly hour: number; readonly minute: number }[];
}

/** What a cron expression has to be, as a sentence for whoever wrote another; or null. */
export function cronFault(expression: string): string | null {
  const expected = 'a cron expression of five fields, such as "0 6 * * *"';
  if (!FIVE_FIELDS.test(expression.trim())) return expected;
  try {
    const schedule = parseCron(expression);
    return occurs(schedule) ? null : `${expected}, for a date that exists`;
  } catch {
    return expected;
  }
}

/**
 * The latest instant up to `now` at which the schedule came due: when the wall clock in `timeZone`
 * (IANA name) had reached a time of the expression. A time that the clock jumps over comes due at the
 * jump, one that it shows twice the first time only. cron-parser's own search backwards skips such
 * days or fails on them, so only its reading of the expression is used.
 *
 * @throws RangeError for an expression that `cronFault` objects to
 */
export function latestSlot(expression: string, timeZone: string, now: Date): Date {
  if (!FIVE_FIELDS.test(expression.trim())) {
    throw new RangeError('not a cron expression of five fields');
  }
  const { isOnDate, times } = parseCron(expression);
  const today = dateIn(timeZone, now);
  // A clock that goes back over midnight has shown the times of a date that is ahead of it now.
  for (let days = -1; days <= MAX_DAYS_BACK; days += 1) {
    const date = addDays(today, -days);
    if (!isOnDate(date)) continue;
    for (const time of times) {
      const slotAt = reachedAt(timeZone, { date, ...time });
      if (slotAt <= now) return slotAt;
    }
  }
  throw new RangeError('the cron expression never comes due');
}

/** The slot before the latest. Throws as `latestSlot`. */
export function slotBefore(expression: string, timeZone: string, now: Date): Date {
  const latest = latestSlot(expression, timeZone, now);
  return latestSlot(expression, timeZone, new Date(latest.getTime() - 1));
}

function parseCron(expression: string): Schedule {
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

/** As every cron does: where both the day of month and the day of week are given, either will do. */
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

function occurs({ isOnDate }: Schedule): boolean {
  const fourYears = Array.from({ length: 4 * 366 }, (_, days) =>
    addDays(toCivilDate('2024-01-01'), days),
  );
  return fourYears.some(isOnDate);
}
