import { type Static, Type } from 'typebox';
import type { Database, Transaction } from '../../../base/database/database.ts';
import type { CivilDate } from '../../../base/values/business-day.ts';
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
import type { ObstacleRules } from '../../../console/day-obstacle.ts';
import {
  anyOf,
  asTabs,
  choice,
  dateField,
  type FilterOf,
  idField,
} from '../../../console/list/filter.tsx';
import type { ListTotal, Place } from '../../../console/list/list.tsx';
import { Prisma } from '../../../generated/prisma/client.ts';
import { BOOKING_OVERDUE_DAYS } from '../booking-alerts.sql.ts';
import { ACCOUNTING_BASES, ANSWERS, FAILURE_KINDS, keyOf, LINE_KINDS } from '../feed.sql.ts';
import { type WaitingDays, waitingDays } from '../release.sql.ts';
import { DOES_NOT_FIT } from '../release-conditions.sql.ts';

/** `overdue`: not answered or failed, a number of days after the release. */
const LINE_STATES = ['all', ...ANSWERS, 'overdue'] as const;

export const LINE_FILTER = {
  state: asTabs(
    choice('bookings.state', LINE_STATES, 'all', (state) => `bookings.states.${state}`),
  ),
  /** Accepted dates, both inclusive. */
  from: dateField('bookings.from'),
  to: dateField('bookings.to'),
  kind: anyOf('bookings.kind', LINE_KINDS, (kind) => `bookings.kinds.${kind}`),
  /** A line: all versions of its booking. */
  line: idField('bookings.version'),
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

const IS_OVERDUE = Prisma.sql`(line.state IN ('released', 'failed')
  AND batch.released_at < clock_timestamp() - make_interval(days => ${BOOKING_OVERDUE_DAYS}::int))`;

/** All conditions but the state. */
const inRange = ({ from, to, kind, line }: LineFilter) => Prisma.sql`
  (${from}::date IS NULL OR line.date >= ${from}::date) AND (${to}::date IS NULL OR line.date <= ${to}::date)
  AND (${kind}::text IS NULL OR line.kind = ${kind}::text)
  AND (${line}::bigint = 0 OR (line.date, line.identity_hash, line.occurrence)
    = (SELECT date, identity_hash, occurrence FROM conciliation.booking_line WHERE id = ${line}::bigint))`;

const isInState = ({ state }: Pick<LineFilter, 'state'>) =>
  state === 'overdue' ? IS_OVERDUE : Prisma.sql`(${state} = 'all' OR line.state = ${state}::text)`;

/** Counts the lines by state. Values add up among lines of one kind only. */
export async function countLines(db: Transaction, filter: LineFilter): Promise<ListTotal> {
  const counts = LINE_STATES.flatMap((state) => [
    Prisma.sql`${state}::text`,
    Prisma.sql`count(*) FILTER (WHERE ${isInState({ state })})`,
  ]);
  const [{ value, ...total }] = await db.$queryRaw<[ListTotal & { readonly value: string }]>`
    SELECT (count(*) FILTER (WHERE ${isInState(filter)}))::int AS rows,
           coalesce(sum(line.original_value) FILTER (WHERE ${isInState(filter)}), 0)::text AS value,
           jsonb_build_object(${Prisma.join(counts)}) AS counts
    FROM ${FROM} WHERE ${inRange(filter)}`;
  return { ...total, ...(filter.kind !== null && { sums: { original_value: value } }) };
}

/** @param rest of the statement, from WHERE on */
const readListed = (db: Transaction, rest: Prisma.Sql) => db.$queryRaw<ListedLine[]>`
  SELECT line.id::int AS id, ${keyOf('line')} AS key, line.date::text AS date, line.kind, line.state,
         line.state_at AS "stateAt", batch.released_at AS "releasedAt", ${IS_OVERDUE} AS "isOverdue", line.consumer,
         line.document, line.failure, line.failure_kind AS "failureKind", line.accounting_date::text AS "accountingDate",
         line.accounting_basis AS "accountingBasis", line.erp_key AS "erpKey", line.posting_value::text AS "postingValue",
         line.order_uid AS "orderUid", line.provider_external_id AS supplier,
         line.anticipated_due_date::text AS "dueDate", line.original_value::text AS "originalValue"
  FROM ${FROM} ${rest}`;

/** Returns a part of the selected lines, the newest first. */
export const readLines = (db: Transaction, filter: LineFilter, { offset, limit }: Place) =>
  readListed(
    db,
    Prisma.sql`WHERE ${inRange(filter)} AND ${isInState(filter)}
      ORDER BY line.id DESC OFFSET ${offset}::int LIMIT ${limit}::int`,
  );

/** Returns the newest line of a title; none: nothing was released for it. */
export const readLineOf = (db: Transaction, titleId: bigint) =>
  readListed(
    db,
    Prisma.sql`
      WHERE (line.date, line.identity_hash, line.title_id)
          = (SELECT accepted_date, identity_hash, id FROM conciliation.title WHERE id = ${titleId})
      ORDER BY line.id DESC LIMIT 1`,
  );

/** A receipt that does not fit. */
export interface ListedReceipt {
  readonly id: number;
  readonly key: string;
  readonly date: CivilDate;
  readonly consumer: string;
  /** refused: failed, and the line is not offered again. */
  readonly state: 'posted' | 'failed' | 'refused';
  readonly document: string | null;
  readonly reason: string | null;
  readonly receivedAt: Date;
  readonly outcome: 'unknown_key' | 'other_content' | 'other_document' | 'after_refusal';
}

/** Returns the newest receipts that wait for an answer. */
export const readKeptReceipts = (db: Transaction, limit: number) => db.$queryRaw<ListedReceipt[]>`
  SELECT receipt.id::int AS id, ${keyOf('receipt')} AS key, receipt.date::text AS date, receipt.consumer,
         CASE WHEN receipt.is_final THEN 'refused' ELSE receipt.status END AS state, receipt.document, receipt.reason,
         receipt.received_at AS "receivedAt", receipt.outcome
  FROM conciliation.booking_receipt AS receipt
  WHERE ${DOES_NOT_FIT} ORDER BY receipt.id DESC LIMIT ${limit}::int`;

/** What the seals of a day released, and what its present seal still has to release. */
export interface DayBookings {
  readonly lines: number;
  readonly posted: number;
  /** Failed or refused. */
  readonly failed: number;
  /** Whether the present seal still has to release something. */
  readonly isWaiting: boolean;
  /** Titles that had to wait at the newest release of the present seal. */
  readonly waiting: number;
  /** Before the first date with bookings. */
  readonly isBefore: boolean;
  readonly fault: WaitingDays['fault'];
}

export async function readDayBookings(
  { prisma }: Database,
  dates: readonly CivilDate[],
  rules: ObstacleRules,
): Promise<ReadonlyMap<CivilDate, DayBookings>> {
  const rows = await prisma.$queryRaw<(DayBookings & { readonly date: CivilDate })[]>`
    SELECT wanted.date::text AS date, line.*, waiting.date IS NOT NULL AS "isWaiting", fault,
           coalesce(waiting.titles, 0) AS waiting,
           wanted.date < (SELECT bookings_from FROM conciliation.booking_start) IS TRUE AS "isBefore"
    FROM unnest(${dates}::text[]::date[]) AS wanted (date)
    LEFT JOIN (${waitingDays(rules)}) AS waiting ON waiting.date = wanted.date
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS lines, (count(*) FILTER (WHERE state IN ('posted', 'superseded')))::int AS posted,
             (count(*) FILTER (WHERE state IN ('failed', 'refused')))::int AS failed
      FROM conciliation.booking_line AS line WHERE line.date = wanted.date
    ) AS line`;
  return new Map(rows.map((row) => [row.date, row]));
}
