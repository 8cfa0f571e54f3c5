import { CronExpressionParser } from 'cron-parser';
import { Temporal } from 'temporal-polyfill';

/**
 * Numbers, names, `*`, lists, ranges and steps. cron-parser also accepts `H`, which gives every process
 * different slots; seconds, which a tick a minute cannot keep; fewer fields; `L`, `#` and `?`.
 */
const VALUE = '(?:\\d+|[a-z]{3})';
const ITEM = `(?:\\*|${VALUE}(?:-${VALUE})?)(?:/\\d+)?`;
const FIVE_FIELDS = new RegExp(`^${ITEM}(?:,${ITEM})*(?:\\s+${ITEM}(?:,${ITEM})*){4}$`, 'i');

/** More than a clock was ever set back since time zones exist, except in zones that moved over the date line. */
const SET_BACK_HOURS = 3;

/** Returns the expected form; null: `expression` is valid. */
export function cronFault(expression: string): string | null {
  try {
    latestSlot(expression, 'UTC', new Date());
    return null;
  } catch {
    return 'a cron expression of five fields, such as "0 6 * * *", for a date that exists';
  }
}

/**
 * Returns the latest instant up to `now` at which the schedule came due: when the wall clock in
 * `timeZone` (IANA name) had reached a time of the expression. A time that the clock skips comes
 * due at the skip. A time that the clock shows twice comes due only the first time. cron-parser's
 * search within a time zone skips such days or fails on them, so it searches readings of the wall clock, in UTC.
 * @throws Error when `cronFault` rejects the expression
 */
export function latestSlot(expression: string, timeZone: string, now: Date): Date {
  if (!FIVE_FIELDS.test(expression.trim())) {
    throw new RangeError('not a cron expression of five fields');
  }
  const instant = Temporal.Instant.fromEpochMilliseconds(now.getTime());
  const shown = instant.toZonedDateTimeISO(timeZone).toPlainDateTime();
  // A clock that was set back has already shown later times. A later time is never reached before an earlier one.
  const newest = shown.add({ hours: SET_BACK_HOURS });
  const currentDate = `${newest.toString({ smallestUnit: 'second' })}Z`;
  const readings = CronExpressionParser.parse(expression, { currentDate, tz: 'UTC' });
  for (;;) {
    const reading = Temporal.PlainDateTime.from(readings.prev().toISOString()?.slice(0, 19) ?? '');
    const reached = reachedAt(timeZone, reading);
    if (reached <= now) return reached;
  }
}

/** Returns the slot before the latest one. */
export function slotBefore(expression: string, timeZone: string, now: Date): Date {
  const latest = latestSlot(expression, timeZone, now);
  return latestSlot(expression, timeZone, new Date(latest.getTime() - 1));
}

/** Returns the first instant at which the wall clock in `timeZone` has reached `time`, or has skipped it. */
function reachedAt(timeZone: string, time: Temporal.PlainDateTime): Date {
  // For a time that is shown twice, this is the first instant. A skipped time is moved to before the gap.
  const shown = time.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  const isSkipped = !shown.toPlainDateTime().equals(time);
  const reached = isSkipped ? shown.getTimeZoneTransition('next') : shown;
  return new Date((reached ?? shown).epochMilliseconds);
}
