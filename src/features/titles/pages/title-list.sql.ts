import { type Static, Type } from 'typebox';
import type { QueryClient } from '../../../base/database/database.ts';
import {
  amount,
  date,
  dateOrNull,
  id,
  instant,
  orNull,
  words,
} from '../../../console/api/schema-parts.ts';
import type { ListTotal, Place } from '../../../console/list/list.tsx';
import { Prisma } from '../../../generated/prisma/client.ts';
import { businessDayOf } from '../../calendar/business-days.sql.ts';
import { PROMOTED_VALUES, PromotedValue } from '../../fields/promoted-fields.sql.ts';
import { readGroupTotals } from '../../schedule/read-schedule.sql.ts';
import { groupOf, type TitleFilter, type TitleSort, whereOf } from './title-filters.sql.ts';

export const TitleRow = Type.Object({
  id,
  status: words(['current', 'withdrawn']),
  acceptedDate: date,
  orderUid: Type.String(),
  occurrence: id,
  provider: orNull('string'),
  agent: orNull('string'),
  dueDate: dateOrNull,
  businessDay: dateOrNull,
  promoted: Type.Array(PromotedValue),
  originalValue: amount,
  changedAt: instant,
});
export type TitleRow = Readonly<Static<typeof TitleRow>>;

/** What follows each key makes the order complete. */
const KEYS: Readonly<Record<TitleSort, readonly Prisma.Sql[]>> = {
  // The order of the index title_identity_key, so that a page is an index lookup.
  accepted: [Prisma.sql`accepted_date`, Prisma.sql`identity_hash`, Prisma.sql`occurrence`],
  order: [Prisma.sql`order_uid COLLATE "C"`, Prisma.sql`id`],
  value: [Prisma.sql`original_value`, Prisma.sql`id`],
  due: [Prisma.sql`coalesce(anticipated_due_date, 'infinity')`, Prisma.sql`id`],
  provider: [Prisma.sql`coalesce(provider_external_id, '') COLLATE "C"`, Prisma.sql`id`],
  agent: [Prisma.sql`coalesce(financial_agent_name, '') COLLATE "C"`, Prisma.sql`id`],
};

/** The order of a list: that of the filter; otherwise the titles of one date by order, or the newest dates first. */
export const titleOrder = ({ sort, from, to }: TitleFilter): TitleSort | `-${TitleSort}` =>
  sort ?? (from !== null && from === to ? 'order' : '-accepted');

export async function readTitles(
  tx: QueryClient,
  filter: TitleFilter,
  { offset, limit }: Place,
): Promise<TitleRow[]> {
  const order = titleOrder(filter);
  const direction = order.startsWith('-') ? Prisma.sql`DESC` : Prisma.sql`ASC`;
  const keys = KEYS[order.replace('-', '') as TitleSort];
  return tx.$queryRaw<TitleRow[]>`
    SELECT id::float8 AS id, status, accepted_date::text AS "acceptedDate",
           order_uid AS "orderUid", occurrence, provider_external_id AS provider,
           financial_agent_name AS agent, anticipated_due_date::text AS "dueDate",
           ${businessDayOf(Prisma.sql`anticipated_due_date`)}::text AS "businessDay",
           ${PROMOTED_VALUES} AS promoted, original_value::text AS "originalValue", changed_at AS "changedAt"
    FROM conciliation.title WHERE ${await whereOf(tx, filter)}
    ORDER BY ${Prisma.join(keys.map((key) => Prisma.sql`${key} ${direction}`))}
    LIMIT ${limit} OFFSET ${offset}`;
}

/** Returns the number of selected titles, and the sum of the current ones. For whole days the values come from the ledger. */
export async function countTitles(tx: QueryClient, filter: TitleFilter): Promise<ListTotal> {
  const { titles, originalValueSum } = await readTitleTotals(tx, filter);
  return { rows: titles, sums: { original_value: originalValueSum } };
}

export async function readTitleTotals(tx: QueryClient, filter: TitleFilter) {
  const group = groupOf(filter);
  if (group !== null) return readGroupTotals(tx, group);
  const { from, to, sort: _, ...narrowing } = filter;
  const areWholeDays = Object.values(narrowing).every((value) => value === null);
  const [row] = await tx.$queryRaw<[{ titles: number; originalValueSum: string }]>(
    areWholeDays
      ? // A row of a date that has not begun is a mistake, and has no titles.
        Prisma.sql`
        SELECT coalesce(sum(title_count + withdrawn_count), 0)::float8 AS titles,
               coalesce(sum(original_value_sum), 0)::text AS "originalValueSum"
        FROM conciliation.day
        WHERE date >= coalesce(${from}::date, '-infinity')
          AND date <= least(${to}::date, (SELECT max(accepted_date) FROM conciliation.title))`
      : Prisma.sql`
        SELECT count(*)::float8 AS titles,
               coalesce(sum(original_value) FILTER (WHERE status = 'current'), 0)::text AS "originalValueSum"
        FROM conciliation.title WHERE ${await whereOf(tx, filter)}`,
  );
  return row;
}
