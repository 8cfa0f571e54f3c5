/** The stored BOOKINGS_FROM: docs/bookings.md. */
import { recordAudit } from '../../base/audit/audit.ts';
import type { Database, Transaction } from '../../base/database/database.ts';
import { ConfigError } from '../../base/runtime/errors.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { Prisma } from '../../generated/prisma/client.ts';

/** The first accepted date with bookings. Null: nothing is booked. */
export const BOOKINGS_FROM: Prisma.Sql = Prisma.sql`
  (SELECT bookings_from FROM conciliation.booking_start)`;

/**
 * Stores BOOKINGS_FROM with the first seal of a date from it on. Does nothing where a date is stored already, or where
 * one of the dates was signed off before: the ERP may have booked that date by other means. To be called in the
 * transaction of the seal, before the seal is written.
 * @param by the person who signs
 */
export async function beginBookings(
  tx: Transaction,
  date: CivilDate,
  bookingsFrom: CivilDate | null,
  by: string,
): Promise<void> {
  const stored = await tx.$executeRaw`
    INSERT INTO conciliation.booking_start AS start (bookings_from)
    SELECT ${bookingsFrom}::date
    WHERE ${date}::date >= ${bookingsFrom}::date
      AND NOT EXISTS (SELECT FROM conciliation.sign_off WHERE date >= ${bookingsFrom}::date)
    ON CONFLICT (id) DO UPDATE SET bookings_from = excluded.bookings_from, stored_at = now()
    WHERE start.bookings_from IS NULL`;
  if (stored > 0) await recordStart(tx, by, bookingsFrom);
}

const recordStart = (tx: Transaction, actor: string, bookingsFrom: CivilDate | null) =>
  recordAudit(tx, { actor, action: 'bookings.start', details: { bookingsFrom } });

/**
 * Moves the stored date to BOOKINGS_FROM.
 * @param bookingsFrom null: not set, which is later than any date
 * @throws ConfigError where a date would be booked twice, or would lose the lines that were released for it
 */
export function moveBookings(database: Database, bookingsFrom: CivilDate | null): Promise<void> {
  return database.prisma.$transaction(async (tx) => {
    // A release holds the row until its commit.
    await tx.$executeRaw`SELECT FROM conciliation.booking_start FOR UPDATE`;
    const [{ signed, released }] = await tx.$queryRaw<
      [{ signed: CivilDate | null; released: CivilDate | null }]
    >`
      SELECT (SELECT max(date) FROM conciliation.sign_off
              WHERE (date < ${BOOKINGS_FROM}) IS NOT FALSE)::text AS signed,
             (SELECT min(date) FROM conciliation.booking_line)::text AS released`;
    const given = bookingsFrom === null ? 'not set' : `got ${bookingsFrom}`;
    if (released !== null && (bookingsFrom === null || bookingsFrom > released)) {
      throw new ConfigError([
        `BOOKINGS_FROM: ${given}, expected a date up to ${released}, the first date with booking lines`,
      ]);
    }
    if (signed !== null && bookingsFrom !== null && bookingsFrom <= signed) {
      throw new ConfigError([
        `BOOKINGS_FROM: ${given}, expected a date after ${signed}, the newest date that was signed off without bookings`,
      ]);
    }
    const moved = await tx.$executeRaw`
      UPDATE conciliation.booking_start SET bookings_from = ${bookingsFrom}::date, stored_at = now()
      WHERE bookings_from IS NOT NULL AND bookings_from IS DISTINCT FROM ${bookingsFrom}::date`;
    if (moved > 0) await recordStart(tx, 'service', bookingsFrom);
  });
}
