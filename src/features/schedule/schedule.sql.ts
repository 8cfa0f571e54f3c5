import { type Static, Type } from 'typebox';
import type { Database, QueryClient } from '../../base/database/database.ts';
import { refusal } from '../../base/texts/texts.ts';
import { type CivilDate, daysBetween } from '../../base/values/business-day.ts';
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
import { IS_UNNAMED } from '../accounts/account-watch.sql.ts';
import { businessDayOf } from '../calendar/business-days.sql.ts';
import { OPEN_BREAKS } from '../matching/break-list.sql.ts';
import {
  CHANGED_PAYEE_HASH,
  isPayee,
  PAYEE,
  PAYEE_HASH,
  type PayeeRow,
  payeeHashOf,
  payeeOf,
} from './payee.sql.ts';

export interface DueRange {
  readonly from: CivilDate;
  readonly to: CivilDate;
}

/** The longest range of due dates, in days. */
const MAX_DUE_DAYS = 366;

/** @throws InputError unless the dates are in order, within a year */
export function dueRange(from: CivilDate, to: CivilDate): DueRange {
  if (from <= to && daysBetween(from, to) < MAX_DUE_DAYS) return { from, to };
  throw refusal('due_range', { max: MAX_DUE_DAYS });
}

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
  isChanged: Type.Boolean({
    description: 'Whether the account changed and no person has confirmed the change.',
  }),
});
export type Payee = Readonly<Static<typeof Payee>>;

/** What is due on one date, to one party, on one account. */
export const DueLine = Type.Object({
  dueDate: date,
  businessDay: Type.Unsafe<CivilDate>({
    ...date,
    description: 'Payments that are due on the date are made on it.',
  }),
  titles: count,
  originalValue: amount,
  waitingTitles: Type.Integer({
    description:
      'Titles of days in the state held or attention, whose newest response waits for a person.',
  }),
  waitingValue: amount,
  urgentTitles: Type.Integer({
    description:
      'Titles in an urgent open break with the payables: they may be paid twice or to the wrong party.',
  }),
  urgentValue: amount,
  payee: Payee,
  /** The number identifies the payee in an address. */
  titleId: Type.Integer({ description: 'One of the titles of the line.' }),
});
export type DueLine = Readonly<Static<typeof DueLine>>;

/** The totals of a due date. */
export type DueDate = Omit<DueLine, 'payee' | 'titleId'>;

interface Figure {
  readonly titles: number;
  readonly originalValue: string;
}

/** The figures of a range of due dates, over the titles of all accepted dates. */
export interface Schedule {
  readonly figures: {
    readonly value: Figure;
    /** Of the titles, whenever due, whose business day is in the range, without those in an urgent break. */
    readonly paid: Figure;
    /** On accounts that changed, where no person has confirmed the change. */
    readonly onChanged: Figure;
    readonly waiting: Figure;
    readonly urgent: Figure;
    /** Current titles without a due date. They are in no other figure. */
    readonly undated: Figure;
  };
  /** In date order, without the dates that have no title. */
  readonly dates: readonly DueDate[];
  readonly lineCount: number;
  /** By due date, the largest original value first. */
  readonly lines: DueLine[];
}

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

/** A `Figure` of rows (titles, value). */
const figureOf = (rows: Prisma.Sql) => Prisma.sql`
  (SELECT jsonb_build_object('titles', coalesce(sum(titles), 0), 'originalValue', coalesce(sum(value), 0)::text)
   FROM ${rows} AS counted)`;

/** Of a row `total` of a line or a date. */
const TOTALS_JSON = Prisma.sql`
  'dueDate', total.due_date, 'businessDay', total.business_day, 'titles', total.titles,
  'originalValue', total.value::text, 'waitingTitles', total.waiting_titles, 'waitingValue', total.waiting_value::text,
  'urgentTitles', total.urgent_titles, 'urgentValue', total.urgent_value::text`;

/** Returns the figures of a range, and a part of its lines, as of one instant. */
export async function readSchedule(
  tx: QueryClient,
  range: DueRange,
  { offset, limit }: Place,
): Promise<Schedule> {
  const isWithin = within(range);
  // The planner's choice for a read of many narrow rows.
  await tx.$queryRaw`SELECT set_config('work_mem', '32MB', true)`;
  const [schedule] = await tx.$queryRaw<[Schedule]>`
    WITH ${CHANGED}, waiting AS MATERIALIZED (
      SELECT date FROM conciliation.day WHERE state IN ('held', 'attention')
    ), urgent AS MATERIALIZED (
      SELECT anticipated_due_date AS due_date, ${PAYEE_HASH} AS payee, count(*) AS urgent_titles,
             sum(original_value) AS urgent_value
      FROM conciliation.title CROSS JOIN LATERAL ${PAYEE} AS party
      WHERE status = 'current'
        AND id = ANY(ARRAY(SELECT title_id FROM ${OPEN_BREAKS} AS broken WHERE severity > 1))
      GROUP BY 1, 2
    ), grouped AS MATERIALIZED (
      SELECT due_date, payee, sum(titles) AS titles, min(title_id) AS title_id, sum(original_value) AS value,
             coalesce(sum(titles) FILTER (WHERE is_waiting), 0) AS waiting_titles,
             coalesce(sum(original_value) FILTER (WHERE is_waiting), 0) AS waiting_value
      FROM (SELECT *, accepted_date = ANY(ARRAY(SELECT date FROM waiting)) AS is_waiting
            FROM conciliation.schedule_total WHERE ${isWithin(Prisma.sql`due_date`)}) AS total
      GROUP BY due_date, payee
    ), summed AS MATERIALIZED (
      SELECT grouped.*, coalesce(urgent_titles, 0) AS urgent_titles, coalesce(urgent_value, 0) AS urgent_value
      FROM grouped LEFT JOIN urgent USING (due_date, payee)
    ), dated AS MATERIALIZED (
      SELECT due_date, ${businessDayOf(Prisma.sql`due_date`)} AS business_day, sum(titles) AS titles, sum(value) AS value,
             sum(waiting_titles) AS waiting_titles, sum(waiting_value) AS waiting_value,
             sum(urgent_titles) AS urgent_titles, sum(urgent_value) AS urgent_value
      FROM summed GROUP BY due_date
    ), line AS (
      SELECT summed.*, business_day FROM summed JOIN dated USING (due_date)
      ORDER BY due_date, summed.value DESC, payee OFFSET ${offset}::int LIMIT ${limit}::int
    )
    SELECT jsonb_build_object(
        'value', ${figureOf(Prisma.sql`dated`)},
        'paid', ${figureOf(Prisma.sql`(
          SELECT titles, value FROM dated WHERE ${isWithin(Prisma.sql`business_day`)}
          UNION ALL
          SELECT titles, original_value FROM conciliation.schedule_total WHERE due_date = ANY(ARRAY(
            SELECT date FROM conciliation.closed_day
            WHERE ${isWithin(Prisma.sql`business_day`)} AND NOT ${isWithin(Prisma.sql`date`)}))
          UNION ALL
          SELECT -urgent_titles, -urgent_value FROM urgent WHERE ${isWithin(businessDayOf(Prisma.sql`due_date`))})`)},
        'onChanged', ${figureOf(Prisma.sql`(SELECT * FROM summed WHERE payee IN (SELECT payee FROM changed))`)},
        'waiting', ${figureOf(Prisma.sql`(SELECT waiting_titles AS titles, waiting_value AS value FROM dated)`)},
        'urgent', ${figureOf(Prisma.sql`(SELECT urgent_titles AS titles, urgent_value AS value FROM dated)`)},
        'undated', ${figureOf(Prisma.sql`(
          SELECT titles, original_value AS value FROM conciliation.schedule_total WHERE due_date IS NULL)`)}) AS figures,
      (SELECT coalesce(jsonb_agg(jsonb_build_object(${TOTALS_JSON}) ORDER BY due_date), '[]')
       FROM dated AS total) AS dates,
      (SELECT count(*)::float8 FROM summed) AS "lineCount",
      (SELECT coalesce(jsonb_agg(
          jsonb_build_object(${TOTALS_JSON}, 'titleId', title_id, 'payee', ${PAYEE_JSON}
            || jsonb_build_object('isChanged', total.payee IN (SELECT payee FROM changed)))
          ORDER BY total.due_date, total.value DESC, total.payee), '[]')
       FROM line AS total JOIN conciliation.title AS title ON title.id = title_id
       CROSS JOIN LATERAL ${PAYEE} AS party) AS lines`;
  return schedule;
}

/** Returns the due date of the first payment from a date on; that date, if nothing is to be paid. */
export async function readNextPayment({ prisma }: Database, today: CivilDate): Promise<CivilDate> {
  const [{ date }] = await prisma.$queryRaw<[{ date: CivilDate }]>`
    SELECT greatest(min(due_date), ${today}::date)::text AS date FROM conciliation.schedule_total
    WHERE due_date >= ${today}::date OR due_date = ANY(ARRAY(
      SELECT date FROM conciliation.closed_day WHERE business_day >= ${today}::date AND date < ${today}::date))`;
  return date;
}

export interface GroupFilter {
  /** Null: the titles without a due date. */
  readonly range: DueRange | null;
  /** One of the titles of the payee; null: every payee. */
  readonly payeeOf: number | null;
}

const isIn = ({ range, payeeOf }: GroupFilter) => Prisma.sql`
  ${range === null ? Prisma.sql`due_date IS NULL` : within(range)(Prisma.sql`due_date`)}
  AND ${payeeOf === null ? Prisma.sql`true` : Prisma.sql`payee = (${payeeHashOf(payeeOf)})`}`;

export async function readGroupTotals(
  tx: QueryClient,
  group: GroupFilter,
): Promise<{ readonly titles: number; readonly originalValueSum: string }> {
  const [row] = await tx.$queryRaw<[{ titles: number; originalValueSum: string }]>`
    SELECT coalesce(sum(titles), 0)::float8 AS titles,
           coalesce(sum(original_value), 0)::text AS "originalValueSum"
    FROM conciliation.schedule_total WHERE ${isIn(group)}`;
  return row;
}

/** An array of accepted dates outside of which no current title is in the group. */
export const acceptedDatesOf = (group: GroupFilter): Prisma.Sql => Prisma.sql`
  ARRAY(SELECT accepted_date FROM conciliation.schedule_total WHERE ${isIn(group)})`;

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
