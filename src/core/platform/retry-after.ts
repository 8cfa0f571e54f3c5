/** Longer waits are shortened to a day. */
export const MAX_RETRY_AFTER_SECONDS = 86_400;

/**
 * Returns the seconds of a `Retry-After` header (RFC 9110, section 10.2.3), from 1 to
 * `MAX_RETRY_AFTER_SECONDS`; null when the header is absent or is neither a number of seconds nor
 * an HTTP date.
 */
export function parseRetryAfter(header: string | undefined, now: Date): number | null {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return bound(Number(text));
  // `Date.parse` accepts more than HTTP dates, such as `2026-01-03`. All three forms of an HTTP
  // date begin with the weekday, and the oldest does not name its time zone, GMT.
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(text)) return null;
  const at = Date.parse(/GMT$/.test(text) ? text : `${text} GMT`);
  return Number.isNaN(at) ? null : bound(Math.ceil((at - now.getTime()) / 1000));
}

/** At least one second, so that a time in the past does not cause a tight loop. */
function bound(seconds: number): number {
  return Math.min(Math.max(seconds, 1), MAX_RETRY_AFTER_SECONDS);
}
