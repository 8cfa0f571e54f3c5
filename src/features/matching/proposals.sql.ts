/** Payables that a person may match with a title that the rules leave: ranked, with the difference and the reason. */
import { type Static, Type } from 'typebox';
import type { Transaction } from '../../base/database/database.ts';
import { taxIdOf } from '../../base/database/expressions.sql.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { MAX_KEY_CHARACTERS } from '../../base/values/field-fault.ts';
import {
  amount,
  date,
  dateOrNull,
  id,
  orNull,
  text,
  textOrNull,
  words,
} from '../../console/api/schema-parts.ts';
import {
  anyOf,
  asTabs,
  dateField,
  type FilterOf,
  idField,
  textField,
} from '../../console/list/filter.tsx';
import type { Place } from '../../console/list/list.tsx';
import { Prisma } from '../../generated/prisma/client.ts';
import { jsonOf, OPEN_BREAKS } from './break-list.sql.ts';
import {
  CLOSED_DAY,
  pairsOf,
  pairsOfSupplier,
  SAME_DUE,
  type Scope,
  SIDE,
  scopeOf,
} from './break-pairs.sql.ts';
import { joinWholeSets } from './breaks.sql.ts';
import {
  BUYER_NAME,
  COMPANY_NAME,
  DUE_DAYS,
  IS_OF_SUPPLIER,
  MAY_BE_COMPANY,
  PAYABLE_GROUND,
  SAME_DUE as SAME_DUE_BY_HASH,
  TITLE_GROUND,
  VALUE_TOLERANCE,
} from './candidates.sql.ts';
import { COMPANY_NAMES } from './companies.sql.ts';
import type { BreakKind } from './judgement.sql.ts';
import { isDeclined } from './run-matching.sql.ts';
import { combinations, SUM_CANDIDATES } from './sums.sql.ts';

/** The kinds of proposals, the best first. `other` is shown for one title only, and not confirmed with others. */
const PROPOSAL_KINDS = ['same', 'date', 'value', 'sum', 'other'] as const;
type ProposalKind = (typeof PROPOSAL_KINDS)[number];
const LISTED_KINDS = ['same', 'date', 'value', 'sum'] as const satisfies ProposalKind[];

/** The breaks that a match ends. Of the others, the platform or the ERP may have to correct one side first. */
const ANSWERED = [
  'duplicated_in_erp',
  'in_doubt',
  'value_differs',
  'due_date_differs',
  'missing_in_erp',
] as const satisfies BreakKind[];

/** The titles may be one anticipation. So a person confirms them one by one. */
const CONTESTED = 'anticipated_twice' satisfies BreakKind;

/** The most payables of a sum that is proposed. */
const SUM_MOST = 3;

/** The most proposals of a title. */
const PLACES = 12;

export const Proposal = Type.Object({
  titleId: id,
  orderUid: text,
  acceptedDate: date,
  dueDate: dateOrNull,
  value: amount,
  supplier: textOrNull,
  kind: words(PROPOSAL_KINDS),
  place: Type.Integer({ minimum: 1, description: 'Among the proposals of the title.' }),
  isClear: Type.Boolean({
    description:
      'The only one of its title, or the first by the order, and no other title has one of the payables first.',
  }),
  sameOrder: Type.Boolean(),
  erpKeys: Type.Array(text),
  documents: textOrNull,
  erpDueDate: dateOrNull,
  erpValue: amount,
  difference: Type.String({ description: 'Of the payables minus the title. Exact decimal.' }),
  days: orNull('integer', { description: 'Days between the due dates. Null: one is not stated.' }),
});
export type Proposal = Readonly<Static<typeof Proposal>>;

/** What a person confirms of a proposal, as the person saw it. */
export const seenOf = (proposal: Proposal): string => {
  const { titleId, erpKeys, documents, erpDueDate, difference } = proposal;
  return JSON.stringify([titleId, erpKeys, documents, erpDueDate, difference]);
};

export const PROPOSAL_FILTER = {
  /** 0: all titles. Of one title, the list has also what is beyond the tolerances. */
  title: idField('matching.order'),
  kind: asTabs(anyOf('matching.kind', LISTED_KINDS, (kind) => `matching.proposalKinds.${kind}`)),
  date: dateField('matching.date'),
  supplier: textField('matching.supplier', MAX_KEY_CHARACTERS),
};
export type ProposalFilter = FilterOf<typeof PROPOSAL_FILTER>;

const KIND_PLACE = Prisma.sql`array_position(${[...PROPOSAL_KINDS]}::text[], kind)`;

/** Open payables of titles `waiting` that may be items of a sum. */
const ITEMS = pairsOfSupplier(
  Prisma.sql`title.id AS title_id, payable.erp_key, false`,
  Prisma.sql`offered`,
  Prisma.sql`${SAME_DUE_BY_HASH} AND payable.is_item`,
  Prisma.sql`waiting`,
);

/**
 * The proposals of the titles of a scope that have an open break of the newest run and no match, as `proposal`. For a
 * statement with WITH, after `COMPANY_NAMES`.
 */
const proposalsOf = (scope: Scope) => Prisma.sql`
  ${pairsOf(scope)}, waiting AS MATERIALIZED (
    SELECT DISTINCT ON (title.id) ${SIDE}, listed.kind, listed.erp_key, title.accepted_date, buyer, is_claimed, ${TITLE_GROUND} AS ground,
           coalesce(title.provider_external_id, (SELECT supplier_external_id FROM conciliation.erp_payable AS stated
                                                 WHERE stated.erp_key = listed.erp_key)) AS supplier,
           ${taxIdOf('title.financial_agent_identification')} AS agent
    FROM ${OPEN_BREAKS} AS listed JOIN conciliation.title AS title ON title.id = listed.title_id
    ${CLOSED_DAY} ${BUYER_NAME}
    WHERE title.id IN (SELECT id FROM unmatched) ORDER BY title.id, listed.place
  ), offered AS MATERIALIZED (
    -- An item of a sum has few others of its supplier and due date, so that all sums can be looked at.
    SELECT payable.*, ${PAYABLE_GROUND} AS ground, buyers, roots, is_named,
           count(*) OVER (PARTITION BY coalesce(supplier_external_id, left(supplier_tax_id, 8)), business_day)
             <= ${SUM_CANDIDATES} AS is_item
    FROM free AS payable ${COMPANY_NAME} WHERE status = 'open'
  ), near_pair AS MATERIALIZED (
    SELECT title.id AS title_id, payable.erp_key, payable.document, payable.due_date, payable.open_value,
           title.original_value, payable.open_value - title.original_value AS difference,
           (payable.order_uid = title.order_uid) IS TRUE AS same_order, ${SAME_DUE} IS TRUE AS same_due,
           (payable.supplier_external_id = title.provider_external_id OR payable.supplier_tax_id = title.tax_id) IS TRUE
             AS same_party,
           abs(payable.due_date - title.anticipated_due_date) AS days, choice.is_alone, choice.is_item,
           title.kind <> ALL(${[...ANSWERED, CONTESTED]}::text[]) OR (payable.order_uid <> btrim(title.order_uid)) IS TRUE
             OR ${isDeclined(Prisma.sql`title.id`, Prisma.sql`payable.erp_key`, Prisma.sql`title.ground`, Prisma.sql`payable.ground`)}
             AS is_doubtful
    FROM (
      SELECT title_id, erp_key, bool_or(is_alone) AS is_alone, bool_or(NOT is_alone) AS is_item FROM (
        SELECT title_id, erp_key, true AS is_alone FROM related WHERE status = 'open' AND same_supplier
        -- The payable of the break may be beyond the tolerances.
        UNION ALL SELECT id, erp_key, true FROM waiting
        UNION ALL SELECT title_id, unnest(keys), true FROM nearly
        UNION ALL ${ITEMS}
      ) AS named GROUP BY 1, 2
    ) AS choice
    JOIN waiting AS title ON title.id = choice.title_id JOIN offered AS payable ON payable.erp_key = choice.erp_key
    WHERE ${MAY_BE_COMPANY} AND ${IS_OF_SUPPLIER}
  ), found_sum AS MATERIALIZED (
    WITH RECURSIVE ${combinations(
      Prisma.sql`(
      SELECT title_id AS owner, erp_key AS item, original_value AS target, open_value AS value
      FROM near_pair WHERE is_item AND NOT is_doubtful AND open_value <> 0)`,
      { most: SUM_MOST, slack: VALUE_TOLERANCE },
    )}
    SELECT owner AS title_id, items, total - target AS difference
    FROM walk WHERE abs(total - target) <= ${VALUE_TOLERANCE} AND cardinality(items) > 1
  ), comparison AS (
    SELECT title_id, ARRAY[erp_key] AS erp_keys, document AS documents, due_date, open_value AS erp_value, difference, days,
           same_order, same_due, same_party,
           CASE WHEN is_doubtful THEN 'other'
                WHEN difference = 0 AND days = 0 THEN 'same'
                WHEN difference = 0 AND (same_due OR (days <= ${DUE_DAYS}) IS NOT FALSE AND (days IS NOT NULL OR same_order))
                  THEN 'date'
                WHEN abs(difference) <= ${VALUE_TOLERANCE}
                     AND (same_due OR same_order AND (days <= ${DUE_DAYS}) IS NOT FALSE) THEN 'value'
                ELSE 'other' END AS kind
    FROM near_pair WHERE is_alone
    UNION ALL
    SELECT title_id, items, string_agg(document, ', ' ORDER BY document), min(due_date), sum(open_value),
           found_sum.difference, max(days), bool_and(same_order), true, bool_and(same_party), 'sum'
    FROM found_sum JOIN near_pair USING (title_id) WHERE erp_key = ANY(items)
    GROUP BY title_id, items, found_sum.difference
  ), ranked AS MATERIALIZED (
    SELECT *, row_number() OVER (PARTITION BY title_id ORDER BY rank, erp_keys) AS place FROM (
      SELECT *, rank() OVER (PARTITION BY title_id ORDER BY kind = 'other', NOT same_order, ${KIND_PLACE},
                             NOT same_party, abs(difference), NOT same_due, days) AS rank
      FROM comparison
    ) AS compared
  ), wanted AS MATERIALIZED (
    SELECT key FROM ranked CROSS JOIN unnest(erp_keys) AS key WHERE rank = 1 AND kind <> 'other'
    GROUP BY key HAVING count(DISTINCT title_id) > 1
  ), proposal AS MATERIALIZED (
    SELECT ranked.*, title.order_uid, title.accepted_date, title.anticipated_due_date, title.original_value,
           title.supplier,
           rank = 1 AND count(*) OVER (PARTITION BY title_id, rank) = 1 AND ranked.kind <> 'other'
             AND (same_order OR count(*) FILTER (WHERE ranked.kind <> 'other' OR difference = 0) OVER (PARTITION BY title_id) = 1)
             AND title.kind <> ${CONTESTED} AND NOT erp_keys && ARRAY(SELECT key FROM wanted) AS is_clear
    FROM ranked JOIN waiting AS title ON title.id = title_id WHERE place <= ${PLACES}
  )`;

/** The titles that the newest run has found in a break. */
const BROKEN = scopeOf(
  Prisma.sql`title.id = ANY(ARRAY(SELECT title_id FROM conciliation.erp_break))`,
);

const ORDER = Prisma.sql`original_value DESC, title_id, place`;

const ROW = jsonOf(Proposal, 'shown', {
  dueDate: Prisma.sql`anticipated_due_date`,
  value: Prisma.sql`original_value::text`,
  erpDueDate: Prisma.sql`due_date`,
  difference: Prisma.sql`difference::text`,
});

const isIn = ({ title, date, supplier }: ProposalFilter) => Prisma.sql`
  (kind <> 'other' OR ${title > 0}) AND (${date}::date IS NULL OR accepted_date = ${date}::date)
  AND (${supplier}::text IS NULL OR supplier = ${supplier}::text)`;

export interface ProposalList {
  /** Of each kind, and of all. */
  readonly counts: Readonly<Record<string, number>>;
  readonly total: number;
  readonly titles: number;
  /** Of the titles, each once. Exact decimal, as the values of the clear ones. */
  readonly value: string;
  /** Those that one decision confirms. */
  readonly clear: number;
  readonly clearValue: string;
  /** Without the signs. */
  readonly clearDifference: string;
  /** Titles whose first proposal is not clear. */
  readonly left: number;
  /** Of those that one decision confirms. */
  readonly digest: string;
  readonly rows: Proposal[];
}

/** Reads a part of the proposals of a filter, the titles of the greatest value first, with sums over the whole filter. */
export async function readProposals(
  tx: Transaction,
  filter: ProposalFilter,
  { offset, limit }: Pick<Place, 'offset'> & { readonly limit: number | null },
): Promise<ProposalList> {
  await joinWholeSets(tx);
  const scope =
    filter.title === 0 ? BROKEN : scopeOf(Prisma.sql`title.id = ${BigInt(filter.title)}`);
  const [row] = await tx.$queryRaw<[ProposalList]>`
    WITH ${COMPANY_NAMES}, ${proposalsOf(scope)},
    filtered AS (SELECT * FROM proposal WHERE ${isIn(filter)}),
    chosen AS (SELECT * FROM filtered WHERE ${filter.kind}::text IS NULL OR kind = ${filter.kind}::text),
    shown AS (
      SELECT * FROM chosen
      ORDER BY ${ORDER} OFFSET ${offset} LIMIT ${limit}
    )
    SELECT (SELECT jsonb_object_agg(coalesce(kind, 'all'), rows)
            FROM (SELECT kind, count(*) AS rows FROM filtered GROUP BY ROLLUP (kind)) AS counted) AS counts,
           (SELECT count(*)::float8 FROM chosen) AS total,
           (SELECT count(DISTINCT title_id)::float8 FROM chosen) AS titles,
           (SELECT coalesce(sum(original_value), 0)::text
            FROM (SELECT DISTINCT title_id, original_value FROM chosen) AS titles) AS value,
           (SELECT count(*)::float8 FROM chosen WHERE is_clear) AS clear,
           (SELECT coalesce(sum(original_value), 0)::text FROM chosen WHERE is_clear) AS "clearValue",
           (SELECT coalesce(sum(abs(difference)), 0)::text FROM chosen WHERE is_clear) AS "clearDifference",
           (SELECT count(*)::float8 FROM chosen WHERE place = 1 AND NOT is_clear) AS left,
           (SELECT coalesce(md5(string_agg(concat_ws(' ', title_id, erp_keys, difference, days), ',' ORDER BY title_id)), '')
            FROM chosen WHERE is_clear) AS digest,
           (SELECT coalesce(jsonb_agg(${ROW} ORDER BY ${ORDER}), '[]') FROM shown) AS rows`;
  return row;
}

/** A title with an open break. */
export interface BrokenTitle {
  readonly titleId: number;
  readonly orderUid: string;
  readonly acceptedDate: CivilDate;
  readonly value: string;
  readonly breakKind: BreakKind;
  /** Of its first proposal; null: it has none. */
  readonly isClear: boolean | null;
}

export async function readBrokenTitles(tx: Transaction): Promise<BrokenTitle[]> {
  await joinWholeSets(tx);
  return tx.$queryRaw<BrokenTitle[]>`
    WITH ${COMPANY_NAMES}, ${proposalsOf(BROKEN)}
    SELECT DISTINCT ON (title.id) title.id::float8 AS "titleId", title.order_uid AS "orderUid",
           title.accepted_date::text AS "acceptedDate", title.original_value::text AS value,
           listed.kind AS "breakKind", is_clear AS "isClear"
    FROM ${OPEN_BREAKS} AS listed JOIN conciliation.title AS title ON title.id = listed.title_id
    LEFT JOIN proposal ON proposal.title_id = title.id AND proposal.place = 1 AND proposal.kind <> 'other'
    ORDER BY title.id, listed.place`;
}
