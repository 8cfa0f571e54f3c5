import { Temporal } from 'temporal-polyfill';
import type { CivilDate } from '../../base/values/business-day.ts';

/** A reading of a wall clock: a date and a time of day. */
export interface WallTime {
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
export function reachedAt(timeZone: string, { date, hour, minute }: WallTime): Date {
  const time = Temporal.PlainDate.from(date).toPlainDateTime({ hour, minute });
  // For a time that is shown twice, this is the first instant. A skipped time is moved to before the gap.
  const shown = time.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  const isSkipped = !shown.toPlainDateTime().equals(time);
  const reached = isSkipped ? shown.getTimeZoneTransition('next') : shown;
  return new Date((reached ?? shown).epochMilliseconds);
}
