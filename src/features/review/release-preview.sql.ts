import { inTransaction, type Transaction } from '../../base/database/database.ts';
import { type HeldPull, planHeld } from '../../core/merge/decisions.sql.ts';
import type { EngineParts } from '../../core/merge/engine-hooks.ts';
import { MERGE_TRANSACTION } from '../../core/merge/merge.sql.ts';
import { pairKey } from '../../core/merge/merge-apply.sql.ts';
import { TITLE_COLUMNS } from '../../core/title/title.ts';
import { companyIdOf } from '../../core/title/title-hashes.sql.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import {
  type ChangedTitles,
  differingFields,
  KIND_COUNTS,
  type TitleChange,
} from './changed-titles.sql.ts';

export type ReleasePreview = NonNullable<Awaited<ReturnType<typeof planAndRead>>>;

/** What a release would change. Values are exact decimal text. */
interface Moves {
  /** Of the date after the release. */
  readonly titlesAfter: number;
  readonly sumAfter: string;
  readonly sumDifference: string;
  /** Titles that would name another bank account, and the number of accounts that they would name. */
  readonly accountTitles: number;
  readonly accounts: number;
  /** The changes by title, those of the buyer that the limit counts first; limited in number. */
  readonly moved: ChangedTitles<TitleChange>;
}

/**
 * Plans the release of a pull, reads the plan, and rolls it back. Null where the pull is not held, or lost
 * its titles in a crash of the database.
 */
export function previewRelease(
  { database, features }: EngineParts,
  pullId: bigint,
  limit: number,
): Promise<ReleasePreview | null> {
  return inTransaction(database, { isDryRun: true, ...MERGE_TRANSACTION }, (tx) =>
    planAndRead(tx, features, pullId, limit),
  );
}

async function planAndRead(
  tx: Transaction,
  features: EngineParts['features'],
  pullId: bigint,
  limit: number,
) {
  const planned = await planHeld(tx, features, pullId);
  if (planned === null || planned.held.isLost) return null;
  const { held, plan } = planned;
  // The settings of `configurePlanner` are for a merge.
  await tx.$executeRaw`
    SELECT set_config(name, reset_val, true) FROM pg_settings
    WHERE name IN ('enable_nestloop', 'enable_seqscan', 'enable_sort')`;
  const [totals] = await tx.$queryRaw<
    [{ currentTitles: number; currentSum: string; isSignedOff: boolean }]
  >`
    SELECT title_count AS "currentTitles", original_value_sum::text AS "currentSum",
           signed_off_at IS NOT NULL AS "isSignedOff"
    FROM conciliation.day WHERE date = ${held.date}::date`;
  const { date, holdReason: reason, holdDetail: detail } = held;
  const { titles, withdrawn: withdrawals, rejected, withheld } = plan;
  return {
    ...totals,
    ...(await readMoves(tx, held, limit)),
    /** `withheld`: titles that a release does not withdraw, because a reject of the response may be the title. */
    ...{ date, rejected, withheld, hold: { reason, detail, titles, withdrawals } },
  };
}

const accountOf = (row: string, party: 'provider' | 'payment') => {
  const fields = TITLE_COLUMNS.filter(
    (name) => name.startsWith(party) && /_(?:bank|agency|account)(?:_digit)?$/.test(name),
  );
  return Prisma.raw(`ROW('${party}', ${fields.map((name) => `${row}.${name}`).join(', ')})::text`);
};
const changedAccount = (party: 'provider' | 'payment') =>
  Prisma.sql`nullif(${accountOf('staged', party)}, ${accountOf('title', party)})`;

/**
 * The planned changes by title. As in the history of a date, a withdrawn title and the only new one of the same order,
 * buyer and provider are one changed title.
 */
async function readMoves(
  tx: Transaction,
  { fence, date, holdDetail }: HeldPull,
  limit: number,
): Promise<Moves> {
  const [found] = await tx.$queryRaw<[Moves]>`
    WITH change AS MATERIALIZED (
      SELECT kind, ordinal, title_id FROM conciliation.staged_change WHERE fence = ${fence}
      UNION ALL
      -- Of a date without titles every staged title is new, and has no planned change.
      SELECT 'inserted', ordinal, NULL FROM conciliation.staged_title
      WHERE fence = ${fence} AND NOT EXISTS (SELECT FROM conciliation.title WHERE accepted_date = ${date}::date)
    ), came AS MATERIALIZED (
      SELECT ${pairKey}, count(*) AS titles, min(ordinal) AS ordinal
      FROM change JOIN conciliation.staged_title AS title USING (ordinal)
      WHERE kind = 'inserted' AND title.fence = ${fence} GROUP BY 1, 2, 3
    ), gone AS MATERIALIZED (
      SELECT ${pairKey}, count(*) AS titles, min(id) AS id
      FROM conciliation.title WHERE id = ANY(ARRAY(SELECT title_id FROM change WHERE kind = 'withdrawn')) GROUP BY 1, 2, 3
    ), pair AS MATERIALIZED (
      SELECT gone.id, came.ordinal FROM gone JOIN came USING (order_uid, buyer, provider)
      WHERE gone.titles = 1 AND came.titles = 1
    ), move AS MATERIALIZED (
      SELECT kind, ordinal, title_id FROM change
      WHERE (kind <> 'withdrawn' OR title_id NOT IN (SELECT id FROM pair))
        AND (kind <> 'inserted' OR ordinal NOT IN (SELECT ordinal FROM pair))
      UNION ALL
      SELECT 'changed', ordinal, id FROM pair
    ), moved AS MATERIALIZED (
      SELECT move.kind, move.title_id, coalesce(staged.order_uid, title.order_uid) AS order_uid,
             coalesce(staged.original_value, title.original_value) AS value,
             CASE WHEN staged.ordinal IS NULL THEN 0 ELSE staged.original_value END
               - CASE WHEN title.status = 'current' THEN title.original_value ELSE 0 END AS difference,
             CASE WHEN staged.ordinal IS NULL THEN -1 WHEN title.status = 'current' THEN 0 ELSE 1 END AS more,
             CASE WHEN move.kind = 'changed' THEN array_remove(
               ARRAY[${changedAccount('provider')}, ${changedAccount('payment')}], NULL) ELSE '{}' END AS accounts,
             (coalesce(${companyIdOf('coalesce(staged.buyer_identification, title.buyer_identification)')}, '')
                = ${holdDetail?.buyer ?? null}::text) IS TRUE AS is_counted,
             CASE WHEN move.kind IN ('changed', 'restored')
                  THEN ${differingFields(Prisma.sql`to_jsonb(title)`, Prisma.sql`to_jsonb(staged)`, Prisma.sql`title.accepted_date`)} ELSE '[]' END AS fields
      FROM move LEFT JOIN conciliation.title AS title ON title.id = move.title_id
      LEFT JOIN conciliation.staged_title AS staged ON staged.fence = ${fence} AND staged.ordinal = move.ordinal
    ), shown AS (
      SELECT *, row_number() OVER (
        ORDER BY is_counted DESC, array_position('{changed,withdrawn,restored,inserted}'::text[], kind),
                 value DESC, order_uid, title_id) AS place
      FROM moved ORDER BY place LIMIT ${limit}
    )
    SELECT (day.title_count + (SELECT coalesce(sum(more), 0) FROM moved))::float8 AS "titlesAfter",
           (day.original_value_sum + difference)::text AS "sumAfter", difference::text AS "sumDifference",
           "accountTitles", accounts,
           jsonb_build_object('count', rows, 'counts', counts, 'titles', (
             SELECT coalesce(jsonb_agg(jsonb_build_object(
               'titleId', title_id, 'orderUid', order_uid, 'kind', kind, 'fields', fields,
               'originalValue', value::text, 'pullId', NULL) ORDER BY place), '[]') FROM shown)) AS moved
    FROM conciliation.day CROSS JOIN (
      SELECT count(*) AS rows, coalesce(sum(difference), 0) AS difference, count(*) FILTER (WHERE accounts <> '{}')::int AS "accountTitles",
             (SELECT count(DISTINCT account) FROM moved AS named, unnest(named.accounts) AS account)::int AS accounts,
             ${KIND_COUNTS} AS counts
      FROM moved
    ) AS totals WHERE day.date = ${date}::date`;
  return found;
}
