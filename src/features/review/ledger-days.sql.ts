import { type Static, Type } from 'typebox';
import type { Database } from '../../base/database/database.ts';
import { amountSum } from '../../base/database/expressions.sql.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { count, date, instantOrNull, orNull, sums, words } from '../../console/api/schema-parts.ts';
import { IS_OPEN_FINDING } from '../../core/ledger/day-ledger.sql.ts';
import {
  DAY_STATES,
  type DayState,
  HOLD_REASONS,
  type HoldDetail,
  type HoldReason,
} from '../../core/ledger/states.ts';
import { AMOUNT_COLUMNS } from '../../core/title/title.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { OPEN_HOLDS } from '../accounts/payment-holds.sql.ts';
import { OPEN_BREAKS } from '../matching/break-list.sql.ts';

const Hold = Type.Object({
  reason: Type.Unsafe<HoldReason | null>({
    type: ['string', 'null'],
    enum: [...HOLD_REASONS, null],
  }),
  detail: Type.Unsafe<HoldDetail | null>(
    Type.Union(
      [
        Type.Object({ found: Type.Integer(), of: orNull('integer'), limit: Type.Integer() }),
        Type.Null(),
      ],
      { description: 'What the limit was compared with, for a hold for plausibility.' },
    ),
  ),
  titles: Type.Integer({ minimum: 0, description: 'Including rejected ones.' }),
  withdrawals: Type.Integer({ minimum: 0, description: 'Titles that a release would withdraw.' }),
  faults: Type.Array(Type.String(), {
    description:
      'For a response that cannot be read: some faults of its titles, with field names and without values.',
  }),
});
export type Hold = Readonly<Static<typeof Hold>>;

/** A day of the ledger. Sums are exact, over current titles. */
export const LedgerDay = Type.Object({
  date,
  state: words(DAY_STATES),
  titles: count,
  withdrawn: count,
  rejected: count,
  sums,
  contentDigest: orNull('string'),
  heldPullId: orNull('integer'),
  lastError: orNull('string', { description: 'Of a failed day: the error of its last attempt.' }),
  hold: Type.Union([Hold, Type.Null()], {
    description: 'The response that waits for a person, and the withdrawals of a release.',
  }),
  withheld: Type.Integer({
    minimum: 0,
    description:
      'Titles that the newest response lacks and that stay current, because a rejected title may be one of them.',
  }),
  openFindings: Type.Integer({
    minimum: 0,
    description: 'Findings of the checks that a person has to resolve.',
  }),
  verifiedAt: instantOrNull,
  changedAt: instantOrNull,
  signedOffAt: instantOrNull,
  signedOffBy: orNull('string'),
  signedOffDigest: orNull('string'),
  isRestated: Type.Boolean({ description: 'Restated after it was signed off.' }),
});
export type LedgerDay = Readonly<Static<typeof LedgerDay>>;

// The names are constants of this program. No input reaches Prisma.raw.
const SUMS = Prisma.raw(
  `jsonb_build_object(${AMOUNT_COLUMNS.map((name) => `'${name}', ${name}_sum::text`).join(', ')})`,
);

const columns = Prisma.sql`
  date::text AS date, state, title_count AS titles, withdrawn_count AS withdrawn, rejected_count AS rejected,
  ${SUMS} AS sums, content_digest AS "contentDigest", held_pull_id::float8 AS "heldPullId",
  verified_at AS "verifiedAt", changed_at AS "changedAt", signed_off_at AS "signedOffAt",
  signed_off_by AS "signedOffBy", signed_off_digest AS "signedOffDigest", restated_after_sign_off AS "isRestated",
  CASE WHEN state = 'failed' THEN (
    SELECT error_message FROM conciliation.pull WHERE pull.date = day.date AND pull.state = 'failed'
    ORDER BY id DESC LIMIT 1) END AS "lastError",
  (SELECT jsonb_build_object(
            'reason', held.hold_reason, 'detail', held.hold_detail, 'titles', held.titles, 'withdrawals', held.withdrawn,
            'faults', CASE WHEN held.hold_reason = 'unreadable' THEN array(
              SELECT DISTINCT fault
              FROM conciliation.staged_reject AS reject CROSS JOIN unnest(reject.reasons) AS fault
              WHERE reject.fence = held.fence ORDER BY fault LIMIT 5) ELSE '{}' END)
   FROM conciliation.pull AS held WHERE held.id = day.held_pull_id) AS hold,
  coalesce((SELECT merged.withheld FROM conciliation.pull AS merged WHERE merged.id = day.last_pull_id),
           0) AS withheld,
  (SELECT count(*) FROM conciliation.check_finding AS finding
   WHERE finding.accepted_date = day.date AND ${IS_OPEN_FINDING})::int AS "openFindings"`;

/** Selects days with all columns; the condition is about `conciliation.day`. */
export const selectDays = (rest: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`SELECT ${columns} FROM conciliation.day WHERE ${rest}`;

/*
 * A row of a date that has not begun is a mistake, and a page that used the greatest date would
 * show the year 9999. Therefore every reader of the ledger gets today's date and returns no later
 * row.
 */

export function readLedgerDays(
  database: Database,
  range: { readonly from: CivilDate; readonly to: CivilDate },
  today: CivilDate,
): Promise<LedgerDay[]> {
  return database.prisma.$queryRaw<LedgerDay[]>(
    selectDays(Prisma.sql`
      date BETWEEN ${range.from}::date AND least(${range.to}::date, ${today}::date) ORDER BY day.date`),
  );
}

/** Returns null when the ledger does not have the date. */
export async function readLedgerDay(
  database: Database,
  date: CivilDate,
  today: CivilDate,
): Promise<LedgerDay | null> {
  const [day] = await readLedgerDays(database, { from: date, to: date }, today);
  return day ?? null;
}

/** Why a day needs a person. A restated day that is held or in attention has two reasons. */
export const NEEDS = ['failed', 'restated', 'held', 'attention', 'sign_off'] as const;
export type Need = (typeof NEEDS)[number];

export interface NeedyDays {
  readonly need: Need;
  readonly days: number;
  /** Of `held` and `sign_off`; otherwise null, because the value that is concerned is not known. Exact decimal. */
  readonly originalValueSum: string | null;
  readonly dates: readonly CivilDate[];
}

/** Returns the days that need a person. @param isSignable a condition for a row `day` */
export function readNeeds(
  database: Database,
  today: CivilDate,
  isSignable: Prisma.Sql,
): Promise<NeedyDays[]> {
  return database.prisma.$queryRaw<NeedyDays[]>`
    SELECT need, count(*)::int AS days, (${amountSum(Prisma.sql`value`)})::text AS "originalValueSum",
           array_agg(date::text ORDER BY date) AS dates
    FROM (
      SELECT date, need, CASE WHEN need IN ('held', 'sign_off') THEN original_value_sum END AS value
      FROM conciliation.day CROSS JOIN LATERAL (VALUES
        (state), (CASE WHEN restated_after_sign_off THEN 'restated' WHEN ${isSignable} THEN 'sign_off' END)) AS reason (need)
      WHERE date <= ${today}::date AND need = ANY(${[...NEEDS]}::text[])
    ) AS needy GROUP BY need`;
}

export interface OpenCounts {
  readonly urgentBreaks: number;
  readonly urgentValue: string | null;
  readonly otherBreaks: number;
  readonly otherValue: string | null;
  readonly unmappedCompanies: number;
  readonly accountChanges: number;
  readonly heldTitles: number;
  readonly heldValue: string | null;
  readonly refusedTitles: number;
  readonly refusedValue: string | null;
  readonly equalTitles: number;
  readonly equalValue: string | null;
  readonly findings: number;
  readonly findingsValue: string | null;
}

/** What the newest run of the matching, the watch of bank accounts and the checks have left for a person. */
export async function readOpenCounts({ prisma }: Database): Promise<OpenCounts> {
  const [counts] = await prisma.$queryRaw<[OpenCounts]>`
    SELECT breaks.*, holds.*, findings.*,
           coalesce((SELECT unmapped_companies FROM conciliation.match_run ORDER BY id DESC LIMIT 1), 0)
             AS "unmappedCompanies",
           (SELECT count(*) FROM conciliation.account_change WHERE state = 'open')::int AS "accountChanges"
    FROM (
      SELECT (count(*) FILTER (WHERE severity > 1))::int AS "urgentBreaks",
             (${amountSum(Prisma.sql`value`, Prisma.sql`severity > 1`)})::text AS "urgentValue",
             (count(*) FILTER (WHERE severity < 2))::int AS "otherBreaks",
             (${amountSum(Prisma.sql`value`, Prisma.sql`severity < 2`)})::text AS "otherValue"
      FROM ${OPEN_BREAKS} AS broken
    ) AS breaks CROSS JOIN (
      SELECT (count(*) FILTER (WHERE state = 'open'))::int AS "heldTitles",
             (${amountSum(Prisma.sql`original_value`, Prisma.sql`state = 'open'`)})::text AS "heldValue",
             (count(*) FILTER (WHERE state = 'refused'))::int AS "refusedTitles",
             (${amountSum(Prisma.sql`original_value`, Prisma.sql`state = 'refused'`)})::text AS "refusedValue"
      FROM (SELECT min(state) AS state, original_value FROM (${OPEN_HOLDS}) AS hold
            GROUP BY title_id, original_value) AS held
    ) AS holds CROSS JOIN (
      SELECT (count(*) FILTER (WHERE code = 'equal_in_day'))::int AS "equalTitles",
             (${amountSum(Prisma.sql`original_value`, Prisma.sql`code = 'equal_in_day'`)})::text AS "equalValue",
             (count(*) FILTER (WHERE code <> 'equal_in_day'))::int AS findings,
             (${amountSum(Prisma.sql`original_value`, Prisma.sql`code <> 'equal_in_day'`)})::text AS "findingsValue"
      FROM conciliation.check_finding AS finding JOIN conciliation.title ON title.id = title_id
      WHERE closed_at IS NULL AND resolved_at IS NULL AND severity = 'info'
    ) AS findings`;
  return counts;
}

export async function readYesterday({ prisma }: Database, date: CivilDate): Promise<Yesterday> {
  const [day] = await prisma.$queryRaw<[Omit<Yesterday, 'date'>?]>`
    SELECT CASE WHEN state = 'held' AND content_digest IS NULL THEN 'first_held'
                WHEN state = 'reconciled' AND restated_after_sign_off THEN 'restated'
                WHEN state = 'reconciled' AND signed_off_at IS NOT NULL THEN 'signed'
                ELSE state END AS state,
           title_count AS titles, original_value_sum::text AS "originalValueSum",
           (SELECT count(DISTINCT title_id)::int FROM (${OPEN_HOLDS}) AS hold WHERE accepted_date = date) AS blocked
    FROM conciliation.day WHERE date = ${date}::date`;
  return { date, ...(day ?? { state: 'absent', titles: 0, originalValueSum: '0', blocked: 0 }) };
}

/** Returns the closed dates from the start on whose day no pull has brought, without the failed ones. */
export async function readMissingDates(
  { prisma }: Database,
  closed: CivilDate,
): Promise<CivilDate[]> {
  const rows = await prisma.$queryRaw<{ date: CivilDate }[]>`
    SELECT wanted.date::date::text AS date
    FROM conciliation.checkpoint
    CROSS JOIN generate_series(start_date::timestamp, ${closed}::timestamp, interval '1 day') AS wanted (date)
    LEFT JOIN conciliation.day ON day.date = wanted.date::date
    WHERE coalesce(day.state, 'pending') = 'pending' ORDER BY 1`;
  return rows.map(({ date }) => date);
}

/** The last date that is over. */
export interface Yesterday {
  readonly date: CivilDate;
  /** `absent`: the ledger does not have the date. `first_held`: no response was merged yet. */
  readonly state: DayState | 'absent' | 'first_held' | 'signed' | 'restated';
  readonly titles: number;
  readonly originalValueSum: string;
  /** Titles that are not to be paid because of their bank account. */
  readonly blocked: number;
}

/** Returns the first and last date of the ledger; null: it is empty. */
export async function readLedgerRange(
  database: Database,
  today: CivilDate,
): Promise<{ readonly from: CivilDate; readonly to: CivilDate } | null> {
  const [range] = await database.prisma.$queryRaw<
    [{ from: CivilDate | null; to: CivilDate | null }]
  >`SELECT min(date)::text AS "from", max(date)::text AS "to"
    FROM conciliation.day WHERE date <= ${today}::date`;
  return range.from === null || range.to === null ? null : { from: range.from, to: range.to };
}
