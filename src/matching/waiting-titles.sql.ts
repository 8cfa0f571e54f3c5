import { Prisma } from '../generated/prisma/client.ts';
import { SAME_SUPPLIER } from './breaks.sql.ts';

/**
 * A subquery with one column `title_id`: the current titles of an accepted date whose lines must not be released now,
 * judged against the payables as they are at that instant.
 * @param date an expression of type date
 */
export const waitingTitles = (date: Prisma.Sql): Prisma.Sql => Prisma.sql`
  SELECT title.id AS title_id
  FROM conciliation.title AS title
  JOIN conciliation.erp_payable AS payable
    ON payable.status = 'paid'
   AND (payable.order_uid = title.order_uid
          AND (payable.open_value = title.original_value
               OR payable.open_value = 0 AND payable.due_date = title.anticipated_due_date IS NOT FALSE)
        OR payable.open_value = title.original_value AND payable.due_date = title.anticipated_due_date
          AND ${SAME_SUPPLIER})
  WHERE title.accepted_date = ${date} AND title.status = 'current' AND NOT EXISTS (
    SELECT FROM conciliation.break_decision AS decision
    WHERE decision.kind = 'paid_to_supplier' AND decision.title_id = title.id AND decision.erp_key = payable.erp_key)`;
