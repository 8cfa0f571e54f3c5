import { ConfigError } from '../runtime/errors.ts';
import { clockFault, clockSkewMs } from '../values/clock-skew.ts';
import type { Database } from './database.ts';

/** Returns the time of the database's clock. */
export async function readClock(database: Database): Promise<Date> {
  const [row] = await database.prisma.$queryRaw<[{ now: Date }]>`SELECT clock_timestamp() AS now`;
  return row.now;
}

/**
 * Returns the difference between this process's clock and the database's, as part of a sentence;
 * null: the difference is within the tolerance.
 */
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
