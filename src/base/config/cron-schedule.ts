import { Cron } from 'croner';

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
 * Returns the latest instant up to `now` at which the schedule came due in `timeZone` (IANA name). A time that the clock
 * skips comes due at the skip, one that it shows twice only the first time.
 * @throws Error when `cronFault` rejects the expression
 */
export function latestSlot(expression: string, timeZone: string, now: Date): Date {
  // With sloppy ranges, `5/10` is a step, as in most other programs.
  const schedule = new Cron(expression, { timezone: timeZone, mode: '5-part', sloppyRanges: true });
  // Without the instant itself.
  const [latest] = schedule.previousRuns(1, new Date(now.getTime() + 1));
  if (latest === undefined) throw new RangeError('a schedule without a date');
  return latest;
}

/** Returns the slot before the latest one. */
export function slotBefore(expression: string, timeZone: string, now: Date): Date {
  const latest = latestSlot(expression, timeZone, now);
  return latestSlot(expression, timeZone, new Date(latest.getTime() - 1));
}
