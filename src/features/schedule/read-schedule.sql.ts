import type { Database } from '../../base/database/database.ts';
import { withSnapshot } from '../../base/export/snapshot.sql.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { BankAccount } from '../../core/title/destination.ts';
import { AMOUNT_COLUMNS, type AmountColumn } from '../../core/title/title.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import {
  CHANGED_PAYEE_HASH,
  IS_UNNAMED,
  isPayee,
  PAYEE,
  type PayeeRow,
  payeeHashOf,
  payeeOf,
} from './payee.sql.ts';

/** Due dates, both inclusive. */
export interface DueRange {
  readonly from: CivilDate;
  readonly to: CivilDate;
}

/** Number and sums of current titles. Sums are exact decimals; an amount that was not asked for is null. */
export interface ScheduleTotals {
  readonly titles: number;
  readonly sums: Readonly<Record<AmountColumn, string | null>>;
  /** Titles of days in the state `held` or `attention`, whose newest response waits for a person. */
  readonly waitingTitles: number;
  readonly waitingValue: string;
}

/** Titles with a bank account that changed, where no person has confirmed the change. */
interface ChangedTotals {
  readonly groups: number;
  readonly titles: number;
  readonly originalValue: string;
}

/** The party to be paid and its account. Personal data. */
export interface Payee {
  /** Null: the titles state neither a party nor an account. */
  readonly kind: 'financial_agent' | 'provider' | null;
  readonly name: string | null;
  /** The ERP's number of a provider. */
  readonly externalId: string | null;
  /** Tax identifier. */
  readonly identification: string | null;
  readonly account: BankAccount;
  /** Whether the account changed and no person has confirmed the change. */
  readonly isChanged: boolean;
  /** One of the titles of the payee. Its number identifies the payee in an address. */
  readonly titleId: number;
}

export interface ScheduleGroup extends ScheduleTotals {
  readonly payee: Payee;
}

/** A due date with current titles. */
interface DueDate extends ScheduleTotals {
  readonly date: CivilDate;
}

export interface Schedule {
  readonly overall: ScheduleTotals;
  readonly changed: ChangedTotals;
  /** In date order, without the dates that have no title. */
  readonly dates: readonly DueDate[];
  /** Number of groups of the range, of which `groups` is a part. */
  readonly groupCount: number;
  /** The largest original value first. */
  readonly groups: readonly ScheduleGroup[];
  /** Current titles without a due date, which belong to no range. */
  readonly undated: { readonly titles: number; readonly originalValue: string };
}

export interface ScheduleRequest {
  readonly range: DueRange;
  /** The sums to be computed, besides that of the original value. */
  readonly hasAllAmounts: boolean;
  readonly offset: number;
  readonly limit: number;
}

// Column names of domain/ and of this file. No input reaches Prisma.raw.

const waiting = (column: string) => `FILTER (WHERE is_waiting) AS ${column}`;
const totals = (amounts: readonly AmountColumn[]) =>
  Prisma.raw(
    [
      'sum(titles) AS titles',
      'min(title_id) AS title_id',
      ...amounts.map((column) => `sum(${column}) AS ${column}`),
      `sum(titles) ${waiting('waiting_titles')}`,
      `sum(original_value) ${waiting('waiting_value')}`,
    ].join(', '),
  );
const totalsJson = (row: string, amounts: readonly AmountColumn[]) => {
  const sum = (column: AmountColumn) =>
    amounts.includes(column) ? `${row}.${column}::text` : 'NULL';
  return Prisma.raw(
    `'titles', ${row}.titles, 'waitingTitles', coalesce(${row}.waiting_titles, 0),
     'waitingValue', coalesce(${row}.waiting_value, 0)::text,
     'sums', jsonb_build_object(${AMOUNT_COLUMNS.map((column) => `'${column}', ${sum(column)}`).join(', ')})`,
  );
};

/** Rows of `schedule_total`, with `is_waiting` for the titles of days that wait for a person. */
const linesOf = (isSelected: (column: Prisma.Sql) => Prisma.Sql) => Prisma.sql`
  SELECT total.*, accepted_date = ANY(ARRAY(
           SELECT date FROM conciliation.day WHERE state IN ('held', 'attention'))) AS is_waiting
  FROM conciliation.schedule_total AS total WHERE ${isSelected(Prisma.sql`due_date`)}`;

const within =
  ({ from, to }: DueRange) =>
  (column: Prisma.Sql) =>
    Prisma.sql`${column} BETWEEN ${from}::date AND ${to}::date`;

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

/** The planner's choices for a read of many narrow rows. Compiling the statement would take longer than its run. */
const PLANNER = Prisma.sql`SELECT set_config('jit', 'off', true), set_config('work_mem', '32MB', true)`;

/**
 * Returns the payees on the due dates of a range, over the titles of all accepted dates. All values are
 * those of one instant.
 */
export async function readSchedule(
  database: Database,
  request: ScheduleRequest,
): Promise<Schedule> {
  const { range, hasAllAmounts, offset, limit } = request;
  const amounts: readonly AmountColumn[] = hasAllAmounts ? AMOUNT_COLUMNS : ['original_value'];
  const [, [row]] = await database.prisma.$transaction([
    database.prisma.$queryRaw`${PLANNER}`,
    database.prisma.$queryRaw<[Schedule]>`
      WITH ${CHANGED}, total AS MATERIALIZED (
        SELECT due_date, payee, ${totals(amounts)}
        FROM (${linesOf(within(range))}) AS line
        GROUP BY GROUPING SETS ((due_date), (payee))
      ), overall AS (
        SELECT ${Prisma.raw(
          [...amounts, 'titles', 'waiting_titles', 'waiting_value']
            .map((column) => `coalesce(sum(${column}), 0) AS ${column}`)
            .join(', '),
        )}
        FROM total WHERE payee IS NULL
      ), place AS (
        SELECT * FROM total WHERE payee IS NOT NULL
        ORDER BY original_value DESC, payee OFFSET ${offset} LIMIT ${limit}
      )
      SELECT
        (SELECT jsonb_build_object(${totalsJson('overall', amounts)}) FROM overall) AS overall,
        (SELECT jsonb_build_object('groups', count(*), 'titles', coalesce(sum(titles), 0),
                                   'originalValue', coalesce(sum(original_value), 0)::text)
         FROM total WHERE payee IN (SELECT payee FROM changed)) AS changed,
        (SELECT coalesce(jsonb_agg(jsonb_build_object('date', due_date, ${totalsJson('total', amounts)})
                                   ORDER BY due_date), '[]')
         FROM total WHERE payee IS NULL) AS dates,
        (SELECT count(*)::float8 FROM total WHERE payee IS NOT NULL) AS "groupCount",
        (SELECT coalesce(jsonb_agg(
                  jsonb_build_object(${totalsJson('place', amounts)}, 'payee', ${PAYEE_JSON}
                    || jsonb_build_object('titleId', title_id, 'isChanged',
                                          place.payee IN (SELECT payee FROM changed)))
                  ORDER BY place.original_value DESC, place.payee), '[]')
         FROM place JOIN conciliation.title AS title ON title.id = title_id
         CROSS JOIN LATERAL ${PAYEE} AS party) AS groups,
        (SELECT jsonb_build_object('titles', coalesce(sum(titles), 0),
                                   'originalValue', coalesce(sum(original_value), 0)::text)
         FROM (${linesOf((column) => Prisma.sql`${column} IS NULL`)}) AS line) AS undated`,
  ]);
  return row;
}

/** Selects the titles of a group of the schedule. */
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

/** Returns the number and the sum of the current titles of a group. */
export async function readGroupTotals(
  database: Database,
  { range, payeeOf }: GroupFilter,
): Promise<{ readonly titles: number; readonly originalValueSum: string }> {
  const [, [row]] = await database.prisma.$transaction([
    database.prisma.$queryRaw`${PLANNER}`,
    database.prisma.$queryRaw<[{ titles: number; originalValueSum: string }]>`
      SELECT coalesce(sum(titles), 0)::float8 AS titles,
             coalesce(sum(original_value), 0)::text AS "originalValueSum"
      FROM (${linesOf(isDueIn(range))}) AS line WHERE ${payeeIs(payeeOf)}`,
  ]);
  return row;
}

/** An array of accepted dates outside of which no current title is in the group. */
export function acceptedDatesOf({ range, payeeOf }: GroupFilter): Prisma.Sql {
  return Prisma.sql`ARRAY(
    SELECT accepted_date FROM conciliation.schedule_total
    WHERE ${isDueIn(range)(Prisma.sql`due_date`)} AND ${payeeIs(payeeOf)})`;
}

/** Returns the condition for titles with the payee of a title; for an unknown title no title has it. */
export async function hasPayeeOf(database: Database, titleId: number): Promise<Prisma.Sql> {
  const [payee] = await database.prisma.$queryRaw<[PayeeRow?]>`${payeeOf(titleId)}`;
  return payee === undefined ? Prisma.sql`false` : isPayee(payee);
}

/** Returns the payee of a title; null for an unknown title. */
export async function readPayee(database: Database, titleId: number): Promise<Payee | null> {
  const [row] = await database.prisma.$queryRaw<[{ payee: Payee }?]>`
    WITH ${CHANGED}
    SELECT ${PAYEE_JSON} || jsonb_build_object(
             'titleId', title.id,
             'isChanged', (${payeeHashOf(titleId)}) IN (SELECT payee FROM changed)) AS payee
    FROM conciliation.title AS title CROSS JOIN LATERAL ${PAYEE} AS party
    WHERE title.id = ${titleId}`;
  return row?.payee ?? null;
}

/** A payee and a due date. */
interface ScheduleLine extends ScheduleGroup {
  readonly dueDate: CivilDate;
}

export interface ScheduleSnapshot {
  readonly overall: ScheduleTotals;
  /** Number of lines. */
  readonly lineCount: number;
  /** In date order, without the dates that have no title. */
  readonly dates: readonly DueDate[];
  /** By due date, the largest original value first. Can be read once. */
  readonly lines: AsyncIterable<readonly ScheduleLine[]>;
}

/**
 * Calls `read` with the whole schedule of a range in one snapshot, all amounts included. Rows come through a
 * cursor, so memory does not grow with their number.
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
  const dates = Prisma.sql`
    WITH total AS (
      SELECT due_date, count(DISTINCT payee) AS payees, ${totals(AMOUNT_COLUMNS)}
      FROM (${linesOf(within(range))}) AS line GROUP BY GROUPING SETS ((due_date), ())
    ), stated AS (
      SELECT due_date, payees, coalesce(titles, 0) AS titles, waiting_titles, waiting_value, ${Prisma.raw(
        AMOUNT_COLUMNS.map((column) => `coalesce(${column}, 0) AS ${column}`).join(', '),
      )} FROM total
    )
    SELECT payees::int AS payees,
           jsonb_build_object('date', due_date, ${totalsJson('stated', AMOUNT_COLUMNS)}) AS totals
    FROM stated ORDER BY due_date NULLS FIRST`;
  const lines = Prisma.sql`
    WITH ${CHANGED}, total AS (
      SELECT due_date, payee, ${totals(AMOUNT_COLUMNS)}
      FROM (${linesOf(within(range))}) AS line GROUP BY due_date, payee
    )
    SELECT jsonb_build_object(
             'dueDate', due_date, ${totalsJson('total', AMOUNT_COLUMNS)}, 'payee', ${PAYEE_JSON}
               || jsonb_build_object('titleId', title_id, 'isChanged',
                                     total.payee IN (SELECT payee FROM changed))) AS line
    FROM total JOIN conciliation.title AS title ON title.id = title_id
    CROSS JOIN LATERAL ${PAYEE} AS party
    ORDER BY due_date, total.original_value DESC, total.payee`;
  return withSnapshot(database, signal, async (snapshot) => {
    await snapshot.query(PLANNER.text, PLANNER.values);
    const [overall, ...rest] = await snapshot.query<{ payees: number; totals: DueDate }>(
      dates.text,
      dates.values,
    );
    if (overall === undefined) throw new Error('the totals are missing');
    const batches = snapshot.read<{ line: ScheduleLine }>(lines.text, lines.values);
    return read({
      overall: overall.totals,
      lineCount: rest.reduce((sum, { payees }) => sum + payees, 0),
      dates: rest.map((row) => row.totals),
      lines: mapBatches(batches),
    });
  });
}

async function* mapBatches(batches: AsyncIterable<{ line: ScheduleLine }[]>) {
  for await (const rows of batches) yield rows.map(({ line }) => line);
}
