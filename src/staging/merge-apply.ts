import type { CivilDate } from '../domain/business-day.ts';
import { TITLE_COLUMNS } from '../domain/title.ts';
import { Prisma } from '../generated/prisma/client.ts';

/** Who changes titles: stands in every row that a merge writes. */
export interface ChangeSource {
  readonly pullId: bigint;
  readonly fence: bigint;
}

// Column lists are written from TITLE_COLUMNS, a constant of this program: nothing from outside
// reaches Prisma.raw.
const columns = Prisma.raw(TITLE_COLUMNS.join(', '));
const stagedColumns = Prisma.raw(TITLE_COLUMNS.map((name) => `staged.${name}`).join(', '));
const setColumns = Prisma.raw(TITLE_COLUMNS.map((name) => `${name} = staged.${name}`).join(', '));
const toJson = (alias: string, status: string) =>
  Prisma.raw(
    `jsonb_build_object('status', ${status}, ${TITLE_COLUMNS.map((name) => `'${name}', ${alias}.${name}`).join(', ')})`,
  );

/**
 * The key of the advisory lock that a merge takes before it draws its first `change_seq` and
 * keeps until it has committed. So a `change_seq` that can be seen has no smaller one still to come,
 * and a reader of `title_feed` misses nothing.
 */
const CHANGE_FEED_LOCK = 7_201_604_311n;

/**
 * Writes what `planChanges` found, for `dates` only: revisions first, because they tell the rows as
 * they were.
 */
export async function applyChanges(
  tx: Prisma.TransactionClient,
  source: ChangeSource,
  dates: readonly CivilDate[],
): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${CHANGE_FEED_LOCK}::bigint)`;
  await writeRevisions(tx, source, dates);
  await updateTitles(tx, source, dates);
  await withdrawTitles(tx, source, dates);
  await insertTitles(tx, source, dates);
}

async function writeRevisions(
  tx: Prisma.TransactionClient,
  source: ChangeSource,
  dates: readonly CivilDate[],
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO conciliation.title_revision (title_id, revision, kind, pull_id, before, after)
    SELECT title.id,
           1 + (SELECT count(*) FROM conciliation.title_revision earlier WHERE earlier.title_id = title.id),
           change.kind, ${source.pullId}::bigint, differing.before, differing.after
    FROM conciliation.staged_change change
    JOIN conciliation.title title ON title.id = change.title_id
    LEFT JOIN conciliation.staged_title staged
      ON staged.fence = change.fence AND staged.ordinal = change.ordinal
    CROSS JOIN LATERAL (
      SELECT ${toJson('title', 'title.status')} AS before,
             CASE WHEN change.kind = 'withdrawn'
                  THEN ${toJson('title', "'withdrawn'")}
                  ELSE ${toJson('staged', "'current'")} END AS after
      -- Keeps the subquery apart: merged into the query, it would be worked out for every field anew.
      OFFSET 0
    ) AS whole
    CROSS JOIN LATERAL (
      SELECT jsonb_object_agg(field, old.value) AS before,
             jsonb_object_agg(field, whole.after -> field) AS after
      FROM jsonb_each(whole.before) AS old (field, value)
      WHERE old.value IS DISTINCT FROM whole.after -> field
    ) AS differing
    WHERE change.fence = ${source.fence} AND change.date = ANY(${dates}::date[])
      AND change.kind <> 'inserted'`;
}

async function updateTitles(
  tx: Prisma.TransactionClient,
  source: ChangeSource,
  dates: readonly CivilDate[],
): Promise<void> {
  await tx.$executeRaw`
    UPDATE conciliation.title title
    SET status = 'current', ${setColumns}, content_hash = staged.content_hash,
        change_seq = nextval('conciliation.title_change_seq'),
        last_change_pull_id = ${source.pullId}, changed_at = now()
    FROM conciliation.staged_change change
    JOIN conciliation.staged_title staged
      ON staged.fence = change.fence AND staged.ordinal = change.ordinal
    WHERE change.fence = ${source.fence} AND change.date = ANY(${dates}::date[])
      AND change.kind IN ('changed', 'restored') AND title.id = change.title_id`;
}

async function withdrawTitles(
  tx: Prisma.TransactionClient,
  source: ChangeSource,
  dates: readonly CivilDate[],
): Promise<void> {
  await tx.$executeRaw`
    UPDATE conciliation.title title
    SET status = 'withdrawn', change_seq = nextval('conciliation.title_change_seq'),
        last_change_pull_id = ${source.pullId}, changed_at = now()
    FROM conciliation.staged_change change
    WHERE change.fence = ${source.fence} AND change.date = ANY(${dates}::date[])
      AND change.kind = 'withdrawn' AND title.id = change.title_id`;
}

async function insertTitles(
  tx: Prisma.TransactionClient,
  source: ChangeSource,
  dates: readonly CivilDate[],
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO conciliation.title (occurrence, ${columns}, identity_hash, content_hash,
                                    change_seq, first_pull_id, last_change_pull_id)
    SELECT change.occurrence, ${stagedColumns}, staged.identity_hash, staged.content_hash,
           nextval('conciliation.title_change_seq'),
           ${source.pullId}::bigint, ${source.pullId}::bigint
    FROM conciliation.staged_change change
    JOIN conciliation.staged_title staged
      ON staged.fence = change.fence AND staged.ordinal = change.ordinal
    WHERE change.fence = ${source.fence} AND change.date = ANY(${dates}::date[])
      AND change.kind = 'inserted'
    ORDER BY staged.ordinal`;
}
