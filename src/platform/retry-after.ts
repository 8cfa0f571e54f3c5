/** Longer waits are shortened to a day: by then a person has looked, or should be told again. */
export const MAX_RETRY_AFTER_SECONDS = 86_400;

/**
 * Seconds to wait by a `Retry-After` header, from 1 to `MAX_RETRY_AFTER_SECONDS`; null where the
 * header is absent or neither a number of seconds nor an HTTP date.
 */
export function parseRetryAfter(header: string | undefined, now: Date): number | null {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return bound(Number(text));
  // `Date.parse` takes much that is no HTTP date, `2026-01-03` among it. All three forms of an HTTP
  // date begin with the weekday, and the oldest does not say that it is in GMT.
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(text)) return null;
  const at = Date.parse(/GMT$/.test(text) ? text : `${text} GMT`);
  return Number.isNaN(at) ? null : bound(Math.ceil((at - now.getTime()) / 1000));
}

/** At least a second: a time that has just passed is no invitation to a tight loop. */
function bound(seconds: number): number {
  return Math.min(Math.max(seconds, 1), MAX_RETRY_AFTER_SECONDS);
}
