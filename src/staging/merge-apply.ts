import type { CivilDate } from '../domain/business-day.ts';
import { TITLE_COLUMNS } from '../domain/title.ts';
import { reachFaultPoint } from '../fault-points.ts';
import { Prisma } from '../generated/prisma/client.ts';

/** Who changes titles: stands in every row that a merge writes. */
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
 * The key of the advisory lock that a merge takes before it draws its first `change_seq` and
 * keeps until it has committed. So a `change_seq` that can be seen has no smaller one still to come,
 * and a reader of `title_feed` misses nothing.
 */
const CHANGE_FEED_LOCK = 7_201_604_311n;

/** To be held by whoever draws from `title_change_seq`, until it has committed. */
export async function lockChangeFeed(tx: Prisma.TransactionClient): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${CHANGE_FEED_LOCK}::bigint)`;
}

/**
 * Writes what `planChanges` found, for `dates` only: revisions first, because they tell the rows as
 * they were.
 *
 * @param fresh dates that had no titles, as `planChanges` returned them
 */
export async function applyChanges(
  tx: Prisma.TransactionClient,
  source: ChangeSource,
  dates: readonly CivilDate[],
  fresh: readonly CivilDate[],
): Promise<void> {
  await lockChangeFeed(tx);
  const added = dates.filter((date) => fresh.includes(date));
  if (added.length > 0) await insertAll(tx, source, added);
  if (added.length === dates.length) return;
  await writeRevisions(tx, source, dates);
  reachFaultPoint('revisions');
  await updateTitles(tx, source, dates);
  await withdrawTitles(tx, source, dates);
  await insertTitles(tx, source, dates);
}

/** The titles that change rows of `dates` name, in a form that their index answers. */
const changedIds = (source: ChangeSource, dates: readonly CivilDate[], kinds: readonly string[]) =>
  Prisma.sql`
    ANY(ARRAY(SELECT title_id FROM conciliation.staged_change
              WHERE fence = ${source.fence} AND date = ANY(${dates}::date[])
                AND kind = ANY(${kinds}::text[])))`;

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
      ON staged.fence = ${source.fence} AND staged.ordinal = change.ordinal
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
      AND title.id = ${changedIds(source, dates, ['changed', 'restored', 'withdrawn'])}`;
}

async function updateTitles(
  tx: Prisma.TransactionClient,
  source: ChangeSource,
  dates: readonly CivilDate[],
): Promise<void> {
  await tx.$executeRaw`
    UPDATE conciliation.title title
    SET status = 'current', ${setColumns}, content_hash = staged.content_hash,
        raw_hash = staged.raw_hash,
        change_seq = nextval('conciliation.title_change_seq'),
        last_change_pull_id = ${source.pullId}, changed_at = now()
    FROM conciliation.staged_change change
    JOIN conciliation.staged_title staged
      ON staged.fence = change.fence AND staged.ordinal = change.ordinal
    WHERE change.fence = ${source.fence} AND change.date = ANY(${dates}::date[])
      AND change.kind IN ('changed', 'restored') AND title.id = change.title_id
      AND title.id = ${changedIds(source, dates, ['changed', 'restored'])}`;
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
      AND change.kind = 'withdrawn' AND title.id = change.title_id
      AND title.id = ${changedIds(source, dates, ['withdrawn'])}`;
}

const insertedColumns = Prisma.raw(
  `occurrence, ${TITLE_COLUMNS.join(', ')}, identity_hash, content_hash, raw_hash, change_seq,
   first_pull_id, last_change_pull_id`,
);

async function insertTitles(
  tx: Prisma.TransactionClient,
  source: ChangeSource,
  dates: readonly CivilDate[],
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO conciliation.title (${insertedColumns})
    SELECT change.occurrence, ${stagedColumns}, staged.identity_hash, staged.content_hash,
           staged.raw_hash, nextval('conciliation.title_change_seq'),
           ${source.pullId}::bigint, ${source.pullId}::bigint
    FROM conciliation.staged_change change
    JOIN conciliation.staged_title staged
      ON staged.fence = ${source.fence} AND staged.ordinal = change.ordinal
    WHERE change.fence = ${source.fence} AND change.date = ANY(${dates}::date[])
      AND change.kind = 'inserted'
    ORDER BY staged.ordinal`;
}

/** All that was staged for dates without titles. Few identities stand there twice: only those are numbered. */
async function insertAll(
  tx: Prisma.TransactionClient,
  source: ChangeSource,
  dates: readonly CivilDate[],
): Promise<void> {
  await tx.$executeRaw`
    WITH repeated AS MATERIALIZED (
      SELECT accepted_date, identity_hash FROM conciliation.staged_title
      WHERE fence = ${source.fence} AND accepted_date = ANY(${dates}::date[])
      GROUP BY accepted_date, identity_hash HAVING count(*) > 1
    ), numbered AS MATERIALIZED (
      SELECT ordinal, row_number() OVER (PARTITION BY accepted_date, identity_hash
                                         ORDER BY content_hash, ordinal) AS occurrence
      FROM conciliation.staged_title JOIN repeated USING (accepted_date, identity_hash)
      WHERE fence = ${source.fence}
    )
    INSERT INTO conciliation.title (${insertedColumns})
    SELECT coalesce(numbered.occurrence, 1), ${stagedColumns}, staged.identity_hash,
           staged.content_hash, staged.raw_hash, nextval('conciliation.title_change_seq'),
           ${source.pullId}::bigint, ${source.pullId}::bigint
    FROM conciliation.staged_title staged LEFT JOIN numbered USING (ordinal)
    WHERE staged.fence = ${source.fence} AND staged.accepted_date = ANY(${dates}::date[])`;
}
