/** By how much a process's clock may differ from the database's. */
const CLOCK_TOLERANCE_MS = 120_000;

/**
 * How far a process's clock is ahead of the database's, in milliseconds; negative: behind. The
 * database was asked at some instant between two readings of the clock: of the difference to their
 * midpoint only that part is returned which is certain.
 */
export function clockSkewMs(beforeMs: number, databaseMs: number, afterMs: number): number {
  const apartMs = (beforeMs + afterMs) / 2 - databaseMs;
  const uncertainMs = Math.abs(afterMs - beforeMs) / 2;
  return Math.sign(apartMs) * Math.max(0, Math.abs(apartMs) - uncertainMs);
}

/** What is wrong with a clock that is so far off, as part of a sentence; null: nothing. */
export function clockFault(skewMs: number): string | null {
  if (Math.abs(skewMs) <= CLOCK_TOLERANCE_MS) return null;
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  return `${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} the clock of the database`;
}
