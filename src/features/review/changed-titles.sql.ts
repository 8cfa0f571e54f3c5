import { type Static, Type } from 'typebox';
import type { Database } from '../../base/database/database.ts';
import type { Snapshot } from '../../base/export/snapshot.sql.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import {
  amount,
  ChangedField,
  count,
  each,
  id,
  instant,
  orNull,
  words,
} from '../../console/api/schema-parts.ts';
import { DESTINATION_FIELDS } from '../../core/title/promoted-fields.ts';
import { AMOUNT_COLUMNS, VALUE_COLUMNS } from '../../core/title/title.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { IS_ACCOUNT } from '../fields/promoted-fields.sql.ts';

/** The ids of the pulls of a date, whose changes an index finds. */
const pullsOf = (date: CivilDate) =>
  Prisma.sql`ANY(ARRAY(SELECT id FROM conciliation.pull WHERE date = ${date}::date))`;

/**
 * Rows (title_id, pull_id): the revisions of a date that gave an altered row back the content and the status that the
 * change before had left. Their `before` has the altered values, which no merge wrote.
 */
const undoneAlterations = (date: CivilDate): Prisma.Sql => Prisma.sql`
  SELECT title_id, pull_id
  FROM (
    SELECT title_id, pull_id,
           content_hash = lag(content_hash) OVER earlier
             AND (kind = 'withdrawn') = (lag(kind) OVER earlier = 'withdrawn') AS is_same
    FROM conciliation.title_change
    WHERE pull_id = ${pullsOf(date)} AND kind <> 'payment_decided'
      AND title_id = ANY(ARRAY(SELECT title_id FROM conciliation.title_revision
                               WHERE pull_id = ${pullsOf(date)}))
    WINDOW earlier AS (PARTITION BY title_id ORDER BY change_seq)
  ) AS change
  WHERE is_same`;

/**
 * Rows (title_id, fields): the fields in which the titles of a date were other ones after the fetch with a fence, as the
 * oldest later revision of each field has them.
 */
const earlierFields = (date: CivilDate, fence: bigint): Prisma.Sql => Prisma.sql`
  SELECT title_id, jsonb_object_agg(field, value) AS fields
  FROM (
    SELECT DISTINCT ON (title_id, field) title_id, field, value
    FROM conciliation.pull AS later
    JOIN conciliation.title_revision AS revision ON revision.pull_id = later.id
    CROSS JOIN LATERAL jsonb_each(
      revision.before || jsonb_build_object('content_hash', revision.content_hash)
    ) AS changed (field, value)
    WHERE later.date = ${date}::date AND later.fence > ${fence}::bigint
      AND (revision.title_id, revision.pull_id) NOT IN (${undoneAlterations(date)})
    ORDER BY title_id, field, revision.revision
  ) AS oldest GROUP BY title_id`;

/**
 * FROM and WHERE of a query: the titles of a date as they were after the fetch with a fence, as rows `past`, with
 * their present rows `title`. docs/data-dictionary.md explains the query.
 */
export const pastTitles = (date: CivilDate, fence: bigint): Prisma.Sql => Prisma.sql`
  FROM conciliation.title AS title
  JOIN conciliation.pull AS arrival ON arrival.id = title.first_pull_id
  LEFT JOIN (${earlierFields(date, fence)}) AS earlier ON earlier.title_id = title.id
  CROSS JOIN LATERAL jsonb_populate_record(title, coalesce(earlier.fields, '{}')) AS past
  WHERE title.accepted_date = ${date}::date AND arrival.fence <= ${fence}::bigint AND past.status = 'current'`;

/**
 * An array of `ChangedField`: where the content of a title of a date as `jsonb` differs from that of the same title, or
 * of some of its fields, before. Of `extra`, the fields that name a destination and the promoted fields are content.
 * @param comparedAs `::text`: also where only the digits of a number differ
 */
export const differingFields = (
  before: Prisma.Sql,
  after: Prisma.Sql,
  date: Prisma.Sql,
  comparedAs = Prisma.empty,
): Prisma.Sql => Prisma.sql`
  (SELECT coalesce(jsonb_agg(jsonb_build_object(
            -- #>> keeps every digit of a number; a JavaScript number does not.
            'column', name, 'isAccount', is_account, 'before', old #>> '{}', 'after', new #>> '{}') ORDER BY name), '[]')
   FROM (
     SELECT name, false AS is_account, value AS old, ${after} -> name AS new
     FROM jsonb_each(${before}) AS field (name, value) WHERE name = ANY(${[...VALUE_COLUMNS]}::text[])
     UNION ALL
     SELECT name, is_account, nullif(${before} -> 'extra' #> path, 'null'), nullif(${after} -> 'extra' #> path, 'null')
     FROM (
       SELECT name, path, true AS is_account
       FROM jsonb_to_recordset(${JSON.stringify(DESTINATION_FIELDS)}::jsonb) AS destination (name text, path text[])
       UNION ALL
       SELECT name, path, ${IS_ACCOUNT}
       FROM conciliation.day AS own CROSS JOIN LATERAL conciliation.promoted_fields(own.content_version)
       WHERE own.date = ${date}
     ) AS content
     WHERE jsonb_exists(${before}, 'extra')
   ) AS stated
   WHERE old${comparedAs} IS DISTINCT FROM new${comparedAs})`;

/** A first pull has only new titles, and another page lists the titles of a day. */
const NEW_TITLES_LISTED = 10;

export const CHANGE_KINDS = ['changed', 'withdrawn', 'restored', 'inserted'] as const;

/** The number of rows of each `kind`, as `ChangedTitles.counts`. */
export const KIND_COUNTS = Prisma.sql`
  jsonb_build_object('changed', count(*) FILTER (WHERE kind = 'changed'),
                     'withdrawn', count(*) FILTER (WHERE kind = 'withdrawn'),
                     'restored', count(*) FILTER (WHERE kind = 'restored'),
                     'inserted', count(*) FILTER (WHERE kind = 'inserted'))`;

/**
 * The difference of one title of a date from its state at an earlier fetch. A title that replaced a withdrawn one
 * (`title_succession`) is one changed title, with the fields in which the two differ.
 */
const ChangedTitle = Type.Object({
  titleId: id,
  orderUid: Type.String(),
  occurrence: id,
  kind: words(CHANGE_KINDS),
  fields: Type.Array(ChangedField, {
    description:
      'The differing columns of `title`, members of accounts and named fields with the old and the new value, except `status`.',
  }),
  originalValue: amount,
  pullId: Type.Integer({ minimum: 1, description: 'The newest pull that changed it.' }),
  changedAt: instant,
});
export type ChangedTitle = Readonly<Static<typeof ChangedTitle>>;

/** A change of a title, made or planned. */
export type TitleChange = Pick<ChangedTitle, 'orderUid' | 'kind' | 'fields' | 'originalValue'> & {
  /** Null: the title is not merged yet. */
  readonly titleId: number | null;
  /** Null: planned. */
  readonly pullId: number | null;
};

const changesOf = {
  count,
  counts: each(CHANGE_KINDS, count),
  titles: Type.Array(ChangedTitle, {
    description:
      'At most as many as `count`: the new titles come last, and only a few of them are listed.',
  }),
};

export interface ChangedTitles<Shown extends TitleChange = ChangedTitle> {
  readonly count: number;
  readonly counts: Readonly<Record<ChangedTitle['kind'], number>>;
  readonly titles: Shown[];
}

/**
 * Returns the changes of a date since a fetch, by title: the present state compared with the state
 * before the first later change. A title that changed and changed back is not included. Compares
 * fences and not times: the time of a merge is that of its start, and the merge may have waited for
 * the very transaction with which it is compared.
 * @param fence the fence of the fetch to compare with; changes with a greater fence count
 */
export async function readChangedTitles(
  database: Database,
  date: CivilDate,
  fence: bigint,
  limit: number,
): Promise<ChangedTitles> {
  const rows = await database.prisma.$queryRaw<(ChangedTitle & Pick<ChangedTitles, 'counts'>)[]>(
    changesQuery(date, fence, { limit, newTitles: Math.min(limit, NEW_TITLES_LISTED) }),
  );
  const { counts } = rows[0] ?? NOTHING;
  const titles = rows.map(({ counts: _, ...title }) => title);
  const count = Object.values(counts).reduce((sum, of) => sum + of, 0);
  return { count, counts, titles };
}

/**
 * Selects the changes of a date since a fetch, see `readChangedTitles`. Each row has all counts.
 * @param limits the most rows, and the most new titles among them; null: all
 */
function changesQuery(
  date: CivilDate,
  fence: bigint,
  limits: { readonly limit: number | null; readonly newTitles: number | null },
): Prisma.Sql {
  return Prisma.sql`
    WITH RECURSIVE later AS MATERIALIZED (
      SELECT id, inserted FROM conciliation.pull
      WHERE date = ${date}::date AND state = 'merged' AND fence > ${fence}
    ), arrival AS MATERIALIZED (
      SELECT id FROM later WHERE inserted > 0
    ), compared AS (
      SELECT title.id, order_uid, occurrence, status, original_value, last_change_pull_id, changed_at,
             coalesce(earlier.fields ->> 'status', status) AS old_status,
             ${differingFields(Prisma.sql`earlier.fields`, Prisma.sql`to_jsonb(title)`, Prisma.sql`accepted_date`)} AS fields,
             to_jsonb(title) || earlier.fields AS row_then
      FROM (${earlierFields(date, fence)}) AS earlier JOIN conciliation.title AS title ON title.id = title_id
      WHERE accepted_date = ${date}::date AND NOT first_pull_id = ANY(SELECT id FROM later)
    ), different AS (
      SELECT id, order_uid, occurrence, original_value, last_change_pull_id, changed_at, fields, row_then,
             CASE WHEN old_status = status THEN 'changed'
                  WHEN status = 'withdrawn' THEN 'withdrawn' ELSE 'restored' END AS kind
      FROM compared
      WHERE old_status <> status OR (status = 'current' AND fields <> '[]')
    ), arrived AS (
      SELECT id, order_uid, occurrence, original_value, last_change_pull_id, changed_at
      FROM conciliation.title
      WHERE accepted_date = ${date}::date AND status = 'current'
        AND EXISTS (SELECT FROM arrival) AND first_pull_id = ANY(SELECT id FROM arrival)
    ), link AS MATERIALIZED (
      SELECT title_id, predecessor_id, pull_id FROM conciliation.title_succession
      WHERE accepted_date = ${date}::date AND pull_id = ANY(SELECT id FROM arrival)
    ), predecessor AS (
      SELECT link.title_id, link.predecessor_id, link.pull_id
      FROM link WHERE title_id IN (SELECT id FROM arrived)
      UNION
      SELECT predecessor.title_id, link.predecessor_id, predecessor.pull_id
      FROM predecessor JOIN link ON link.title_id = predecessor.predecessor_id
    ), replacement AS (
      SELECT DISTINCT ON (different.id) predecessor.title_id, different.id AS replaced_id, row_then
      FROM predecessor JOIN different ON different.id = predecessor_id AND kind = 'withdrawn'
      ORDER BY different.id, predecessor.pull_id DESC
    ), moved AS (
      SELECT id, order_uid, occurrence, original_value, last_change_pull_id, changed_at, fields, kind
      FROM different WHERE id NOT IN (SELECT replaced_id FROM replacement)
      UNION ALL
      SELECT arrived.*, ${differingFields(Prisma.sql`row_then`, Prisma.sql`to_jsonb(title)`, Prisma.sql`accepted_date`)}, 'changed'
      FROM replacement JOIN arrived ON arrived.id = title_id
      JOIN conciliation.title AS title ON title.id = title_id
    ), fresh AS (
      SELECT * FROM arrived WHERE id NOT IN (SELECT title_id FROM replacement)
    ), listed AS (
      SELECT *, '[]'::jsonb AS no_fields FROM fresh
      ORDER BY order_uid COLLATE "C", occurrence, id LIMIT ${limits.newTitles}::int
    ), counted AS (
      SELECT ${KIND_COUNTS} AS counts
      FROM (SELECT kind FROM moved UNION ALL SELECT 'inserted' FROM fresh) AS change
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
             order_uid COLLATE "C", occurrence, shown.id LIMIT ${limits.limit}::int`;
}

/** The changes since the seal of a date, or without a seal those of its newest change. */
export const DayChanges = Type.Object({
  since: words(['sign_off', 'last_change']),
  pullId: orNull('integer', {
    description:
      'The pull that made the newest change; null: compared with the seal, or the date never changed.',
  }),
  ...changesOf,
});
export type DayChanges = Readonly<Static<typeof DayChanges>>;

const NOTHING = {
  count: 0,
  counts: { changed: 0, withdrawn: 0, restored: 0, inserted: 0 },
  titles: [],
} satisfies ChangedTitles;

export async function readDayChanges(
  database: Database,
  date: CivilDate,
  limit: number,
): Promise<DayChanges> {
  const since = (fence: bigint) => readChangedTitles(database, date, fence, limit);
  const where = { date };
  const seal = await database.prisma.signOff.findFirst({ where: { ...where, endedAt: null } });
  if (seal !== null) {
    return { since: 'sign_off', pullId: null, ...(await since(seal.fence)) };
  }
  const [last, before] = await database.prisma.pull.findMany({
    where: { ...where, state: 'merged' },
    orderBy: { fence: 'desc' },
    take: 2,
  });
  // A first pull has only new titles, and another page lists them.
  const moved =
    last === undefined || before === undefined
      ? {
          ...NOTHING,
          count: last?.inserted ?? 0,
          counts: { ...NOTHING.counts, inserted: last?.inserted ?? 0 },
        }
      : await since((last.fence ?? 0n) - 1n);
  return { since: 'last_change', pullId: last === undefined ? null : Number(last.id), ...moved };
}

/** The columns that a day and its seal have in common. */
export const SEALED_MEASURES = [
  'title_count',
  'withdrawn_count',
  'rejected_count',
  ...AMOUNT_COLUMNS.map((column) => `${column}_sum` as const),
] as const;

/** The differing titles of a day. Can be read once. */
export type ChangedRows = AsyncGenerator<readonly (ChangedTitle & { readonly date: CivilDate })[]>;

/** Reads the differing titles of a day since a fence, the new ones too. */
export async function* readMoved(snapshot: Snapshot, date: CivilDate, fence: bigint): ChangedRows {
  const { text, values } = changesQuery(date, fence, { limit: null, newTitles: null });
  for await (const rows of snapshot.read<ChangedTitle>(text, values)) {
    yield rows.map((row) => ({ ...row, date }));
  }
}
