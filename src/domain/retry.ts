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
