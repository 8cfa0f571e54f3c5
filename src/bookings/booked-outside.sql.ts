import { type Decision, recordAudit } from '../audit/audit.ts';
import type { Database, Transaction } from '../database/database.ts';
import type { CivilDate } from '../domain/business-day.ts';
import { InputError } from '../runtime/errors.ts';
import { titlesAt, writeDifference } from './booking-difference.sql.ts';
import { lockDay, RELEASE_TRANSACTION, releaseSealedDay } from './release.sql.ts';
import { beginsBookings, type ReleaseRules } from './release-conditions.sql.ts';

/** The statement of a person about the days of a range that were signed off before bookings began. */
export interface BookedOutside extends ReleaseRules {
  readonly from: CivilDate;
  readonly to: CivilDate;
  /** The number of titles that were booked, over all days. */
  readonly titles: number;
  /** The sum of their original values, as decimal text, over all days. */
  readonly originalValue: string;
  /** Only seals from before this instant count, such as the begin of bookings. Null: all. */
  readonly signedBefore: Date | null;
}

interface OutsideDay {
  readonly date: CivilDate;
  readonly sealId: bigint;
  readonly fence: bigint;
}

/**
 * Records that the titles of the newest such seal of each day were booked in the ERP without lines of this program.
 * Only days that wait for this are entered. Later seals of the days release the difference; a day whose present
 * seal is a later one is released in this transaction.
 *
 * With 0 titles: nothing of these days was booked. The present seals of the days then release all of it.
 * @returns the days
 * @throws InputError when no day of the range waits, or when the totals are not those of the seals
 */
export function enterBookedOutside(
  database: Database,
  entry: BookedOutside,
  decision: Decision,
): Promise<CivilDate[]> {
  return database.prisma.$transaction(async (tx) => {
    const days = await lockWaitingDays(tx, entry);
    if (days.length === 0) {
      throw new InputError(
        `${entry.from} to ${entry.to}: no signed-off day waits for what was booked outside`,
        { context: { fault: 'no_days' } },
      );
    }
    const isNothing = entry.titles === 0;
    if (!isNothing) await requireTotals(tx, days, entry);
    for (const { date, sealId, fence } of days) {
      await writeDifference(tx, {
        date,
        kind: 'outside',
        // A batch of the seal would count as its release.
        signOffId: isNothing ? null : sealId,
        by: decision.by,
        titles: isNothing ? titlesAt(date, -1n) : titlesAt(date, fence),
      });
    }
    const { by: actor, reason } = decision;
    await recordAudit(tx, {
      actor,
      action: 'bookings.outside',
      reason,
      details: {
        from: entry.from,
        to: entry.to,
        titles: entry.titles,
        originalValue: entry.originalValue,
        days: days.length,
      },
    });
    for (const { date } of days) await releaseSealedDay(tx, date, entry);
    return days.map(({ date }) => date);
  }, RELEASE_TRANSACTION);
}

/** Locks the days with a seal and without bookings. In date order. */
async function lockWaitingDays(tx: Transaction, entry: BookedOutside): Promise<OutsideDay[]> {
  const locked = new Set<CivilDate>();
  for (const { date } of await readWaitingDays(tx, entry)) {
    await lockDay(tx, date);
    locked.add(date);
  }
  // Read again under the locks: another person may have entered the days meanwhile.
  return (await readWaitingDays(tx, entry)).filter(({ date }) => locked.has(date));
}

function readWaitingDays(
  tx: Transaction,
  { from, to, signedBefore, bookingsFrom }: BookedOutside,
): Promise<OutsideDay[]> {
  return tx.$queryRaw<OutsideDay[]>`
    SELECT DISTINCT ON (seal.date) seal.date::text AS date, seal.id AS "sealId", seal.fence
    FROM conciliation.sign_off AS seal
    WHERE seal.date BETWEEN ${from}::date AND ${to}::date
      AND (${signedBefore}::timestamptz IS NULL OR seal.signed_off_at < ${signedBefore}::timestamptz)
      AND NOT EXISTS (
        SELECT FROM conciliation.booking_batch AS batch
        WHERE batch.date = seal.date AND (batch.kind = 'adopted' OR ${beginsBookings(bookingsFrom)}))
    ORDER BY seal.date, seal.id DESC`;
}

async function requireTotals(
  tx: Transaction,
  days: readonly OutsideDay[],
  { titles, originalValue }: BookedOutside,
): Promise<void> {
  const [total] = await tx.$queryRaw<[{ titles: number; value: string; isEqual: boolean }]>`
    SELECT sum(title_count)::int AS titles, sum(original_value_sum)::text AS value,
           sum(title_count) = ${titles}::int AND sum(original_value_sum) = ${originalValue}::numeric AS "isEqual"
    FROM conciliation.sign_off WHERE id = ANY(${days.map(({ sealId }) => sealId)}::bigint[])`;
  if (total.isEqual) return;
  throw new InputError(
    `titles and original value: got ${titles} and ${originalValue}, but the seals of the ${days.length} days have ${total.titles} and ${total.value}`,
    { context: { fault: 'outside_totals' } },
  );
}
