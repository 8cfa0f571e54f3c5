import { type Static, Type } from 'typebox';
import type { Database, QueryClient } from '../../base/database/database.ts';
import { withSnapshot } from '../../base/export/snapshot.sql.ts';
import { refusal } from '../../base/texts/texts.ts';
import { addDays, type CivilDate, daysBetween } from '../../base/values/business-day.ts';
import {
  amount,
  bankAccount,
  count,
  date,
  orNull,
  textOrNull,
} from '../../console/api/schema-parts.ts';
import type { Place } from '../../console/list/list.tsx';
import type { PartyKind } from '../../core/title/promoted-fields.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { businessDayOf } from '../calendar/business-days.sql.ts';
import { firstDateOf, lastDateOf, monthOf } from '../review/months/month-seal.sql.ts';
import {
  CHANGED_PAYEE_HASH,
  IS_UNNAMED,
  isPayee,
  PAYEE,
  type PayeeRow,
  payeeHashOf,
  payeeOf,
} from './payee.sql.ts';

export interface DueRange {
  readonly from: CivilDate;
  readonly to: CivilDate;
}

const ScheduleTotals = Type.Object({
  titles: count,
  originalValue: amount,
  waitingTitles: Type.Integer({
    description:
      'Titles of days in the state held or attention, whose newest response waits for a person.',
  }),
  waitingValue: amount,
});
export type ScheduleTotals = Readonly<Static<typeof ScheduleTotals>>;

/** The party to be paid and its account. Personal data. */
const Payee = Type.Object({
  /** Null: the titles state neither a party nor an account. */
  kind: Type.Unsafe<PartyKind | null>({
    type: ['string', 'null'],
    enum: ['financial_agent', 'provider', null],
  }),
  name: textOrNull,
  /** The ERP's number of a provider. */
  externalId: textOrNull,
  /** Tax identifier. */
  identification: orNull('string', { description: 'Masked, as the account is.' }),
  account: bankAccount,
  /** Whether the account changed and no person has confirmed the change. */
  isChanged: Type.Boolean(),
});
export type Payee = Readonly<Static<typeof Payee>>;

export const ScheduleGroup = Type.Object({
  ...ScheduleTotals.properties,
  payee: Payee,
  /** The number identifies the payee in an address. */
  titleId: Type.Integer({ description: 'One of the titles of the group.' }),
});
export type ScheduleGroup = Readonly<Static<typeof ScheduleGroup>>;

/** The figures of a range of due dates, over the titles of all accepted dates. */
const ScheduleFigures = Type.Object({
  overall: ScheduleTotals,
  paid: Type.Object(
    { titles: count, originalValue: amount },
    { description: 'Of the titles, whenever due, whose business day is in the range.' },
  ),
  changed: Type.Object(
    { groups: count, titles: count, originalValue: amount },
    { description: 'On accounts that changed, where no person has confirmed the change.' },
  ),
  /** In date order, without the dates that have no title. Payments due on a date are made on its business day. */
  dates: Type.Array(Type.Object({ date, businessDay: date, ...ScheduleTotals.properties })),
  groupCount: count,
  undated: Type.Object(
    { titles: count, originalValue: amount },
    { description: 'Current titles without a due date. They are in no other figure.' },
  ),
});
export type ScheduleFigures = Readonly<Static<typeof ScheduleFigures>>;

export const Schedule = Type.Object({
  ...ScheduleFigures.properties,
  groups: Type.Array(ScheduleGroup, {
    description: 'By party to be paid and account, the largest original value first.',
  }),
});
export type Schedule = Readonly<Static<typeof Schedule>>;

const TOTALS = Prisma.sql`
  sum(titles) AS titles, min(title_id) AS title_id, sum(original_value) AS original_value,
  coalesce(sum(titles) FILTER (WHERE is_waiting), 0) AS waiting_titles,
  coalesce(sum(original_value) FILTER (WHERE is_waiting), 0) AS waiting_value`;
/** A row `total` with the columns of `TOTALS`, as `ScheduleTotals`. */
const TOTALS_JSON = Prisma.sql`
  'titles', coalesce(total.titles, 0), 'originalValue', coalesce(total.original_value, 0)::text,
  'waitingTitles', total.waiting_titles, 'waitingValue', total.waiting_value::text`;

/** Rows of `schedule_total`, with `is_waiting` for the titles of days that wait for a person. */
const linesOf = (isSelected: (column: Prisma.Sql) => Prisma.Sql) => Prisma.sql`
  SELECT total.*, accepted_date = ANY(ARRAY(
           SELECT date FROM conciliation.day WHERE state IN ('held', 'attention'))) AS is_waiting
  FROM conciliation.schedule_total AS total WHERE ${isSelected(Prisma.sql`due_date`)}`;

const within =
  ({ from, to }: DueRange) =>
  (column: Prisma.Sql) =>
    Prisma.sql`(${column} BETWEEN ${from}::date AND ${to}::date)`;

const CHANGED = Prisma.sql`
  changed AS MATERIALIZED (
    SELECT DISTINCT ${CHANGED_PAYEE_HASH} AS payee FROM conciliation.account_change AS change
    WHERE state IN ('open', 'refused')
  )`;

/** The columns of `title` that describe the payee of a row `title`, given its `party`. */
const PAYEE_JSON = Prisma.sql`
  jsonb_build_object(
    'kind', CASE WHEN NOT ${IS_UNNAMED} THEN party.kind END,
    'name', CASE party.kind WHEN 'provider' THEN (
              SELECT name FROM conciliation.provider WHERE external_id = title.provider_external_id)
            ELSE title.financial_agent_name END,
    'externalId', CASE party.kind WHEN 'provider' THEN title.provider_external_id END,
    'identification', CASE party.kind WHEN 'provider' THEN title.provider_identification
                      ELSE title.financial_agent_identification END,
    'account', jsonb_build_object('bank', party.bank, 'agency', party.agency,
      'agencyDigit', party.agency_digit, 'account', party.account,
      'accountDigit', party.account_digit, 'destination', party.destination))`;

/** The planner's choices for a read of many narrow rows. */
const PLANNER = Prisma.sql`SELECT set_config('work_mem', '32MB', true)`;

const figuresOf = (range: DueRange) => Prisma.sql`
  WITH ${CHANGED}, total AS MATERIALIZED (
    SELECT due_date, payee, grouping(due_date, payee) AS level, ${TOTALS}
    FROM (${linesOf(within(range))}) AS line GROUP BY GROUPING SETS ((due_date), (payee), ())
  )
  SELECT
    (SELECT jsonb_build_object(${TOTALS_JSON}) FROM total WHERE level = 3) AS overall,
    (SELECT jsonb_build_object('titles', coalesce(sum(titles), 0),
                               'originalValue', coalesce(sum(original_value), 0)::text)
     FROM (
       SELECT titles, original_value FROM total
       WHERE level = 1 AND ${within(range)(businessDayOf(Prisma.sql`due_date`))}
       UNION ALL
       SELECT titles, original_value FROM conciliation.schedule_total
       WHERE due_date = ANY(ARRAY(
         SELECT date FROM conciliation.closed_day
         WHERE ${within(range)(Prisma.sql`business_day`)} AND NOT ${within(range)(Prisma.sql`date`)}))
     ) AS line) AS paid,
    (SELECT jsonb_build_object('groups', count(*), 'titles', coalesce(sum(titles), 0),
                               'originalValue', coalesce(sum(original_value), 0)::text)
     FROM total WHERE payee IN (SELECT payee FROM changed)) AS changed,
    (SELECT coalesce(jsonb_agg(jsonb_build_object('date', due_date, 'businessDay', ${businessDayOf(Prisma.sql`due_date`)},
                                                  ${TOTALS_JSON}) ORDER BY due_date), '[]')
     FROM total WHERE level = 1) AS dates,
    (SELECT count(*)::float8 FROM total WHERE level = 2) AS "groupCount",
    (SELECT jsonb_build_object('titles', coalesce(sum(titles), 0),
                               'originalValue', coalesce(sum(original_value), 0)::text)
     FROM (${linesOf((column) => Prisma.sql`${column} IS NULL`)}) AS line) AS undated`;

/** Returns the due date of the first payment from a date on; that date, if nothing is to be paid. */
export async function readNextPayment({ prisma }: Database, today: CivilDate): Promise<CivilDate> {
  const [{ date }] = await prisma.$queryRaw<[{ date: CivilDate }]>`
    SELECT greatest(min(due_date), ${today}::date)::text AS date FROM conciliation.schedule_total
    WHERE due_date >= ${today}::date OR due_date = ANY(ARRAY(
      SELECT date FROM conciliation.closed_day WHERE business_day >= ${today}::date AND date < ${today}::date))`;
  return date;
}

/** A row for each payee, or for each due date and payee, the largest original value first. */
const listOf = (range: DueRange, hasDates: boolean, page: Prisma.Sql) => {
  const by = hasDates ? Prisma.sql`due_date,` : Prisma.empty;
  return Prisma.sql`
    WITH ${CHANGED}, total AS (
      SELECT ${by} payee, ${TOTALS} FROM (${linesOf(within(range))}) AS line GROUP BY ${by} payee
      ORDER BY ${by} original_value DESC, payee ${page}
    )
    SELECT jsonb_build_object(
             ${hasDates ? Prisma.sql`'dueDate', due_date, 'businessDay', ${businessDayOf(Prisma.sql`due_date`)},` : Prisma.empty}
             ${TOTALS_JSON}, 'titleId', title_id,
             'payee', ${PAYEE_JSON}
               || jsonb_build_object('isChanged', total.payee IN (SELECT payee FROM changed))) AS line
    FROM total JOIN conciliation.title AS title ON title.id = title_id
    CROSS JOIN LATERAL ${PAYEE} AS party
    ORDER BY ${by} total.original_value DESC, total.payee`;
};

/** Returns the payees on the due dates of a range, over the titles of all accepted dates. */
export async function readSchedule(
  tx: QueryClient,
  range: DueRange,
  { offset, limit }: Place,
): Promise<Schedule> {
  await tx.$queryRaw`${PLANNER}`;
  const [figures] = await tx.$queryRaw<[ScheduleFigures]>`${figuresOf(range)}`;
  const page = Prisma.sql`OFFSET ${offset} LIMIT ${limit}`;
  const groups = await tx.$queryRaw<{ line: ScheduleGroup }[]>`${listOf(range, false, page)}`;
  return { ...figures, groups: groups.map(({ line }) => line) };
}

export interface GroupFilter {
  /** Null: the titles without a due date. */
  readonly range: DueRange | null;
  /** One of the titles of the payee; null: every payee. */
  readonly payeeOf: number | null;
}

const isDueIn = (range: DueRange | null) =>
  range === null ? (column: Prisma.Sql) => Prisma.sql`${column} IS NULL` : within(range);
const payeeIs = (payeeOf: number | null) =>
  payeeOf === null ? Prisma.sql`true` : Prisma.sql`payee = (${payeeHashOf(payeeOf)})`;

export async function readGroupTotals(
  tx: QueryClient,
  { range, payeeOf }: GroupFilter,
): Promise<{ readonly titles: number; readonly originalValueSum: string }> {
  const [row] = await tx.$queryRaw<[{ titles: number; originalValueSum: string }]>`
    SELECT coalesce(sum(titles), 0)::float8 AS titles,
           coalesce(sum(original_value), 0)::text AS "originalValueSum"
    FROM (${linesOf(isDueIn(range))}) AS line WHERE ${payeeIs(payeeOf)}`;
  return row;
}

/** An array of accepted dates outside of which no current title is in the group. */
export function acceptedDatesOf({ range, payeeOf }: GroupFilter): Prisma.Sql {
  return Prisma.sql`ARRAY(
    SELECT accepted_date FROM conciliation.schedule_total
    WHERE ${isDueIn(range)(Prisma.sql`due_date`)} AND ${payeeIs(payeeOf)})`;
}

/** Returns the condition for titles with the payee of a title; for an unknown title no title has it. */
export async function hasPayeeOf(tx: QueryClient, titleId: number): Promise<Prisma.Sql> {
  const [payee] = await tx.$queryRaw<[PayeeRow?]>`${payeeOf(titleId)}`;
  return payee === undefined ? Prisma.sql`false` : isPayee(payee);
}

/** Returns the payee of a title; null for an unknown title. */
export async function readPayee(database: Database, titleId: number): Promise<Payee | null> {
  const [row] = await database.prisma.$queryRaw<[{ payee: Payee }?]>`
    WITH ${CHANGED}
    SELECT ${PAYEE_JSON} || jsonb_build_object(
             'isChanged', (${payeeHashOf(titleId)}) IN (SELECT payee FROM changed)) AS payee
    FROM conciliation.title AS title CROSS JOIN LATERAL ${PAYEE} AS party
    WHERE title.id = ${titleId}`;
  return row?.payee ?? null;
}

export interface ScheduleSnapshot extends ScheduleFigures {
  readonly lineCount: number;
  /** By due date, the largest original value first. Can be read once. */
  readonly batches: AsyncIterable<
    readonly { readonly line: ScheduleGroup & { readonly dueDate: CivilDate } }[]
  >;
}

/**
 * Calls `read` with the whole schedule of a range in one snapshot. Rows come through a cursor, so memory does not
 * grow with their number.
 * @throws StagingUnavailableError when the connection to the database is lost
 * @throws ShutdownError when `signal` is aborted
 * @throws the errors of `read`
 */
export function readScheduleSnapshot<T>(
  database: Database,
  range: DueRange,
  signal: AbortSignal,
  read: (snapshot: ScheduleSnapshot) => Promise<T>,
): Promise<T> {
  const figures = figuresOf(range);
  const list = listOf(range, true, Prisma.empty);
  const count = Prisma.sql`
    SELECT count(*)::float8 AS "lineCount" FROM (
      SELECT DISTINCT due_date, payee FROM conciliation.schedule_total
      WHERE ${within(range)(Prisma.sql`due_date`)}) AS line`;
  return withSnapshot(database, signal, async (snapshot) => {
    await snapshot.query(PLANNER.text, PLANNER.values);
    const [first] = await snapshot.query<ScheduleFigures>(figures.text, figures.values);
    const [counted] = await snapshot.query<{ lineCount: number }>(count.text, count.values);
    if (first === undefined || counted === undefined) throw new Error('the totals are missing');
    return read({ ...first, ...counted, batches: snapshot.read(list.text, list.values) });
  });
}

export const DUE_VIEWS = ['month', 'day'] as const;
type DueView = (typeof DUE_VIEWS)[number];

/** The longest range of due dates of a file, in days. */
const MAX_DUE_DAYS = 366;

/** @throws InputError unless the dates are in order, within a year */
export function dueRange(from: CivilDate, to: CivilDate): DueRange {
  if (from <= to && daysBetween(from, to) < MAX_DUE_DAYS) return { from, to };
  throw refusal('due_range', { max: MAX_DUE_DAYS });
}

export function dueRangeOf(view: DueView, date: CivilDate): DueRange {
  const month = monthOf(date);
  return view === 'day'
    ? { from: date, to: date }
    : { from: firstDateOf(month), to: lastDateOf(month) };
}

/** Returns a date in the next span of the view, or in the one before. */
export const neighbour = ({ from, to }: DueRange, direction: 'next' | 'previous'): CivilDate =>
  direction === 'next' ? addDays(to, 1) : addDays(from, -1);
