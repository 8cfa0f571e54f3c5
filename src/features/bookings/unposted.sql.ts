/** What is not posted yet: titles that wait for their release, and payables that the ERP must not pay meanwhile. */
import { type Static, Type } from 'typebox';
import type { Database } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import {
  amount,
  date,
  dateOrNull,
  id,
  instant,
  text,
  textOrNull,
  words,
} from '../../console/api/schema-parts.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { ANSWERS, effect } from './feed.sql.ts';
import { keptTitles } from './release-conditions.sql.ts';

/** A title whose line waits because of the payables. The breaks of its date give the reason. */
export const WaitingTitle = Type.Object({
  titleId: id,
  date,
  orderUid: text,
  dueDate: dateOrNull,
  originalValue: amount,
});
type WaitingTitle = Static<typeof WaitingTitle>;

/** Returns the titles of a date that wait for their release now, without those whose content was released before. */
export function readWaitingTitles(
  database: Pick<Database, 'prisma'>,
  day: CivilDate,
): Promise<WaitingTitle[]> {
  return database.prisma.$queryRaw<WaitingTitle[]>`
    SELECT title.id::float8 AS "titleId", title.accepted_date::text AS date, title.order_uid AS "orderUid",
           title.anticipated_due_date::text AS "dueDate", title.original_value::text AS "originalValue"
    FROM conciliation.title AS title
    WHERE title.id IN (SELECT title_id FROM (${keptTitles(Prisma.sql`${day}::date`)}) AS kept)
      AND NOT EXISTS (
        SELECT FROM conciliation.booking_line AS line
        WHERE line.date = title.accepted_date AND line.identity_hash = title.identity_hash
          AND line.title_id = title.id AND line.content_hash = title.content_hash
          AND NOT EXISTS (
            SELECT FROM conciliation.booking_line AS later
            WHERE later.date = line.date AND later.identity_hash = line.identity_hash
              AND later.occurrence = line.occurrence AND later.version > line.version))
    ORDER BY title.order_uid, title.id`;
}

/** A row of `payables_to_block`. */
export const PayableToBlock = Type.Object({
  erpKey: text,
  company: textOrNull,
  titleId: id,
  orderUid: text,
  date,
  supplier: textOrNull,
  originalValue: amount,
  effect,
  payeeAfter: textOrNull,
  matchedAt: instant,
  state: words(['not_released', ...ANSWERS]),
});
type PayableToBlock = Static<typeof PayableToBlock>;

/**
 * Returns the payables to block after a key, in the order of their keys. The rows of one payable are never divided.
 * @param page.limit the number of payables
 */
export function readPayablesToBlock(
  database: Pick<Database, 'prisma'>,
  page: { readonly after: string; readonly limit: number },
): Promise<PayableToBlock[]> {
  return database.prisma.$queryRaw<PayableToBlock[]>`
    SELECT erp_key AS "erpKey", company, title_id::float8 AS "titleId", order_uid AS "orderUid",
           accepted_date::text AS date, provider_external_id AS supplier, original_value::text AS "originalValue",
           effect, payee_after AS "payeeAfter", matched_at AS "matchedAt", state
    FROM conciliation.payables_to_block
    WHERE erp_key IN (SELECT DISTINCT erp_key FROM conciliation.payables_to_block
                      WHERE erp_key > ${page.after} ORDER BY erp_key LIMIT ${page.limit}::int)
    ORDER BY erp_key, title_id`;
}
