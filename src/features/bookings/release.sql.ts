/** The release of a signed-off day: docs/bookings.md. */
import { amountSum } from '../../base/database/amount-sum.sql.ts';
import type { Database, Transaction } from '../../base/database/database.ts';
import { takeLock } from '../../base/database/program-lock.sql.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { isAltered } from '../verify/verify.sql.ts';
import { writeDifference } from './booking-difference.sql.ts';
import { settleReceipts } from './receipts.sql.ts';
import {
  hasFault,
  isReleasable,
  RELEASE_FAULTS,
  type ReleaseFault,
  type ReleaseRules,
  readReleaseFaults,
} from './release-conditions.sql.ts';

/** Room for the lines of a day with hundreds of thousands of titles, in milliseconds. */
export const RELEASE_TRANSACTION = { timeout: 300_000, maxWait: 10_000 } as const;

/**
 * Releases what differs between the content that was released last and the content that the day's seal covers.
 * Does nothing where the day is before BOOKINGS_FROM, has no seal, was restated since, has been released completely
 * for this seal, or must wait; a later call releases it then. Titles that have to wait are left to a later call too. The row of the day is locked by the caller.
 * @param isCompared whether the caller has compared the rows of the day with their record: see `isAltered`
 * @returns `booking_batch.id`; null: nothing was released
 */
export async function releaseSealedDay(
  tx: Transaction,
  date: CivilDate,
  rules: ReleaseRules,
  { isCompared } = { isCompared: false },
): Promise<bigint | null> {
  await settleReceipts(tx, date);
  const [seal] = await tx.$queryRaw<[{ id: bigint; by: string }?]>`
    SELECT seal.id, seal.signed_off_by AS by ${unreleased} AND day.date = ${date}::date
    -- A move of BOOKINGS_FROM waits for the lines, or is seen here.
    FOR SHARE OF start`;
  if (seal === undefined || (await readReleaseFaults(tx, date, rules)).length > 0) return null;
  if (!isCompared && (await isAltered(tx, date))) return null;
  const batchId = await writeDifference(tx, { date, signOffId: seal.id, by: seal.by });
  if (batchId === null) return null;
  // Numbered last, and under the lock until the commit: a position that is visible has none before it to come.
  await takeLock(tx, 'closing');
  await tx.$executeRaw`
    INSERT INTO conciliation.booking_offer (line_id)
    SELECT id FROM conciliation.booking_line WHERE batch_id = ${batchId}
    -- A payable is free again before its title's successor is booked on it.
    ORDER BY kind <> 'reverse', identity_hash, occurrence, version`;
  return batchId;
}

/**
 * Seals from BOOKINGS_FROM on that last and cover the present content of their day, and were not released completely
 * after every receipt that a person recorded.
 */
const unreleased = Prisma.sql`
  FROM conciliation.booking_start AS start
  JOIN conciliation.day ON day.date >= start.bookings_from
  JOIN conciliation.sign_off AS seal ON seal.date = day.date AND seal.ended_at IS NULL
  WHERE NOT day.restated_after_sign_off AND day.content_digest = seal.content_digest
    AND NOT EXISTS (
      SELECT FROM conciliation.booking_batch AS batch
      WHERE batch.date = day.date AND batch.sign_off_id = seal.id AND batch.waiting_titles = 0
        AND NOT EXISTS (SELECT FROM conciliation.booking_batch AS recorded
                        WHERE recorded.date = day.date AND recorded.sign_off_id IS NULL AND recorded.id > batch.id))`;

/** The titles of a day `day` that had to wait at the newest release of its seal `seal`. */
const titlesLeft = Prisma.sql`coalesce((
  SELECT batch.waiting_titles FROM conciliation.booking_batch AS batch
  WHERE batch.date = day.date AND batch.sign_off_id = seal.id ORDER BY batch.id DESC LIMIT 1), 0)`;

/**
 * Releases the signed-off days that had to wait and no longer have to wait, each in a separate transaction.
 * @returns the days that were released
 * @throws the first error of a day, after all days were tried
 */
export async function releaseWaitingDays(
  database: Database,
  rules: ReleaseRules,
): Promise<CivilDate[]> {
  const waiting = await database.prisma.$queryRaw<{ date: CivilDate }[]>`
    SELECT day.date::text AS date ${unreleased}
      AND ${isReleasable(Prisma.sql`day.date`, rules)}
    ORDER BY day.date`;
  const released: CivilDate[] = [];
  const faults: unknown[] = [];
  for (const { date } of waiting) {
    try {
      const batchId = await database.prisma.$transaction(async (tx) => {
        await lockDay(tx, date);
        return releaseSealedDay(tx, date, rules);
      }, RELEASE_TRANSACTION);
      if (batchId !== null) released.push(date);
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length > 0) throw faults[0];
  return released;
}

/** Signed-off days that wait for the same reason. */
export interface WaitingDays {
  /** `titles`: titles of the day wait, and the others are released. Null: nothing keeps the days from being released. */
  readonly fault: ReleaseFault | 'titles' | null;
  readonly days: number;
  /** The number of titles that had to wait at the newest release of each day; 0 where the whole day waits. */
  readonly titles: number;
  /** The original values of the days, as exact decimal text; null where only titles wait. */
  readonly value: string | null;
  /** In order. */
  readonly dates: readonly CivilDate[];
}

/** Returns the signed-off days that wait for their release, by the first reason of each, the oldest days first. */
export function readWaitingDays(database: Database, rules: ReleaseRules): Promise<WaitingDays[]> {
  const cases = RELEASE_FAULTS.map(
    (fault) => Prisma.sql`WHEN ${hasFault(fault, Prisma.sql`day.date`, rules)} THEN ${fault}::text`,
  );
  return database.prisma.$queryRaw<WaitingDays[]>`
    SELECT fault, count(*)::int AS days, sum(titles)::int AS titles,
           CASE WHEN fault IS DISTINCT FROM 'titles' THEN (${amountSum(Prisma.sql`value`)})::text END AS value, array_agg(date::text ORDER BY date) AS dates
    FROM (
      SELECT date, value, coalesce(fault, CASE WHEN titles > 0 THEN 'titles' END) AS fault,
             CASE WHEN fault IS NULL THEN titles ELSE 0 END AS titles
      FROM (SELECT day.date, day.original_value_sum AS value, CASE ${Prisma.join(cases, ' ')} END AS fault, ${titlesLeft} AS titles ${unreleased})
        AS judged
    ) AS waiting
    GROUP BY fault ORDER BY min(date)`;
}

/**
 * Returns the number and the oldest of the days that were signed off before an instant and are not released; null:
 * none. A day counts also where only some of its titles wait. Days that wait for a decision about receipts, altered
 * titles, a held response, rejects or findings have alerts of their own.
 */
export async function readOverdueReleases(
  tx: Pick<Transaction, '$queryRaw'>,
  signedBefore: Date,
  rules: ReleaseRules,
): Promise<{ days: number; date: CivilDate } | null> {
  const has = (fault: ReleaseFault) => hasFault(fault, Prisma.sql`day.date`, rules);
  const [waiting] = await tx.$queryRaw<{ days: number; date: CivilDate }[]>`
    SELECT count(*)::int AS days, min(day.date)::text AS date ${unreleased}
      AND NOT (${has('receipts')} OR ${has('altered')} OR ${has('not_reconciled')})
      AND seal.signed_off_at < ${signedBefore}
    HAVING count(*) > 0`;
  return waiting ?? null;
}

/** Locks the row of the day, as a merge and a seal do. */
export async function lockDay(tx: Transaction, date: CivilDate): Promise<void> {
  await tx.$executeRaw`SELECT FROM conciliation.day WHERE date = ${date}::date FOR UPDATE`;
}
