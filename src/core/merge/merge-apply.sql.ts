import type { Transaction } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import {
  areRowsRecorded,
  digestRow,
  type LockedDay,
  type MergedDay,
  mergedDay,
} from '../ledger/day-ledger.sql.ts';
import { AMOUNT_COLUMNS, TITLE_COLUMNS } from '../title/title.ts';
import { companyIdText, ROW_DIGEST } from '../title/title-hashes.sql.ts';
import type { MergingPull } from './engine-hooks.ts';

// Column lists are written from TITLE_COLUMNS, a constant of this program: nothing from outside
// reaches Prisma.raw.
const stagedColumns = Prisma.raw(TITLE_COLUMNS.map((name) => `staged.${name}`).join(', '));
const setColumns = Prisma.raw(TITLE_COLUMNS.map((name) => `${name} = (staged).${name}`).join(', '));
const toJson = (alias: string, status: string) =>
  Prisma.raw(
    `jsonb_build_object('status', ${status}, ${TITLE_COLUMNS.map((name) => `'${name}', ${alias}.${name}`).join(', ')})`,
  );

/** The columns of a row of `title` that its day and its digest are computed from, beside `id` and `digest`. */
const measures = Prisma.raw(
  ['status', 'content_hash', 'anticipated_due_date', ...AMOUNT_COLUMNS].join(', '),
);
const measured = Prisma.sql`id, ${ROW_DIGEST} AS digest, ${measures}`;
/** The columns of `pairKey` as well. */
const paired = Prisma.sql`${measured}, order_uid, buyer_identification, provider_external_id`;

/**
 * Carries out the plan of `planChanges`, and records the result in the row of the day and in `date_digest`. One
 * statement, so that each row is read and hashed once: its parts see the rows as they were, and `written` has them as
 * the statement leaves them.
 *
 * A digest must not cover what something else than a merge has changed. So none is appended unless the rows were those
 * of the newest digest, or the pull is a repair.
 */
export async function applyChanges(
  tx: Transaction,
  source: MergingPull,
  { hasTitles }: LockedDay,
  day: MergedDay,
  isChanged: boolean,
): Promise<void> {
  const { date, pullId, isRepair } = source;
  const isRecorded = areRowsRecorded(date, Prisma.sql`present`);
  const rows = Prisma.sql`SELECT id, digest, ${measures} FROM`;
  // Of a date without titles, nothing but insertions can have an effect, and the planner is spared the rest.
  const newTitles = hasTitles ? plannedTitles(source) : allTitles(source);
  const revised = Prisma.sql`
    revised AS (${revisions(source)}), restated AS (${restatements(source)} RETURNING ${measured}),
    withdrawn AS (${withdrawals(source)} RETURNING ${paired}), linked AS (${successions(date, pullId)}),`;
  const kept = Prisma.sql`
    SELECT * FROM present WHERE id NOT IN (SELECT id FROM restated UNION ALL SELECT id FROM withdrawn)
    UNION ALL ${rows} restated UNION ALL ${rows} withdrawn UNION ALL`;
  await tx.$executeRaw`
    WITH present AS MATERIALIZED (
      SELECT ${measured} FROM conciliation.title WHERE accepted_date = ${date}::date
    ), inserted AS (${insertions(source, newTitles)} RETURNING ${hasTitles ? paired : measured}),
    ${hasTitles ? revised : Prisma.empty}
    written AS NOT MATERIALIZED (${hasTitles ? kept : Prisma.empty} ${rows} inserted), ${mergedDay(day)}
    ${digestRow(date, pullId, Prisma.sql`written`)}
    WHERE ${isRepair}::boolean OR ${isChanged}::boolean AND ${isRecorded}`;
}

/**
 * Links a withdrawn title with the inserted title of the same order, buyer and provider, where each is the only one
 * of its kind: one title with another due date or another original value.
 */
const successions = (date: CivilDate, pullId: bigint) => Prisma.sql`
  INSERT INTO conciliation.title_succession (title_id, predecessor_id, accepted_date, pull_id)
  SELECT came.id, gone.id, ${date}::date, ${pullId}::bigint
  FROM (SELECT ${pairKey}, count(*) AS titles, min(id) AS id FROM withdrawn AS title GROUP BY 1, 2, 3) AS gone
  JOIN (SELECT ${pairKey}, count(*) AS titles, min(id) AS id FROM inserted AS title
        WHERE order_uid IN (SELECT order_uid FROM withdrawn) GROUP BY 1, 2, 3) AS came
    USING (order_uid, buyer, provider)
  WHERE gone.titles = 1 AND came.titles = 1`;

/** With a sign, so that a missing value differs from an empty one. */
const keyPart = (value: string) => `coalesce('=' || ${value}, '')`;
/** Columns order_uid, buyer and provider of a row `title`. */
export const pairKey = Prisma.raw(
  `title.order_uid, ${keyPart(companyIdText('title.buyer_identification'))} AS buyer,
   ${keyPart('title.provider_external_id')} AS provider`,
);

/** The ids of planned changes, as an array: the planner looks an array of ids up in the index. */
const changedIds = (source: MergingPull, kinds: readonly string[]) =>
  Prisma.sql`
    ANY(ARRAY(SELECT title_id FROM conciliation.staged_change
              WHERE fence = ${source.fence} AND kind = ANY(${kinds}::text[])))`;

const revisions = (source: MergingPull) => Prisma.sql`
  INSERT INTO conciliation.title_revision
    (title_id, revision, kind, pull_id, content_hash, before, after)
  SELECT title.id,
         1 + (SELECT count(*) FROM conciliation.title_revision earlier WHERE earlier.title_id = title.id),
         change.kind, ${source.pullId}::bigint, title.content_hash, differing.before,
         differing.after
  FROM conciliation.staged_change change
  JOIN conciliation.title title ON title.id = change.title_id
  LEFT JOIN conciliation.staged_title staged
    ON staged.fence = ${source.fence} AND staged.ordinal = change.ordinal
  CROSS JOIN LATERAL (
    SELECT ${toJson('title', 'title.status')} AS before,
           CASE WHEN change.kind = 'withdrawn'
                THEN ${toJson('title', "'withdrawn'")}
                ELSE ${toJson('staged', "'current'")} END AS after
    -- Keeps the subquery apart: merged into the query, it would be computed once for every field.
    OFFSET 0
  ) AS whole
  CROSS JOIN LATERAL (
    -- Nothing differs where the restated columns are those of an erased party.
    SELECT coalesce(jsonb_object_agg(field, old.value), '{}') AS before,
           coalesce(jsonb_object_agg(field, whole.after -> field), '{}') AS after
    FROM jsonb_each(whole.before) AS old (field, value)
    -- As text, because 3.90 and 3.9 are equal as numbers and written differently.
    WHERE old.value::text IS DISTINCT FROM (whole.after -> field)::text
  ) AS differing
  WHERE change.fence = ${source.fence}
    AND title.id = ${changedIds(source, ['changed', 'restored', 'withdrawn'])}`;

const restatements = (source: MergingPull) => Prisma.sql`
  UPDATE conciliation.title
  SET status = 'current', ${setColumns}, identity_hash = (staged).identity_hash,
      content_hash = (staged).content_hash, raw_hash = (staged).raw_hash, erased_at = (staged).erased_at,
      last_change_pull_id = ${source.pullId}, changed_at = now()
  FROM (
    SELECT change.title_id, staged
    FROM conciliation.staged_change AS change
    JOIN conciliation.staged_title AS staged ON staged.fence = change.fence AND staged.ordinal = change.ordinal
    WHERE change.fence = ${source.fence} AND change.kind IN ('changed', 'restored')
  ) AS planned
  WHERE id = planned.title_id AND id = ${changedIds(source, ['changed', 'restored'])}`;

const withdrawals = (source: MergingPull) => Prisma.sql`
  UPDATE conciliation.title
  SET status = 'withdrawn', last_change_pull_id = ${source.pullId}, changed_at = now()
  WHERE id = ${changedIds(source, ['withdrawn'])}`;

const insertedColumns = Prisma.raw(
  `occurrence, ${TITLE_COLUMNS.join(', ')}, identity_hash, content_hash, raw_hash, erased_at,
   first_pull_id, last_change_pull_id`,
);

const insertions = (source: MergingPull, newTitles: Prisma.Sql) => Prisma.sql`
  INSERT INTO conciliation.title (${insertedColumns})
  SELECT staged.occurrence, ${stagedColumns}, staged.identity_hash, staged.content_hash,
         staged.raw_hash, staged.erased_at, ${source.pullId}::bigint, ${source.pullId}::bigint
  FROM (${newTitles}) AS staged`;

/** The staged titles that the plan inserts. */
const plannedTitles = ({ fence }: MergingPull) => Prisma.sql`
  SELECT staged.*, change.occurrence
  FROM conciliation.staged_change change
  JOIN conciliation.staged_title staged
    ON staged.fence = ${fence} AND staged.ordinal = change.ordinal
  WHERE change.fence = ${fence}
    AND change.kind = 'inserted'
  ORDER BY staged.ordinal`;

/**
 * All staged titles, for a date without titles. They come in the order of their identities: the unique index of `title`
 * grows at one place, which takes a fifth less of the statement than the order of the response.
 */
const allTitles = ({ fence }: MergingPull) => Prisma.sql`
  SELECT *, row_number() OVER (PARTITION BY identity_hash ORDER BY content_hash, ordinal) AS occurrence
  FROM conciliation.staged_title WHERE fence = ${fence}`;
