export interface RetryPolicy {
  readonly attempts: number;
  readonly backoffSeconds: number;
}

const MAX_DELAY_MS = 3_600_000;

/**
 * Exponential backoff with full jitter ("Exponential Backoff And Jitter", AWS Architecture Blog, 2015): a
 * uniform share of a span that doubles from `backoffSeconds` to at most an hour, so that pulls which failed
 * together are not retried together. The delay is never shorter than the platform's `Retry-After`.
 * @param attemptsSpent the number of counted attempts, including the last one
 * @param random uniform in [0, 1)
 * @returns the delay in milliseconds
 */
export function backoffDelayMs(
  policy: RetryPolicy,
  attemptsSpent: number,
  retryAfterSeconds: number | null,
  random: number,
): number {
  const spanMs = Math.min(policy.backoffSeconds * 1000 * 2 ** (attemptsSpent - 1), MAX_DELAY_MS);
  const jitteredMs = Math.round(spanMs * random);
  return retryAfterSeconds === null
    ? jitteredMs
    : Math.max(jitteredMs, Math.ceil(retryAfterSeconds * 1000));
}

/** Codes of temporary failures. They become final when all attempts are spent. */
export const SPENT_ERROR_CODES = [
  'PLATFORM_UNAVAILABLE',
  'PLATFORM_RATE_LIMITED',
  'PLATFORM_CONTRACT',
  'STAGING_UNAVAILABLE',
  'DEFECT',
] as const;

const FIRST_REPLAN_MINUTES = 5;
const MAX_REPLAN_MINUTES = 60;

/**
 * Returns the minutes after which a failed pull that is still due is planned again: 5, 10,
 * 20, 40, then 60. A person need not act after an outage of the platform.
 * @param failures failed pulls of the date for the slot; at least 1
 */
export function replanAfterMinutes(failures: number): number {
  return Math.min(FIRST_REPLAN_MINUTES * 2 ** (failures - 1), MAX_REPLAN_MINUTES);
}
