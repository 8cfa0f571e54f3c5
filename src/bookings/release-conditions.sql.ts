/** The conditions that keep a signed-off day from its release. */
import type { Transaction } from '../database/database.ts';
import type { CivilDate } from '../domain/business-day.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { KEEPS_DAY } from '../integrity/altered-day.sql.ts';

/**
 * - `booked_outside`: the day was signed off before bookings began, and no person has recorded the bookings
 * - `not_matched`: the titles of the day were not matched with the ERP's payables since their newest change, or since
 *   the ERP has paid a payable that may be one of theirs
 * - `altered`: a cause other than a merge has changed rows of the day; see `KEEPS_DAY`
 * - `not_reconciled`: a newer response of the day is held, or the day has open rejects or findings
 * - `urgent_break`: the ERP has paid a title of the day to the supplier
 * - `receipts`: a receipt names an unknown line or another content, and no person has decided
 */
export const RELEASE_FAULTS = [
  'booked_outside',
  'receipts',
  'altered',
  'not_reconciled',
  'not_matched',
  'urgent_break',
] as const;
export type ReleaseFault = (typeof RELEASE_FAULTS)[number];

/**
 * True for a row `batch` that begins the bookings of its date. The first seal of a date before BOOKINGS_FROM begins
 * none, also where BOOKINGS_FROM was an earlier date at that time: the ERP may have booked the date in another way.
 * @param bookingsFrom null: BOOKINGS_FROM is not set, and every first seal counts
 */
export const beginsBookings = (bookingsFrom: CivilDate | null): Prisma.Sql => Prisma.sql`
  (batch.kind IN ('seal', 'outside')
   OR batch.kind = 'opening' AND (batch.date >= ${bookingsFrom}::date) IS NOT FALSE)`;

/** The conditions, as SQL over `date`. Each is true where the fault is there. */
const CONDITIONS: Readonly<
  Record<ReleaseFault, (date: Prisma.Sql, bookingsFrom: CivilDate | null) => Prisma.Sql>
> = {
  booked_outside: (date, bookingsFrom) => Prisma.sql`NOT EXISTS (
    SELECT FROM conciliation.booking_batch AS batch
    WHERE batch.date = ${date} AND ${beginsBookings(bookingsFrom)})`,
  altered: (date) => Prisma.sql`EXISTS (
    SELECT FROM conciliation.title_finding AS finding WHERE finding.date = ${date} AND ${KEEPS_DAY})`,
  not_reconciled: (date) => Prisma.sql`EXISTS (
    SELECT FROM conciliation.day AS present WHERE present.date = ${date} AND present.state <> 'reconciled')`,
  not_matched: (date) => Prisma.sql`
    EXISTS (SELECT FROM conciliation.erp_payable) AND NOT EXISTS (
      SELECT FROM conciliation.match_run AS run
      WHERE run.id = (SELECT max(id) FROM conciliation.match_run) AND run.urgent_known
        -- The checks ran after the commit of the content. So the run has seen the content.
        AND run.started_at >= (
          SELECT done.checked_at FROM conciliation.day_check AS done
          -- The alias keeps day.date, as which the date may be given, that of the outer query.
          JOIN conciliation.day AS checked USING (date, content_digest) WHERE done.date = ${date})
        AND NOT EXISTS (
          SELECT FROM conciliation.erp_payable AS paid JOIN conciliation.title AS title
            ON title.accepted_date = ${date} AND title.status = 'current'
           AND (title.original_value = paid.open_value
                  AND (title.order_uid = paid.order_uid OR title.anticipated_due_date = paid.due_date)
                OR paid.open_value = 0 AND title.order_uid = paid.order_uid)
          WHERE paid.status = 'paid' AND paid.changed_at >= run.started_at))`,
  urgent_break: (date) => Prisma.sql`EXISTS (
    SELECT FROM conciliation.match_run AS run
    WHERE run.id = (SELECT max(id) FROM conciliation.match_run) AND ${date} = ANY(run.urgent_dates))`,
  receipts: (date) => Prisma.sql`EXISTS (
    SELECT FROM conciliation.booking_receipt AS receipt
    WHERE receipt.date = ${date} AND receipt.outcome IN ('unknown_key', 'other_content'))`,
};

/** True where `fault` keeps the day from being released. */
export const hasFault = (
  fault: ReleaseFault,
  date: Prisma.Sql,
  bookingsFrom: CivilDate | null,
): Prisma.Sql => Prisma.sql`(${CONDITIONS[fault](date, bookingsFrom)})`;

/** True where nothing keeps the day from being released. */
export const isReleasable = (date: Prisma.Sql, bookingsFrom: CivilDate | null): Prisma.Sql =>
  Prisma.sql`NOT (${Prisma.join(
    Object.values(CONDITIONS).map((condition) => condition(date, bookingsFrom)),
    ' OR ',
  )})`;

/** The ERP's key of the payable that a row of `title` is matched with. */
export const ERP_KEY: Prisma.Sql = Prisma.sql`
  (SELECT string_agg(payable.erp_key, ',' ORDER BY payable.erp_key)
   FROM conciliation.title_payable AS payable WHERE payable.title_id = title.id)`;

/** Returns what keeps the day from being released; empty: nothing. */
export async function readReleaseFaults(
  tx: Pick<Transaction, '$queryRaw'>,
  date: CivilDate,
  bookingsFrom: CivilDate | null,
): Promise<ReleaseFault[]> {
  const columns = Object.entries(CONDITIONS).map(
    ([fault, condition]) =>
      Prisma.sql`CASE WHEN ${condition(Prisma.sql`${date}::date`, bookingsFrom)} THEN ${fault}::text END`,
  );
  const [row] = await tx.$queryRaw<[{ faults: ReleaseFault[] }]>`
    SELECT array_remove(ARRAY[${Prisma.join(columns)}], NULL) AS faults`;
  return row.faults;
}
