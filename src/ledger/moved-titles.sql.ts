import type { Database, Transaction } from '../database/database.ts';
import type { CivilDate } from '../domain/business-day.ts';

/** A first pull brings nothing but new titles, and a list of a day's titles is had elsewhere. */
const NEW_TITLES_LISTED = 10;

/** How one title of a date differs from what it was at an earlier fetch. */
interface MovedTitle {
  readonly titleId: number;
  readonly orderUid: string;
  readonly occurrence: number;
  readonly kind: 'inserted' | 'changed' | 'withdrawn' | 'restored';
  /** Columns of `title` that differ, as they were and as they are; `status` aside. */
  readonly fields: readonly MovedField[];
  /** What the date counts of it now and counted of it then. Decimal text; null: was not counted. */
  readonly originalValue: string;
  /** The newest pull that moved it. */
  readonly pullId: number;
  readonly changedAt: Date;
}

/** Values as PostgreSQL writes them into jsonb, amounts as exact decimal text; null: not stated. */
export interface MovedField {
  readonly column: string;
  readonly before: string | null;
  readonly after: string | null;
}

export interface MovedTitles {
  /** All of them; `titles` may hold fewer, what is new last and only a few of it. */
  readonly count: number;
  readonly counts: Readonly<Record<MovedTitle['kind'], number>>;
  readonly titles: readonly MovedTitle[];
}

/**
 * What moved in a date since a fetch, title by title: the state before the first change after it
 * against the state now, so that what went away and came back as it was does not show.
 *
 * By fence and not by time: a merge's time is that of its start, and it may have waited for the very
 * transaction that it is compared with.
 *
 * @param fence of the fetch that the date is compared with; changes of later ones count
 */
export async function readMovedTitles(
  database: Database,
  date: CivilDate,
  fence: bigint,
  limit: number,
): Promise<MovedTitles> {
  const rows = await queryMoved(database.prisma, date, fence, limit);
  const { changed = 0, withdrawn = 0, restored = 0, inserted = 0 } = rows[0] ?? {};
  return {
    count: changed + withdrawn + restored + inserted,
    counts: { changed, withdrawn, restored, inserted },
    titles: rows.map(toTitle),
  };
}

type Counts = Readonly<Record<MovedTitle['kind'], number>>;

function toTitle(row: MovedTitle & Counts): MovedTitle {
  const { titleId, orderUid, occurrence, kind, fields, originalValue, pullId, changedAt } = row;
  return { titleId, orderUid, occurrence, kind, fields, originalValue, pullId, changedAt };
}

function queryMoved(
  client: Pick<Transaction, '$queryRaw'>,
  date: CivilDate,
  fence: bigint,
  limit: number,
): Promise<(MovedTitle & Counts)[]> {
  // `->>` on jsonb keeps every digit of a number; a number that JavaScript reads does not.
  return client.$queryRaw<(MovedTitle & Counts)[]>`
    WITH later AS MATERIALIZED (
      SELECT id, inserted FROM conciliation.pull
      WHERE date = ${date}::date AND state = 'merged' AND fence > ${fence}
    ), arrival AS MATERIALIZED (
      SELECT id FROM later WHERE inserted > 0
    ), revised AS (
      SELECT title.id,
             array_agg(revision.before ORDER BY revision.revision) AS befores
      FROM later
      JOIN conciliation.title_revision revision ON revision.pull_id = later.id
      JOIN conciliation.title title ON title.id = revision.title_id
      WHERE title.accepted_date = ${date}::date
        AND NOT title.first_pull_id = ANY(SELECT id FROM later)
      GROUP BY title.id
    ), compared AS (
      SELECT title.id, title.order_uid, title.occurrence, title.status, title.original_value,
             title.last_change_pull_id, title.changed_at,
             coalesce(old.status, title.status) AS old_status, old.fields
      FROM revised JOIN conciliation.title title USING (id)
      CROSS JOIN LATERAL (
        SELECT max(first.value #>> '{}') FILTER (WHERE first.key = 'status') AS status,
               coalesce(jsonb_agg(jsonb_build_object(
                 'column', first.key, 'before', first.value #>> '{}',
                 'after', to_jsonb(title) ->> first.key) ORDER BY first.key)
                 FILTER (WHERE first.key <> 'status'
                           AND first.value IS DISTINCT FROM to_jsonb(title) -> first.key), '[]') AS fields
        FROM (
          SELECT DISTINCT ON (field.key) field.key, field.value
          FROM unnest(revised.befores) WITH ORDINALITY AS step (before, number)
          CROSS JOIN LATERAL jsonb_each(step.before) AS field (key, value)
          ORDER BY field.key, step.number
        ) AS first
      ) AS old
    ), moved AS (
      SELECT id, order_uid, occurrence, original_value, last_change_pull_id, changed_at, fields,
             CASE WHEN old_status = status THEN 'changed'
                  WHEN status = 'withdrawn' THEN 'withdrawn' ELSE 'restored' END AS kind
      FROM compared
      WHERE old_status <> status OR (status = 'current' AND fields <> '[]')
    ), fresh AS (
      SELECT id, order_uid, occurrence, original_value, last_change_pull_id, changed_at
      FROM conciliation.title
      WHERE accepted_date = ${date}::date AND status = 'current'
        AND EXISTS (SELECT FROM arrival) AND first_pull_id = ANY(SELECT id FROM arrival)
    ), listed AS (
      SELECT *, '[]'::jsonb AS no_fields FROM fresh
      ORDER BY order_uid COLLATE "C", occurrence, id LIMIT ${Math.min(limit, NEW_TITLES_LISTED)}
    ), counted AS (
      SELECT (SELECT count(*) FROM moved WHERE kind = 'changed')::int AS changed,
             (SELECT count(*) FROM moved WHERE kind = 'withdrawn')::int AS withdrawn,
             (SELECT count(*) FROM moved WHERE kind = 'restored')::int AS restored,
             (SELECT count(*) FROM fresh)::int AS inserted
    ), shown AS (
      SELECT * FROM moved
      UNION ALL
      SELECT id, order_uid, occurrence, original_value, last_change_pull_id, changed_at, no_fields,
             'inserted'
      FROM listed
    )
    SELECT counted.*, shown.id::float8 AS "titleId", order_uid AS "orderUid", occurrence,
           kind, fields, original_value::text AS "originalValue",
           last_change_pull_id::float8 AS "pullId", changed_at AS "changedAt"
    FROM shown, counted
    ORDER BY array_position('{changed,withdrawn,restored,inserted}'::text[], kind),
             order_uid COLLATE "C", occurrence, shown.id LIMIT ${limit}`;
}

/** The fence of the seal that lasts on a date; null where there is none. */
export async function readSealFence(database: Database, date: CivilDate): Promise<bigint | null> {
  const seal = await database.prisma.signOff.findFirst({
    where: { date, endedAt: null },
    select: { fence: true },
  });
  return seal?.fence ?? null;
}

/** The fence before the newest pull that changed the date, so that what this one changed shows. */
export async function readFenceBeforeLastChange(
  database: Database,
  date: CivilDate,
): Promise<{ readonly fence: bigint; readonly pullId: bigint } | null> {
  const pull = await database.prisma.pull.findFirst({
    where: { date, state: 'merged' },
    orderBy: { fence: 'desc' },
    select: { id: true, fence: true },
  });
  return pull?.fence ? { fence: pull.fence - 1n, pullId: pull.id } : null;
}

/** What a date's page shows of its changes: against its seal where there is one, else its newest change. */
export interface DayChanges {
  readonly since: 'sign_off' | 'last_change';
  /** The pull that made the newest change; null: compared with the seal, or nothing ever changed. */
  readonly pullId: number | null;
  readonly moved: MovedTitles;
}

export async function readDayChanges(
  database: Database,
  date: CivilDate,
  limit: number,
): Promise<DayChanges> {
  const seal = await readSealFence(database, date);
  if (seal !== null) {
    const moved = await readMovedTitles(database, date, seal, limit);
    return { since: 'sign_off', pullId: null, moved };
  }
  const last = await readFenceBeforeLastChange(database, date);
  return {
    since: 'last_change',
    pullId: last === null ? null : Number(last.pullId),
    moved:
      last === null
        ? { count: 0, counts: { changed: 0, withdrawn: 0, restored: 0, inserted: 0 }, titles: [] }
        : await readMovedTitles(database, date, last.fence, limit),
  };
}
