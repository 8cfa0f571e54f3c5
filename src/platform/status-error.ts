import type { IncomingHttpHeaders } from 'node:http';
import {
  type ConciliationError,
  PlatformAuthError,
  PlatformContractError,
  PlatformRateLimitedError,
  PlatformRequestError,
  PlatformUnavailableError,
} from '../runtime/errors.ts';
import { parseRetryAfter } from './retry-after.ts';

/**
 * 401, and 403 with it: the token is known and may not do this, which a person mends by another
 * token just the same.
 */
export function isTokenRefused(httpStatus: number): boolean {
  return httpStatus === 401 || httpStatus === 403;
}

/**
 * The error for any status but 200. Says nothing of the body, which nobody documented and which may
 * repeat personal data.
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
  // 408 is a server's word for what is silence here.
  if (httpStatus >= 500 || httpStatus === 408) {
    return new PlatformUnavailableError(answered, { context });
  }
  // A redirect is not followed: the token is for this origin, and the interface knows none. 404 and
  // 405 say that this is not the documented interface, as a wrong base address does.
  return new PlatformContractError(`${answered}, expected 200`, { context });
}
