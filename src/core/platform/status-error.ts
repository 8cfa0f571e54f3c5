import type { IncomingHttpHeaders } from 'node:http';
import {
  type ConciliationError,
  PlatformAuthError,
  PlatformContractError,
  PlatformRateLimitedError,
  PlatformRequestError,
  PlatformUnavailableError,
} from '../../base/runtime/errors.ts';
import { parseRetryAfter } from './retry-after.ts';

/** 401 and 403. After 403 the token is known but lacks the right; another token resolves both. */
export function isTokenRefused(httpStatus: number): boolean {
  return httpStatus === 401 || httpStatus === 403;
}

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
  if (isTokenRefused(httpStatus)) {
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
