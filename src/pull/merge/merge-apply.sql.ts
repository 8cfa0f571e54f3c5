import type { Transaction } from '../../database/database.ts';
import { companyIdText } from '../../database/tax-id.sql.ts';
import { TITLE_COLUMNS } from '../../domain/title.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { reachFaultPoint } from '../../runtime/fault-points.ts';

/**
 * The pull that changes titles, which every row that the merge writes names, and the fence of its staged
 * rows.
 */
export interface ChangeSource {
  readonly pullId: bigint;
  readonly fence: bigint;
}

// Column lists are written from TITLE_COLUMNS, a constant of this program: nothing from outside
// reaches Prisma.raw.
const stagedColumns = Prisma.raw(TITLE_COLUMNS.map((name) => `staged.${name}`).join(', '));
const setColumns = Prisma.raw(TITLE_COLUMNS.map((name) => `${name} = staged.${name}`).join(', '));
const toJson = (alias: string, status: string) =>
  Prisma.raw(
    `jsonb_build_object('status', ${status}, ${TITLE_COLUMNS.map((name) => `'${name}', ${alias}.${name}`).join(', ')})`,
  );

/**
 * Carries out the plan of `planChanges`. Revisions come first, because they keep the rows as they were.
 *
 * @param hasTitles whether the date has titles
 * @param hasPairs whether titles are withdrawn and others are inserted
 */
export async function applyChanges(
  tx: Transaction,
  source: ChangeSource,
  hasTitles: boolean,
  hasPairs: boolean,
): Promise<void> {
  if (!hasTitles) {
    await insertTitles(tx, source, allTitles(source));
    return;
  }
  await writeRevisions(tx, source);
  reachFaultPoint('revisions');
  await updateTitles(tx, source);
  await withdrawTitles(tx, source);
  await insertTitles(tx, source, plannedTitles(source));
  if (hasPairs) await linkSuccessors(tx, source);
}

/**
 * Links a withdrawn title with the inserted title of the same order, buyer and provider, where each is the only one
 * of its kind: one title with another due date or another original value.
 */
async function linkSuccessors(tx: Transaction, source: ChangeSource): Promise<void> {
  await tx.$executeRaw`
    WITH gone AS MATERIALIZED (
      SELECT ${pairKey}, count(*) AS titles, min(id) AS id, min(accepted_date) AS date
      FROM conciliation.title AS title WHERE title.id = ${changedIds(source, ['withdrawn'])}
      GROUP BY 1, 2, 3
    ), came AS MATERIALIZED (
      SELECT ${pairKey}, count(*) AS titles, min(id) AS id
      FROM conciliation.title AS title
      WHERE title.order_uid = ANY(ARRAY(SELECT order_uid FROM gone))
        AND title.first_pull_id = ${source.pullId} AND title.status = 'current'
        AND title.accepted_date = (SELECT min(date) FROM gone)
      GROUP BY 1, 2, 3
    )
    INSERT INTO conciliation.title_succession (title_id, predecessor_id, accepted_date, pull_id)
    SELECT came.id, gone.id, gone.date, ${source.pullId}::bigint
    FROM gone JOIN came USING (order_uid, buyer, provider)
    WHERE gone.titles = 1 AND came.titles = 1`;
}

/** With a sign, so that a missing value differs from an empty one. */
const keyPart = (value: string) => `coalesce('=' || ${value}, '')`;
/** Columns order_uid, buyer and provider of a row `title`. */
export const pairKey = Prisma.raw(
  `title.order_uid, ${keyPart(companyIdText('title.buyer_identification'))} AS buyer,
   ${keyPart('title.provider_external_id')} AS provider`,
);

/** The ids of planned changes, as an array: the planner looks an array of ids up in the index. */
const changedIds = (source: ChangeSource, kinds: readonly string[]) =>
  Prisma.sql`
    ANY(ARRAY(SELECT title_id FROM conciliation.staged_change
              WHERE fence = ${source.fence} AND kind = ANY(${kinds}::text[])))`;

async function writeRevisions(tx: Transaction, source: ChangeSource): Promise<void> {
  await tx.$executeRaw`
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
}

async function updateTitles(tx: Transaction, source: ChangeSource): Promise<void> {
  await tx.$executeRaw`
    UPDATE conciliation.title title
    SET status = 'current', ${setColumns}, identity_hash = staged.identity_hash,
        content_hash = staged.content_hash,
        raw_hash = staged.raw_hash, erased_at = staged.erased_at,
        last_change_pull_id = ${source.pullId}, changed_at = now()
    FROM conciliation.staged_change change
    JOIN conciliation.staged_title staged
      ON staged.fence = change.fence AND staged.ordinal = change.ordinal
    WHERE change.fence = ${source.fence}
      AND change.kind IN ('changed', 'restored') AND title.id = change.title_id
      AND title.id = ${changedIds(source, ['changed', 'restored'])}`;
}

async function withdrawTitles(tx: Transaction, source: ChangeSource): Promise<void> {
  await tx.$executeRaw`
    UPDATE conciliation.title title
    SET status = 'withdrawn', last_change_pull_id = ${source.pullId}, changed_at = now()
    FROM conciliation.staged_change change
    WHERE change.fence = ${source.fence}
      AND change.kind = 'withdrawn' AND title.id = change.title_id
      AND title.id = ${changedIds(source, ['withdrawn'])}`;
}

const insertedColumns = Prisma.raw(
  `occurrence, ${TITLE_COLUMNS.join(', ')}, identity_hash, content_hash, raw_hash, erased_at,
   first_pull_id, last_change_pull_id`,
);

async function insertTitles(
  tx: Transaction,
  source: ChangeSource,
  newTitles: Prisma.Sql,
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO conciliation.title (${insertedColumns})
    SELECT staged.occurrence, ${stagedColumns}, staged.identity_hash, staged.content_hash,
           staged.raw_hash, staged.erased_at, ${source.pullId}::bigint, ${source.pullId}::bigint
    FROM (${newTitles}) AS staged`;
}

/** The staged titles that the plan inserts. */
const plannedTitles = ({ fence }: ChangeSource) => Prisma.sql`
  SELECT staged.*, change.occurrence
  FROM conciliation.staged_change change
  JOIN conciliation.staged_title staged
    ON staged.fence = ${fence} AND staged.ordinal = change.ordinal
  WHERE change.fence = ${fence}
    AND change.kind = 'inserted'
  ORDER BY staged.ordinal`;

/** All staged titles, for a date without titles. Few identities come twice: only those are numbered. */
const allTitles = ({ fence }: ChangeSource) => Prisma.sql`
  WITH repeated AS MATERIALIZED (
    SELECT identity_hash FROM conciliation.staged_title WHERE fence = ${fence}
    GROUP BY identity_hash HAVING count(*) > 1
  ), numbered AS MATERIALIZED (
    SELECT ordinal, row_number() OVER (PARTITION BY identity_hash
                                       ORDER BY content_hash, ordinal) AS occurrence
    FROM conciliation.staged_title JOIN repeated USING (identity_hash)
    WHERE fence = ${fence}
  )
  SELECT staged.*, coalesce(numbered.occurrence, 1) AS occurrence
  FROM conciliation.staged_title staged LEFT JOIN numbered USING (ordinal)
  WHERE staged.fence = ${fence}`;
