export interface RetryPolicy {
  readonly attempts: number;
  readonly backoffSeconds: number;
}

const MAX_DELAY_MS = 3_600_000;

/**
 * Exponential backoff with full jitter: a uniform share of a span that doubles from
 * `backoffSeconds` to at most an hour, so that many pulls which failed together do not come back
 * together. A delay that the platform named is never undercut.
 *
 * @param attemptsSpent attempts that count, the one that just ended included
 * @param random uniform in [0, 1)
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

/** Of failures after which the same work may succeed later: what ends it is that its attempts are spent. */
export const SPENT_ERROR_CODES = [
  'PLATFORM_UNAVAILABLE',
  'PLATFORM_RATE_LIMITED',
  'PLATFORM_CONTRACT',
  'STAGING_UNAVAILABLE',
] as const;

const FIRST_REPLAN_MINUTES = 5;
const MAX_REPLAN_MINUTES = 60;

/**
 * How long after it failed a pull or sweep whose attempts are spent is planned again, for as long as it is
 * due: 5, 10, 20, 40 minutes, then every hour. An outage of the platform ends without a person.
 *
 * @param failures pulls of the date, or sweeps, that have failed for the slot, at least 1
 */
export function replanAfterMinutes(failures: number): number {
  return Math.min(FIRST_REPLAN_MINUTES * 2 ** (failures - 1), MAX_REPLAN_MINUTES);
}
