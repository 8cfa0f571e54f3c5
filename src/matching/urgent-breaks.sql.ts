import type { Transaction } from '../database/database.ts';
import type { CivilDate } from '../domain/business-day.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { PAID_PAYABLE } from './breaks.sql.ts';
import { PAYABLE_GROUND, TITLE_GROUND } from './candidates.sql.ts';

/** The accepted dates of the breaks `paid_to_supplier` that no person has resolved, one row for each break. */
const datesOfUrgentBreaks = (condition: Prisma.Sql) => Prisma.sql`
  SELECT title.accepted_date AS date FROM conciliation.title AS title
  CROSS JOIN LATERAL (SELECT ${PAID_PAYABLE} AS erp_key) AS paid
  JOIN conciliation.erp_payable AS payable ON payable.erp_key = paid.erp_key
  WHERE title.status = 'current' AND ${condition}
    AND EXISTS (SELECT FROM conciliation.erp_payable WHERE status = 'paid')
    AND NOT EXISTS (SELECT FROM conciliation.title_payable WHERE title_id = title.id)
    AND NOT EXISTS (
      SELECT FROM conciliation.break_decision AS decision
      WHERE decision.kind = 'paid_to_supplier' AND decision.title_id = title.id
        AND decision.erp_key = paid.erp_key
        AND decision.ground = md5(concat(${TITLE_GROUND}, payable.status, ${PAYABLE_GROUND}))::uuid)`;

/** Whether a date has an urgent break, as SQL over the date. */
export const hasUrgentBreaks = (date: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`EXISTS (${datesOfUrgentBreaks(Prisma.sql`title.accepted_date = ${date}`)})`;

/** A date whose titles the ERP has paid to the supplier. */
export interface UrgentDate {
  readonly date: CivilDate;
  readonly titles: number;
}

/** Returns the dates with urgent breaks, the oldest first. */
export function datesWithUrgentBreaks(tx: Pick<Transaction, '$queryRaw'>): Promise<UrgentDate[]> {
  return tx.$queryRaw<UrgentDate[]>`
    SELECT date::text AS date, count(*)::int AS titles
    FROM (${datesOfUrgentBreaks(Prisma.sql`true`)}) AS urgent GROUP BY date ORDER BY date`;
}
