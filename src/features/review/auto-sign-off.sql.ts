/** AUTO_SIGN_OFF=clean: the first seal of a day about which there is nothing to decide. */

import { actionsOf } from '../../base/audit/audit.ts';
import type { Database } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { ObstacleRules } from '../../console/day-obstacle.ts';
import { AUTO_SIGN_OFF_AUTHOR } from '../../core/merge/losses.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { RELEASE_TRANSACTION, type ReleaseRules } from '../bookings/release.sql.ts';
import { readAlteration } from '../verify/verify.sql.ts';
import { hasObstacle, PROGRAM_OBSTACLES } from './obstacles.sql.ts';
import { sealDay } from './sign-off.sql.ts';

/**
 * True for a row of `day` that the program may seal: it has no obstacle but those for information, and neither a
 * decision nor an event in the audit log, as an earlier seal, a reopening, an acceptance of rejects or a release.
 */
const isClean = (rules: ObstacleRules) => Prisma.sql`
  NOT ${hasObstacle(Prisma.sql`day.date`, rules, PROGRAM_OBSTACLES)}
  AND NOT EXISTS (SELECT FROM conciliation.audit_entry AS entry WHERE entry.date = day.date
                    AND entry.action = ANY(${actionsOf('decision', 'event')}))`;

/**
 * Seals each clean day in a separate transaction, and releases its bookings.
 * @param range from the first date whose seals release bookings to the last date that is over
 * @returns the days, in date order
 */
export async function signCleanDays(
  database: Database,
  range: ReleaseRules & { readonly bookingsFrom: CivilDate; readonly to: CivilDate },
): Promise<CivilDate[]> {
  const { bookingsFrom, to } = range;
  const days = await database.prisma.$queryRaw<{ date: CivilDate }[]>`
    SELECT day.date::text AS date FROM conciliation.day
    WHERE day.date BETWEEN ${bookingsFrom}::date AND ${to}::date AND ${isClean(range)} ORDER BY day.date`;
  const signed: CivilDate[] = [];
  for (const { date } of days) {
    const isSigned = await database.prisma.$transaction(async (tx) => {
      // A separate statement: the following statement sees changes that a merge or a person has committed meanwhile.
      await tx.$executeRaw`SELECT FROM conciliation.day WHERE date = ${date}::date FOR UPDATE`;
      const clean = await tx.$queryRaw<unknown[]>`
        SELECT FROM conciliation.day WHERE day.date = ${date}::date AND ${isClean(range)}`;
      if (clean.length === 0 || (await readAlteration(tx, date)) !== null) return false;
      await sealDay(tx, date, {
        ...range,
        by: AUTO_SIGN_OFF_AUTHOR,
        reason: 'AUTO_SIGN_OFF=clean',
      });
      return true;
    }, RELEASE_TRANSACTION);
    if (isSigned) signed.push(date);
  }
  return signed;
}
