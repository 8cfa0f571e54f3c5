import type { BackfillProgress } from '../../features/backfills/backfill-ledger.sql.ts';
import { formatCount } from './table.ts';

const BAR_WIDTH = 24;

const ended = (progress: BackfillProgress) => progress.done + progress.failed + progress.held;

/**
 * One line with the number of ended dates, the rate since this process began to watch, and the
 * remaining time at that rate.
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

/** Formats an estimate: `42 s`, `7 min`, `2 h 5 min`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
