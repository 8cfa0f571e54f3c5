import { type Static, Type } from 'typebox';
import type { Transaction } from '../../../base/database/database.ts';
import {
  date,
  dateOrNull,
  id,
  instant,
  orNull,
  text,
  textOrNull,
  words,
} from '../../../console/api/schema-parts.ts';
import {
  anyOf,
  asTabs,
  choice,
  dateField,
  type FilterOf,
  numberField,
} from '../../../console/list/filter.tsx';
import type { ListTotal, Place } from '../../../console/list/list.tsx';
import { Prisma } from '../../../generated/prisma/client.ts';
import { BOOKING_OVERDUE_DAYS } from '../booking-alerts.sql.ts';
import { ACCOUNTING_BASES, ANSWERS, FAILURE_KINDS, keyOf, LINE_KINDS } from '../feed.sql.ts';

/** `overdue`: not answered or failed, a number of days after the release. */
const LINE_STATES = [
  'all',
  'released',
  'posted',
  'failed',
  'refused',
  'overdue',
  'superseded',
] as const;

export const LINE_FILTER = {
  state: asTabs(
    choice('bookings.state', LINE_STATES, 'all', (state) => `bookings.states.${state}`),
  ),
  /** Accepted dates, both inclusive. */
  from: dateField('bookings.from'),
  to: dateField('bookings.to'),
  kind: anyOf('bookings.kind', LINE_KINDS, (kind) => `bookings.kinds.${kind}`),
  days: numberField('bookings.overdueDays', {
    ...{ min: 0, max: 3_650, absent: BOOKING_OVERDUE_DAYS },
  }),
};
type LineFilter = FilterOf<typeof LINE_FILTER>;

export const ListedLine = Type.Object({
  id,
  key: text,
  date,
  kind: words(LINE_KINDS),
  state: words(ANSWERS),
  stateAt: instant,
  releasedAt: instant,
  isOverdue: Type.Boolean(),
  consumer: text,
  document: textOrNull,
  failure: textOrNull,
  failureKind: Type.Union([words(FAILURE_KINDS), Type.Null()]),
  accountingDate: date,
  accountingBasis: words(ACCOUNTING_BASES),
  erpKey: textOrNull,
  postingValue: orNull('string', { description: 'The value to post, exact decimal.' }),
  orderUid: textOrNull,
  supplier: textOrNull,
  dueDate: dateOrNull,
  originalValue: orNull('string', { description: 'Exact decimal. Null: taken from a receipt.' }),
});
export type ListedLine = Readonly<Static<typeof ListedLine>>;

const FROM = Prisma.sql`conciliation.booking_line AS line
  JOIN conciliation.booking_batch AS batch ON batch.id = line.batch_id`;

const isOverdue = (days: number) => Prisma.sql`(line.state IN ('released', 'failed')
  AND batch.released_at < clock_timestamp() - make_interval(days => ${days}::int))`;

/** All conditions but the state. */
const inRange = ({ from, to, kind }: LineFilter) => Prisma.sql`
  (${from}::date IS NULL OR line.date >= ${from}::date) AND (${to}::date IS NULL OR line.date <= ${to}::date)
  AND (${kind}::text IS NULL OR line.kind = ${kind}::text)`;

const isInState = ({ state, days }: LineFilter) =>
  state === 'overdue'
    ? isOverdue(days)
    : Prisma.sql`(${state} = 'all' OR line.state = ${state}::text)`;

const listed = (overdueDays: number) => Prisma.sql`
  line.id::int AS id, ${keyOf('line')} AS key, line.date::text AS date, line.kind, line.state, line.state_at AS "stateAt",
  batch.released_at AS "releasedAt", ${isOverdue(overdueDays)} AS "isOverdue", line.consumer, line.document,
  line.failure, line.failure_kind AS "failureKind", line.accounting_date::text AS "accountingDate",
  line.accounting_basis AS "accountingBasis", line.erp_key AS "erpKey", line.posting_value::text AS "postingValue", line.order_uid AS "orderUid", line.provider_external_id AS supplier,
  line.anticipated_due_date::text AS "dueDate", line.original_value::text AS "originalValue"`;

/** Counts the lines by state. Values add up among lines of one kind only. */
export async function countLines(db: Transaction, filter: LineFilter): Promise<ListTotal> {
  const [{ rows, value, ...counts }] = await db.$queryRaw<
    [Record<(typeof LINE_STATES)[number] | 'rows', number> & { readonly value: string }]
  >`
    SELECT (count(*) FILTER (WHERE ${isInState(filter)}))::int AS rows,
           coalesce(sum(line.original_value) FILTER (WHERE ${isInState(filter)}), 0)::text AS value,
           count(*)::int AS all,
           (count(*) FILTER (WHERE line.state = 'released'))::int AS released,
           (count(*) FILTER (WHERE line.state = 'posted'))::int AS posted,
           (count(*) FILTER (WHERE line.state = 'failed'))::int AS failed,
           (count(*) FILTER (WHERE line.state = 'refused'))::int AS refused,
           (count(*) FILTER (WHERE ${isOverdue(filter.days)}))::int AS overdue,
           (count(*) FILTER (WHERE line.state = 'superseded'))::int AS superseded
    FROM ${FROM} WHERE ${inRange(filter)}`;
  return { rows, counts, ...(filter.kind !== null && { sums: { original_value: value } }) };
}

/** Returns a part of the selected lines, the newest first. */
export function readLines(
  db: Transaction,
  filter: LineFilter,
  { offset, limit }: Place,
): Promise<ListedLine[]> {
  return db.$queryRaw<ListedLine[]>`
    SELECT ${listed(filter.days)} FROM ${FROM} WHERE ${inRange(filter)} AND ${isInState(filter)}
    ORDER BY line.id DESC OFFSET ${offset}::int LIMIT ${limit}::int`;
}

/** Returns the newest line of a title; none: nothing was released for it. */
export function readLineOf(db: Transaction, titleId: bigint): Promise<ListedLine[]> {
  return db.$queryRaw<ListedLine[]>`
    SELECT ${listed(BOOKING_OVERDUE_DAYS)}
    FROM conciliation.title JOIN ${FROM}
      ON (line.date, line.identity_hash, line.title_id) = (title.accepted_date, title.identity_hash, title.id)
    WHERE title.id = ${titleId} ORDER BY line.id DESC LIMIT 1`;
}

/** Returns all versions of the booking that a line belongs to, in their order; empty: there is no such line. */
export function readVersions(db: Transaction, lineId: bigint): Promise<ListedLine[]> {
  return db.$queryRaw<ListedLine[]>`
    SELECT ${listed(BOOKING_OVERDUE_DAYS)}
    FROM conciliation.booking_line AS wanted
    JOIN conciliation.booking_line AS line USING (date, identity_hash, occurrence)
    JOIN conciliation.booking_batch AS batch ON batch.id = line.batch_id
    WHERE wanted.id = ${lineId} ORDER BY line.version`;
}
