import { Temporal } from 'temporal-polyfill';
import { parseCron, type TimeOfDay } from '../../base/config/cron-schedule.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { addDays, dateIn } from '../../base/values/business-day.ts';

/** Leap years are at most eight years apart (1896 to 1904, 2096 to 2104). */
const MAX_DAYS_BACK = 9 * 366;

/**
 * Returns the latest instant up to `now` at which the schedule came due: when the wall clock in
 * `timeZone` (IANA name) had reached a time of the expression. A time that the clock skips comes
 * due at the skip. A time that the clock shows twice comes due only the first time. cron-parser's
 * own backward search skips such days or fails on them, so cron-parser only parses the expression.
 * @throws RangeError when `cronFault` rejects the expression
 */
export function latestSlot(expression: string, timeZone: string, now: Date): Date {
  const { isOnDate, times } = parseCron(expression);
  const today = dateIn(timeZone, now);
  // A clock that is set back over midnight has already shown times of the following date.
  for (let days = -1; days <= MAX_DAYS_BACK; days += 1) {
    const date = addDays(today, -days);
    if (!isOnDate(date)) continue;
    // A later time is never reached before an earlier one, so a binary search finds the latest time
    // that is reached.
    let [from, to] = [0, times.length];
    let slotAt: Date | null = null;
    while (from < to) {
      const middle = (from + to) >> 1;
      const reached = reachedAt(timeZone, { date, ...(times[middle] as TimeOfDay) });
      if (reached > now) from = middle + 1;
      else [to, slotAt] = [middle, reached];
    }
    if (slotAt !== null) return slotAt;
  }
  throw new RangeError('the cron expression never comes due');
}

/**
 * Returns the slot before the latest one.
 * @throws RangeError as `latestSlot` does
 */
export function slotBefore(expression: string, timeZone: string, now: Date): Date {
  const latest = latestSlot(expression, timeZone, now);
  return latestSlot(expression, timeZone, new Date(latest.getTime() - 1));
}

/** A reading of a wall clock: a date and a time of day. */
interface WallTime {
  readonly date: CivilDate;
  readonly hour: number;
  readonly minute: number;
}

/**
 * Returns the first instant at which the wall clock in `timeZone` (IANA name) has reached `time`. A time
 * that the clock skips is reached at the instant of the skip. A time that the clock shows twice is reached
 * the first time. A later time is therefore never reached before an earlier one.
 *
 * @throws RangeError when the time zone does not exist
 */
function reachedAt(timeZone: string, { date, hour, minute }: WallTime): Date {
  const time = Temporal.PlainDate.from(date).toPlainDateTime({ hour, minute });
  // For a time that is shown twice, this is the first instant. A skipped time is moved to before the gap.
  const shown = time.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  const isSkipped = !shown.toPlainDateTime().equals(time);
  const reached = isSkipped ? shown.getTimeZoneTransition('next') : shown;
  return new Date((reached ?? shown).epochMilliseconds);
}
