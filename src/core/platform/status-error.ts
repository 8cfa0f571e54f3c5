import type { IncomingHttpHeaders } from 'node:http';
import {
  type ConciliationError,
  PlatformAuthError,
  PlatformContractError,
  PlatformRateLimitedError,
  PlatformRequestError,
  PlatformUnavailableError,
} from '../../base/runtime/errors.ts';

/**
 * Returns the error for any status except 200. Quotes nothing of the body, which is not documented
 * and may hold personal data.
 */
export function toStatusError(
  httpStatus: number,
  headers: IncomingHttpHeaders,
  now: Date,
): ConciliationError {
  const context = { httpStatus };
  const answered = `the platform answered ${httpStatus}`;
  const retryAfterSeconds = parseRetryAfter(headers['retry-after'], now);
  if (httpStatus === 429 || (httpStatus === 503 && retryAfterSeconds !== null)) {
    return new PlatformRateLimitedError(answered, retryAfterSeconds, {
      context: { ...context, retryAfterSeconds },
    });
  }
  if (httpStatus === 400) {
    return new PlatformRequestError(`${answered}: it refuses the request`, { context });
  }
  // After 403 the token is known but lacks the right; another token resolves both.
  if (httpStatus === 401 || httpStatus === 403) {
    return new PlatformAuthError(`${answered}: it refuses the token`, { context });
  }
  // 408 is the server's report of a timeout.
  if (httpStatus >= 500 || httpStatus === 408) {
    return new PlatformUnavailableError(answered, { context });
  }
  // Redirects are not followed: the token is for this origin, and the interface has none. 404 and 405 mean
  // that this is not the documented interface, for example because of a wrong base address.
  return new PlatformContractError(`${answered}, expected 200`, { context });
}

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
