/**
 * Finds rows of a date that something other than a merge has changed. Every merge records, in the
 * append-only table `title_change`, the hash of each row that it leaves. A row whose columns do not have
 * their hashes, a row without a record, and a record without its row are alterations.
 */
import type { Database, Transaction } from '../database/database.ts';
import { isUnavailable } from '../database/database-error.ts';
import { HAS_OPEN_FINDINGS } from '../database/open-findings.sql.ts';
import {
  COMPUTED_IDENTITY_HASH,
  computedContentHash,
  ROW_HASH,
} from '../database/title-hashes.sql.ts';
import type { CivilDate } from '../domain/business-day.ts';
import { AMOUNT_COLUMNS, newestContentVersion } from '../domain/title.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { ShutdownError } from '../runtime/errors.ts';
import { hasOtherTotals } from '../schedule/schedule-totals.sql.ts';

/** See the comment of `title_finding.problem`. */
export type Problem =
  | 'content'
  | 'record'
  | 'unrecorded'
  | 'missing'
  | 'history'
  | 'day'
  | 'unchecked';

export interface Alteration {
  /** Null: the problem is the row of `day`, or the date cannot be checked. */
  readonly titleId: bigint | null;
  readonly problem: Problem;
}

export interface DateCheck {
  readonly date: CivilDate;
  readonly checkedAt: Date;
  /** Rows that were read, withdrawn titles included. */
  readonly titles: number;
  /** At most `MAX_ALTERATIONS` of the rows and of the history each, and those that a person has acknowledged. */
  readonly alterations: readonly Alteration[];
}

/** Further alterations of a date are found by the check that follows the repair of the first ones. */
const MAX_ALTERATIONS = 1_000;

/** The check reads all titles of the date, which may be millions. The database's statement_timeout is lifted. */
const TRANSACTION = {
  isolationLevel: 'RepeatableRead',
  timeout: 86_400_000,
  maxWait: 30_000,
} as const;

/**
 * Compares the rows of a date with the recorded hashes, the revisions and the row of `day`, in one snapshot.
 * Takes no lock and writes nothing.
 *
 * @throws ShutdownError when `signal` is aborted
 */
export async function checkDate(
  database: Database,
  date: CivilDate,
  signal: AbortSignal,
): Promise<DateCheck> {
  signal.throwIfAborted();
  let cancel = () => {};
  try {
    return await database.prisma.$transaction(async (tx) => {
      const [session] = await tx.$queryRaw<[{ pid: number; checkedAt: Date }]>`
        SELECT pg_backend_pid() AS pid, now() AS "checkedAt",
               set_config('statement_timeout', '0', true),
               set_config('enable_nestloop', 'off', true)`;
      cancel = () => {
        database.prisma.$queryRaw`SELECT pg_cancel_backend(${session.pid}::int)`.catch(() => {});
      };
      signal.addEventListener('abort', cancel, { once: true });
      const [{ titles }] = await tx.$queryRaw<[{ titles: number }]>`
        SELECT count(*)::int AS titles FROM conciliation.title WHERE accepted_date = ${date}::date`;
      const rows = await checkPart(tx, signal, () => readRowAlterations(tx, date));
      const altered = rows.flatMap(({ titleId }) => (titleId === null ? [] : [titleId]));
      const found = [
        ...rows,
        ...(await checkPart(tx, signal, () => readHistoryAlterations(tx, date, altered))),
        ...(await checkPart(tx, signal, () => readDayAlteration(tx, date, rows.length === 0))),
      ];
      const alterations = [
        ...found.filter(({ problem }) => problem !== 'unchecked'),
        ...(found.includes(UNCHECKED) ? [UNCHECKED] : []),
      ];
      return { date, checkedAt: session.checkedAt, titles, alterations };
    }, TRANSACTION);
  } catch (error) {
    if (signal.aborted) throw new ShutdownError('the check was interrupted', { cause: error });
    throw error;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

const UNCHECKED: Alteration = { titleId: null, problem: 'unchecked' };

/**
 * Makes one part of a check. A value with which the part fails is an alteration: it must not keep the other
 * parts and the other dates from being checked.
 */
export async function checkPart(
  tx: Transaction,
  signal: AbortSignal,
  part: () => Promise<Alteration[]>,
): Promise<Alteration[]> {
  signal.throwIfAborted();
  await tx.$executeRaw`SAVEPOINT part`;
  try {
    return await part();
  } catch (error) {
    if (signal.aborted || isUnavailable(error)) throw error;
    await tx.$executeRaw`ROLLBACK TO SAVEPOINT part`;
    return [UNCHECKED];
  }
}

/** The version of the content hashes of a date; of a date that the ledger lacks, the newest. */
export async function readContentVersion(tx: Transaction, date: CivilDate): Promise<number> {
  const day = await tx.day.findUnique({ where: { date }, select: { contentVersion: true } });
  return day?.contentVersion ?? newestContentVersion();
}

/** The ids of the pulls of a date, whose changes an index finds. */
export const pullsOf = (date: CivilDate) =>
  Prisma.sql`ANY(ARRAY(SELECT id FROM conciliation.pull WHERE date = ${date}::date))`;

/** Rows (title_id, row_hash): the newest record of each title that a pull of the date has changed. */
export function newestRecords(date: CivilDate): Prisma.Sql {
  return Prisma.sql`
    SELECT DISTINCT ON (title_id) title_id, row_hash FROM conciliation.title_change
    WHERE pull_id = ${pullsOf(date)} AND kind <> 'payment_released'
    ORDER BY title_id, change_seq DESC`;
}

/**
 * The rows of a date that differ from their columns' hashes or from the newest recorded hash, the rows
 * without a record, and the records without a row.
 */
async function readRowAlterations(tx: Transaction, date: CivilDate): Promise<Alteration[]> {
  const contentVersion = await readContentVersion(tx, date);
  return tx.$queryRaw<Alteration[]>(limited(date, rowAlterations(date, contentVersion)));
}

/**
 * The first of the rows (title_id, problem), and all those whose finding a person has acknowledged: they do not
 * take the place of another one.
 */
function limited(date: CivilDate, alterations: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    SELECT title_id AS "titleId", problem
    FROM (
      SELECT altered.title_id, altered.problem, known.id IS NOT NULL AS is_acknowledged,
             row_number() OVER (PARTITION BY known.id IS NULL ORDER BY altered.title_id) AS place
      FROM (${alterations}) AS altered
      LEFT JOIN conciliation.title_finding AS known
        ON known.date = ${date}::date AND known.closed_at IS NULL
           AND known.acknowledged_at IS NOT NULL
           AND known.title_id = altered.title_id AND known.problem = altered.problem
    ) AS placed
    WHERE is_acknowledged OR place <= ${MAX_ALTERATIONS}
    ORDER BY title_id`;
}

/** Rows (title_id, problem): see `readRowAlterations`. */
export function rowAlterations(date: CivilDate, contentVersion: number): Prisma.Sql {
  return Prisma.sql`
    WITH recorded AS (${newestRecords(date)}), present AS (
      SELECT id,
             erased_at IS NULL
               AND (content_hash <> ${computedContentHash(contentVersion)}
                    OR identity_hash <> ${COMPUTED_IDENTITY_HASH}) AS has_other_content,
             ${ROW_HASH} AS row_hash
      FROM conciliation.title WHERE accepted_date = ${date}::date
    )
    SELECT title_id, problem
    FROM (
      SELECT coalesce(present.id, recorded.title_id) AS title_id,
             CASE WHEN present.id IS NULL
                    THEN CASE WHEN recorded.row_hash IS NOT NULL THEN 'missing' END
                  WHEN recorded.title_id IS NULL THEN 'unrecorded'
                  WHEN has_other_content THEN 'content'
                  WHEN present.row_hash IS DISTINCT FROM recorded.row_hash THEN 'record' END AS problem
      FROM present FULL JOIN recorded ON recorded.title_id = present.id
    ) AS compared
    WHERE problem IS NOT NULL`;
}

/**
 * Titles whose revisions do not lead to the row. Each revision must have its change, and each change its
 * revision. The row, with the values before the newest revisions put over it, must have the content hash
 * that a revision recorded, and the values that the revision before wrote.
 *
 * The first change of a title is its insertion, by the pull that the row names, and its only one. A repair may
 * be the first to record a row that no merge inserted.
 *
 * Revisions that are older than a repair are compared with their changes only, because nothing recorded the
 * values that the alteration replaced. The same holds for titles of an erased party.
 *
 * @param altered titles whose rows are known to be altered
 */
async function readHistoryAlterations(
  tx: Transaction,
  date: CivilDate,
  altered: readonly bigint[],
): Promise<Alteration[]> {
  const contentVersion = await readContentVersion(tx, date);
  const broken = Prisma.sql`
    WITH revision AS MATERIALIZED (
      SELECT title_id, revision, kind, pull_id, before, after, content_hash
      FROM conciliation.title_revision WHERE pull_id = ${pullsOf(date)}
    ), change AS MATERIALIZED (
      SELECT title_id, kind, pull_id FROM conciliation.title_change
      WHERE pull_id = ${pullsOf(date)} AND kind <> 'inserted' AND row_hash IS NOT NULL
    ), arrival AS (
      SELECT DISTINCT ON (title_id) title_id, kind, pull_id,
             count(*) FILTER (WHERE kind = 'inserted') OVER (PARTITION BY title_id) AS insertions
      FROM conciliation.title_change WHERE pull_id = ${pullsOf(date)}
      ORDER BY title_id, change_seq
    ), repaired AS (
      SELECT title_id, max(revision) AS revision
      FROM revision JOIN conciliation.pull ON pull.id = revision.pull_id
      WHERE pull.origin = 'repair' GROUP BY title_id
    ), whole AS (
      SELECT title.*, revision.revision, revision.after AS written, revision.content_hash AS recorded_hash
      FROM revision
      JOIN conciliation.title title ON title.id = revision.title_id
      LEFT JOIN repaired ON repaired.title_id = revision.title_id
      WHERE title.accepted_date = ${date}::date AND title.erased_at IS NULL
        AND revision.revision >= coalesce(repaired.revision, 0)
    ), stepped AS (
      SELECT whole.id, whole.recorded_hash, whole.written, to_jsonb(whole) AS present,
             (SELECT coalesce(jsonb_object_agg(field.key, field.value ORDER BY later.revision DESC), '{}')
              FROM conciliation.title_revision AS later
              CROSS JOIN LATERAL jsonb_each(later.before) AS field
              WHERE later.title_id = whole.id AND later.revision >= whole.revision) AS before,
             (SELECT coalesce(jsonb_object_agg(field.key, field.value ORDER BY later.revision DESC), '{}')
              FROM conciliation.title_revision AS later
              CROSS JOIN LATERAL jsonb_each(later.before) AS field
              WHERE later.title_id = whole.id AND later.revision > whole.revision) AS after
      FROM whole
    ), broken AS (
      SELECT stepped.id AS title_id
      FROM stepped
      CROSS JOIN LATERAL jsonb_populate_record(NULL::conciliation.title, present || before) AS earlier
      CROSS JOIN LATERAL (
        SELECT ${computedContentHash(contentVersion)} AS content_hash FROM (SELECT earlier.*) AS title
      ) AS computed
      WHERE computed.content_hash <> stepped.recorded_hash
         OR NOT (present || after) @> written
      UNION
      SELECT coalesce(revision.title_id, change.title_id)
      FROM revision FULL JOIN change USING (title_id, pull_id, kind)
      WHERE revision.title_id IS NULL OR change.title_id IS NULL
      UNION
      SELECT arrival.title_id
      FROM arrival
      JOIN conciliation.pull ON pull.id = arrival.pull_id
      LEFT JOIN conciliation.title title ON title.id = arrival.title_id
      WHERE insertions > 1
         OR CASE arrival.kind WHEN 'inserted' THEN title.first_pull_id <> arrival.pull_id
                              ELSE pull.origin <> 'repair' END
    )
    SELECT title_id, 'history' AS problem FROM broken
    WHERE title_id <> ALL(${altered}::bigint[])`;
  return tx.$queryRaw<Alteration[]>(limited(date, broken));
}

const totals = Prisma.raw(
  AMOUNT_COLUMNS.map(
    (column) => `coalesce(sum(${column}) FILTER (WHERE status = 'current'), 0) AS ${column}_sum`,
  ).join(', '),
);
const sumNames = (table: string) =>
  Prisma.raw(AMOUNT_COLUMNS.map((column) => `${table}.${column}_sum`).join(', '));

/**
 * A row (title_id, problem) for the row of `day` whose counts, sums, latest due date or digest are not those of the titles, whose titles are
 * not as many as the newest merged answer had, which is reconciled although something waits for a person, or whose
 * newest merge or seal is not that of `pull` or `sign_off`.
 */
export const dayAlteration = (date: CivilDate) => Prisma.sql`
    WITH present AS (
      SELECT count(*) FILTER (WHERE status = 'current') AS title_count,
             count(*) FILTER (WHERE status = 'withdrawn') AS withdrawn_count, ${totals},
             max(anticipated_due_date) FILTER (WHERE status = 'current') AS latest_due_date
      FROM conciliation.title WHERE accepted_date = ${date}::date
    ), content AS (
      SELECT encode(sha256(coalesce(string_agg(uuid_send(content_hash), '' ORDER BY content_hash), '')), 'hex')
               AS digest
      FROM conciliation.title WHERE accepted_date = ${date}::date AND status = 'current'
    ), reject AS (
      SELECT count(*) AS rejected_count, count(*) FILTER (WHERE status = 'open') AS open
      FROM conciliation.rejected_title WHERE date = ${date}::date AND status <> 'resolved'
    ), answer AS (
      SELECT max(fence) FILTER (WHERE state IN ('merged', 'unchanged')) AS merged_fence,
             count(*) FILTER (WHERE state = 'held') AS held
      FROM conciliation.pull WHERE date = ${date}::date
    )
    SELECT NULL::bigint AS title_id, 'day' AS problem
    FROM conciliation.day AS day
    CROSS JOIN present CROSS JOIN content CROSS JOIN reject CROSS JOIN answer
    LEFT JOIN conciliation.pull AS merged ON merged.id = day.last_pull_id
    LEFT JOIN conciliation.sign_off AS seal ON seal.date = day.date AND seal.ended_at IS NULL
    WHERE day.date = ${date}::date
      AND ((day.title_count, day.withdrawn_count, day.rejected_count, day.latest_due_date, ${sumNames('day')})
             IS DISTINCT FROM
           (present.title_count, present.withdrawn_count, reject.rejected_count, present.latest_due_date, ${sumNames('present')})
           OR day.content_digest <> content.digest
           OR (day.content_digest IS NULL AND present.title_count + present.withdrawn_count > 0)
           OR present.title_count <> merged.fold_count + merged.withheld
           OR merged.fence IS DISTINCT FROM answer.merged_fence
           OR (day.state = 'reconciled'
               AND (answer.held + reject.open > 0 OR ${HAS_OPEN_FINDINGS}))
           OR (day.signed_off_at, day.signed_off_by, day.signed_off_digest)
                IS DISTINCT FROM (seal.signed_off_at, seal.signed_off_by, seal.content_digest)
           OR (day.content_digest <> seal.content_digest AND NOT day.restated_after_sign_off))
    LIMIT 1`;

/** @param areTitlesIntact whether the titles are those of the merges; otherwise their totals are not compared */
function readDayAlteration(
  tx: Transaction,
  date: CivilDate,
  areTitlesIntact: boolean,
): Promise<Alteration[]> {
  const differing = Prisma.sql`
    (${dayAlteration(date)})
    UNION SELECT NULL, 'day' WHERE ${areTitlesIntact}::boolean AND ${hasOtherTotals(date)}`;
  return tx.$queryRaw<Alteration[]>`
    SELECT title_id AS "titleId", problem FROM (${differing}) AS altered`;
}
