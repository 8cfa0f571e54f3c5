/** What the processes of one database share: its clock, and the locks of the program. */
import { ConfigError } from '../runtime/errors.ts';
import type { Database, Transaction } from './database.ts';

export async function readClock(database: Database): Promise<Date> {
  const [row] = await database.prisma.$queryRaw<[{ now: Date }]>`SELECT clock_timestamp() AS now`;
  return row.now;
}

/** Returns the fault of this process's clock, see `clockFault`. */
export async function findClockFault(database: Database): Promise<string | null> {
  const beforeMs = Date.now();
  const now = await readClock(database);
  return clockFault(clockSkewMs(beforeMs, now.getTime(), Date.now()));
}

/**
 * For work that depends on which dates are over.
 * @throws ConfigError when this process's clock differs from the database's
 */
export async function requireSameClock(database: Database): Promise<void> {
  const fault = await findClockFault(database);
  if (fault === null) return;
  throw new ConfigError([`the clock of this machine is ${fault}: let NTP set both`]);
}

const CLOCK_TOLERANCE_MS = 120_000;

/**
 * Returns how far a process's clock is ahead of the database's, in milliseconds; negative: behind. The database's time
 * was read between two readings of the process's clock; a difference within them is uncertain and does not count.
 */
export function clockSkewMs(beforeMs: number, databaseMs: number, afterMs: number): number {
  const apartMs = (beforeMs + afterMs) / 2 - databaseMs;
  const uncertainMs = Math.abs(afterMs - beforeMs) / 2;
  return Math.sign(apartMs) * Math.max(0, Math.abs(apartMs) - uncertainMs);
}

/** Returns the difference as part of a sentence; null: it is within the tolerance. */
export function clockFault(skewMs: number): string | null {
  if (Math.abs(skewMs) <= CLOCK_TOLERANCE_MS) return null;
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  return `${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} the clock of the database`;
}

/** Rows of `program_lock` that a transaction keeps locked until it ends. */
export type ProgramLock = 'closing' | 'planner' | 'alerts' | 'push' | 'matching' | 'checks';

/**
 * Waits for the lock. A separate statement, because only the following statements see what the transaction before
 * has committed.
 */
export async function takeLock(tx: Transaction, lock: ProgramLock): Promise<void> {
  await tx.$executeRaw`SELECT FROM conciliation.program_lock WHERE name = ${lock} FOR UPDATE`;
}
