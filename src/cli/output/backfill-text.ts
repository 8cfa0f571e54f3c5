import type { BackfillProgress } from '../../backfills/backfill-ledger.sql.ts';
import { formatCount } from './table.ts';

const BAR_WIDTH = 24;

const ended = (progress: BackfillProgress) => progress.done + progress.failed + progress.held;

/**
 * One line: how many dates have ended, how fast since this process began to watch, and how long the
 * rest takes at that pace.
 */
export function progressBar(
  first: BackfillProgress,
  now: BackfillProgress,
  elapsedMs: number,
): string {
  const share = now.total === 0 ? 1 : ended(now) / now.total;
  const filled = Math.round(share * BAR_WIDTH);
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
  const daysPerSecond = (ended(now) - ended(first)) / (elapsedMs / 1000);
  const counts = `${formatCount(ended(now))}/${formatCount(now.total)} days, ${formatCount(now.titles)} titles`;
  if (!(daysPerSecond > 0)) return `${bar} ${counts}`;
  const left = formatSeconds((now.total - ended(now)) / daysPerSecond);
  return `${bar} ${counts}, ${daysPerSecond.toFixed(1)} days/s, ${left} left`;
}

/** `42 s`, `7 min`, `2 h 5 min`: as precise as a guess deserves. */
export function formatSeconds(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
