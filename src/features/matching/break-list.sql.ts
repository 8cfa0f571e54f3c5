/** The breaks that the newest run of the matching has found: lists, counts, and what a person decides about. */
import { type Static, type TObject, Type } from 'typebox';
import type { Database, Transaction } from '../../base/database/database.ts';
import { amountSum } from '../../base/database/expressions.sql.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { MAX_KEY_CHARACTERS } from '../../base/values/field-fault.ts';
import type { AlertEntry } from '../../console/alert-entry.ts';
import {
  amount,
  date,
  dateOrNull,
  id,
  instantOrNull,
  orNull,
  text,
  textOrNull,
  words,
} from '../../console/api/schema-parts.ts';
import type { DayObstacle } from '../../console/day-obstacle.ts';
import {
  anyOf,
  asHidden,
  asTabs,
  choice,
  dateField,
  type FilterOf,
  idField,
  textField,
} from '../../console/list/filter.tsx';
import type { Place } from '../../console/list/list.tsx';
import { Prisma } from '../../generated/prisma/client.ts';
import { payablesOf, titlesOf } from './break-pairs.sql.ts';
import { LARGE_VALUE, OLD_DAYS, type RULES } from './candidates.sql.ts';
import { BREAK_KINDS, type BreakKind, PAYEE } from './judgement.sql.ts';
import { PAYABLE_STATUSES } from './payables/payable.ts';
import { columnOf } from './payables/payable-import.sql.ts';
import { areStale, COMPLETE_AT, HAS_PAYABLES } from './payables/payable-state.sql.ts';

const BreakTitle = Type.Object({
  id,
  orderUid: text,
  acceptedDate: date,
  dueDate: dateOrNull,
  value: amount,
  supplier: textOrNull,
  isWithdrawn: Type.Boolean(),
});

const BreakPayable = Type.Object({
  erpKey: text,
  company: textOrNull,
  supplier: textOrNull,
  document: textOrNull,
  instalment: textOrNull,
  orderUid: textOrNull,
  dueDate: dateOrNull,
  openValue: amount,
  status: words(PAYABLE_STATUSES),
  payee: Type.Union([words(['supplier', 'agent', 'other']), Type.Null()], {
    description:
      'Whom the ERP is going to pay. other: neither the supplier nor the financial agent. Null: not stated, which means the supplier.',
  }),
});
export type BreakPayable = Static<typeof BreakPayable>;

/** Why a person resolves a break. */
export const BREAK_CODES = ['corrected', 'booked_outside', 'agreed', 'accepted', 'other'] as const;
export type BreakCode = (typeof BREAK_CODES)[number];

/** A break, and the decision that counts while both sides are as the person saw them. All null: open. */
export const ListedBreak = Type.Object({
  kind: words(BREAK_KINDS),
  isUrgent: Type.Boolean({ description: 'Money may be paid twice, or to the wrong party.' }),
  waits: Type.Boolean({ description: 'The title is not released while the break is open.' }),
  ground: Type.String({ description: 'Names both sides as they are.' }),
  title: Type.Union([BreakTitle, Type.Null()]),
  payable: Type.Union([BreakPayable, Type.Null()]),
  difference: Type.Union([amount, Type.Null()], {
    description: 'Of value_differs: the open value of the payable less the value of the title.',
  }),
  supplierName: orNull('string', { description: 'Of the supplier in the ERP. Null: not known.' }),
  age: Type.Integer({
    minimum: 0,
    description:
      'Days since the accepted date of the title, or since the ERP first stated the payable.',
  }),
  decidedAt: instantOrNull,
  decidedBy: textOrNull,
  code: Type.Union([words(BREAK_CODES), Type.Null()]),
  reason: textOrNull,
});
export type ListedBreak = Static<typeof ListedBreak>;

const URGENCIES = ['urgent', 'other'] as const;
const BREAK_STATES = ['open', 'resolved'] as const;

export const BREAK_FILTER = {
  state: asTabs(
    choice('matching.state', BREAK_STATES, 'open', (state) => `matching.states.${state}`),
  ),
  urgency: anyOf('matching.urgency', URGENCIES, (urgency) => `matching.urgencies.${urgency}`),
  kind: anyOf('matching.kind', BREAK_KINDS, (kind) => `matching.kinds.${kind}`),
  /** The accepted date of the title. */
  date: dateField('matching.date'),
  /** The supplier's code in the ERP. */
  supplier: textField('matching.supplier', MAX_KEY_CHARACTERS),
  /** 0 and null: all. If one of the two is stated, the breaks of exactly these sides; a title 0 is none then. */
  title: idField('matching.order'),
  payable: asHidden(textField('matching.key', MAX_KEY_CHARACTERS)),
};
export type BreakFilter = FilterOf<typeof BREAK_FILTER>;

type BreakSum = {
  readonly breaks: number;
  /** Of the titles, or of the payables where a break has no title, without their signs. Exact decimal. */
  readonly value: string;
};
export type BreakCount = BreakSum & { readonly kind: BreakKind };

export interface BreakList {
  /** Over the whole filter, without its kind, as `sum`. */
  readonly counts: readonly BreakCount[];
  readonly sum: BreakSum;
  readonly total: number;
  /** Of all breaks of the filter, and their sides as they are. */
  readonly digest: string;
  /** The accepted dates of all breaks of the filter. */
  readonly dates: readonly CivilDate[];
  readonly breaks: ListedBreak[];
}

/**
 * The JSON of a row that a schema describes, from columns with the names of its members, `erp_key` for `erpKey`.
 * @param others the members of which the relation has no such column
 */
export function jsonOf<Schema extends TObject>(
  { properties }: Schema,
  relation: string,
  others: { readonly [Name in keyof Schema['properties']]?: Prisma.Sql },
): Prisma.Sql {
  const members = Object.entries(properties).map(([name, schema]) => {
    // Constants of the program. No input reaches Prisma.raw.
    const column = `${relation}.${columnOf(name)}`;
    const value = others[name] ?? Prisma.raw(schema === amount ? `${column}::text` : column);
    return Prisma.sql`${name}::text, ${value}`;
  });
  return Prisma.sql`jsonb_build_object(${Prisma.join(members)})`;
}

/** Of a row `payable`, and `title` that is its counterpart or has only nulls. */
const PAYABLE_JSON = jsonOf(BreakPayable, 'payable', {
  supplier: Prisma.sql`payable.supplier_external_id`,
  payee: PAYEE,
});

const TITLE_JSON = jsonOf(BreakTitle, 'title', {
  dueDate: Prisma.sql`title.anticipated_due_date`,
  value: Prisma.sql`title.original_value::text`,
  supplier: Prisma.sql`title.provider_external_id`,
  isWithdrawn: Prisma.sql`title.status = 'withdrawn'`,
});

/** Of a row `listed` with its `title` and its `payable`. */
const BREAK_JSON = jsonOf(ListedBreak, 'listed', {
  isUrgent: Prisma.sql`severity > 1`,
  title: Prisma.sql`CASE WHEN title.id IS NOT NULL THEN ${TITLE_JSON} END`,
  payable: Prisma.sql`CASE WHEN payable.erp_key IS NOT NULL THEN ${PAYABLE_JSON} END`,
  difference: Prisma.sql`
    CASE listed.kind WHEN 'value_differs' THEN (payable.open_value - title.original_value)::text END`,
  supplierName: Prisma.sql`
    (SELECT name FROM conciliation.provider
     WHERE external_id = coalesce(title.provider_external_id, payable.supplier_external_id))`,
});

/** The breaks of the newest run, with the decision that counts for each: null where the break is open. */
const LISTED = Prisma.sql`(
  SELECT stated.*, array_position(${[...BREAK_KINDS]}::text[], stated.kind) AS place,
         greatest(0, today - since) AS age, decided_at, decided_by, code, reason
  FROM conciliation.erp_break AS stated
  CROSS JOIN (SELECT (now() AT TIME ZONE coalesce(max(time_zone), 'America/Sao_Paulo'))::date AS today
              FROM (SELECT time_zone FROM conciliation.match_run ORDER BY id DESC LIMIT 1) AS newest) AS clock
  LEFT JOIN conciliation.break_resolution USING (ground))`;

const isIn = ({ state, urgency, date, supplier, title, payable }: BreakFilter) => Prisma.sql`
  (decided_at IS NULL) = ${state === 'open'} AND (${urgency}::text IS NULL OR (severity > 1) = (${urgency} = 'urgent'))
  AND (${date}::date IS NULL OR accepted_date = ${date}::date)
  AND (${title === 0 && payable === null}
       OR ROW(title_id, erp_key) IS NOT DISTINCT FROM ROW(nullif(${title}::bigint, 0), ${payable}::text))
  AND (${supplier}::text IS NULL OR ${supplier}::text = coalesce(
    (SELECT provider_external_id FROM conciliation.title WHERE title.id = title_id),
    (SELECT supplier_external_id FROM conciliation.erp_payable AS payable WHERE payable.erp_key = listed.erp_key)))`;

/** Of rows of breaks. */
const BREAKS_DIGEST = Prisma.sql`coalesce(md5(string_agg(place || ground::text, ',' ORDER BY place, ground)), '')`;

/** Returns the breaks of a filter, the most urgent first, then by the greatest value. */
export async function listBreaks(
  tx: Transaction,
  { offset, limit, ...filter }: BreakFilter & Place,
): Promise<BreakList> {
  const { kind } = filter;
  const [row] = await tx.$queryRaw<[BreakList]>`
    WITH filtered AS MATERIALIZED (SELECT * FROM ${LISTED} AS listed WHERE ${isIn(filter)}),
    chosen AS (SELECT * FROM filtered WHERE ${kind}::text IS NULL OR kind = ${kind}::text),
    listed AS (
      SELECT * FROM chosen
      ORDER BY severity DESC, place, value DESC, title_id, erp_key OFFSET ${offset} LIMIT ${limit}
    )
    SELECT
      (SELECT coalesce(jsonb_agg(counted), '[]') FROM (
         SELECT kind, count(*) AS breaks, sum(abs(value))::text AS value
         FROM filtered GROUP BY kind, place ORDER BY place) AS counted) AS counts,
      (SELECT jsonb_build_object('breaks', count(*), 'value', coalesce(sum(abs(value)), 0)::text) FROM filtered) AS sum,
      (SELECT count(*)::float8 FROM chosen) AS total,
      (SELECT ${BREAKS_DIGEST} FROM chosen) AS digest,
      ARRAY(SELECT DISTINCT accepted_date::text FROM chosen WHERE accepted_date IS NOT NULL) AS dates,
      (SELECT coalesce(jsonb_agg(${BREAK_JSON}
                ORDER BY severity DESC, listed.place, listed.value DESC, title_id, listed.erp_key), '[]')
       FROM listed LEFT JOIN ${titlesOf(Prisma.sql`listed`)} AS title ON title.id = title_id
       LEFT JOIN ${payablesOf(Prisma.sql`listed`)} AS payable ON payable.erp_key = listed.erp_key) AS breaks`;
  return row;
}

/** The open breaks of the newest run. */
export const OPEN_BREAKS = Prisma.sql`(SELECT * FROM ${LISTED} AS listed WHERE decided_at IS NULL)`;

/** Returns the open breaks of a title, the most urgent first. */
export const readTitleBreaks = ({ prisma }: Database, titleId: bigint) =>
  prisma.$queryRaw<{ kind: BreakKind; isUrgent: boolean; erpKey: string | null }[]>`
    SELECT kind, severity > 1 AS "isUrgent", erp_key AS "erpKey" FROM ${OPEN_BREAKS} AS broken
    WHERE title_id = ${titleId} ORDER BY severity DESC, place, erp_key`;

/** Of an open break: not urgent, old and large. */
const IS_OLD = Prisma.sql`(severity < 2 AND age >= ${OLD_DAYS}::int AND value >= ${LARGE_VALUE}::numeric)`;

export const payableAlerts = {
  /** Payables so old that nothing is concluded from them. None where the ERP has given no payables. */
  payables_stale: {
    severity: 'warning',
    page: '/breaks',
    causes: ({ now, payablesMaxAgeHours: hours }) =>
      hours === undefined
        ? []
        : [
            Prisma.sql`
              SELECT ${hours}::float8 AS hours, complete_at IS NULL AS "isMissing" FROM ${COMPLETE_AT} AS snapshot
              WHERE ${HAS_PAYABLES} AND ${areStale(hours, Prisma.sql`${now}::timestamptz`)}`,
          ],
  },
  /** Urgent breaks between titles and payables, and old and large ones, of the newest run of the matching. */
  paid_to_supplier: {
    severity: 'critical',
    page: '/breaks',
    hasTask: true,
    causes: () => [
      Prisma.sql`
        SELECT cause, date, sum(found) OVER (PARTITION BY cause) AS breaks
        FROM (SELECT accepted_date AS date, count(*) FILTER (WHERE severity > 1) AS urgent,
                     count(*) FILTER (WHERE ${IS_OLD}) AS old
              FROM ${OPEN_BREAKS} AS broken GROUP BY 1) AS counted,
             LATERAL (VALUES (NULL, urgent), ('old', old)) AS causes (cause, found)
        WHERE found > 0`,
    ],
  },
} satisfies Record<string, AlertEntry>;

export const matchingObstacles = {
  /** Open breaks of titles of the day. */
  break: {
    keeps: ['program'],
    rows: (date, { bookingsFrom = null }) => Prisma.sql`
      SELECT kind, count(*), ${amountSum(Prisma.sql`abs(value)`)}, severity > 1,
             -- A withdrawn title is not booked.
             CASE WHEN ${date} >= ${bookingsFrom}::date AND kind <> 'withdrawn_open' THEN waits END AS waits
      FROM ${OPEN_BREAKS} AS broken WHERE accepted_date = ${date}
      GROUP BY kind, severity, place, waits ORDER BY severity DESC, place`,
    href: (date, kind) => `/breaks?date=${date}&kind=${kind}`,
  },
} as const satisfies Record<string, DayObstacle>;

/**
 * Counts the titles of the whole ledger that have a payable and no open break, as the column `agreed`. A title that has
 * taken over a payable of another value agrees with none.
 */
export const COUNTED_AGREED = Prisma.sql`
  (SELECT coalesce(jsonb_agg(counted), '[]')
   FROM (SELECT accepted_date AS date, count(*) AS titles, ${amountSum(Prisma.sql`original_value`)} AS value
         FROM conciliation.title AS title
         WHERE status = 'current' AND id IN (SELECT title_id FROM conciliation.title_payable)
           AND id NOT IN (SELECT title_id FROM ${OPEN_BREAKS} AS broken WHERE title_id IS NOT NULL)
           AND NOT EXISTS (
             SELECT FROM conciliation.title_match AS match
             WHERE match.title_id = title.id AND ended_at IS NULL AND rule = 'inherited'
               AND erp_value <> title.original_value)
         GROUP BY 1) AS counted)`;

type MatchRule = (typeof RULES)[number] | 'inherited' | 'person';

export interface TitleMatch {
  readonly id: bigint;
  readonly rule: MatchRule;
  readonly ruleVersion: number;
  readonly madeAt: Date;
  readonly madeBy: string;
  /** Of a person. */
  readonly code: BreakCode | null;
  readonly reason: string | null;
  readonly endedAt: Date | null;
  readonly endedBy: string | null;
  readonly endReason: string | null;
  readonly payable: BreakPayable;
  /** The other titles of the payable. */
  readonly otherTitles: readonly number[];
}

/** Returns the matches of a title, the newest first: for a sum, one row for each payable. At most one match lasts. */
export function readTitleMatches(database: Database, titleId: bigint): Promise<TitleMatch[]> {
  return database.prisma.$queryRaw<TitleMatch[]>`
    SELECT match.id, rule, rule_version::int AS "ruleVersion", made_at AS "madeAt", made_by AS "madeBy", code, reason,
           ended_at AS "endedAt", ended_by AS "endedBy", end_reason AS "endReason", ${PAYABLE_JSON} AS payable,
           ARRAY(SELECT other.title_id::float8 FROM conciliation.title_match AS other
                 WHERE other.sum_id = match.sum_id AND other.title_id <> match.title_id
                 ORDER BY other.title_id) AS "otherTitles"
    FROM conciliation.title_match AS match
    JOIN conciliation.erp_payable AS payable ON payable.erp_key = match.erp_key
    JOIN conciliation.title AS title ON title.id = match.title_id
    WHERE title_id = ${titleId} ORDER BY (ended_at IS NULL) DESC, match.id DESC`;
}
