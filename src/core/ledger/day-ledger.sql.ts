import type { Transaction } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { AMOUNT_COLUMNS, type TitleFold } from '../title/title.ts';
import { CONTENT_DIGEST, ROW_DIGEST } from '../title/title-hashes.sql.ts';
import type { DayState } from './states.ts';

/**
 * Returns the state after a response was merged into the day.
 * @param day.wasClosed whether the date was over when the request was sent; a response to an
 * earlier request may lack titles of the rest of the date
 */
export function stateAfterMerge(day: {
  readonly wasClosed: boolean;
  readonly openRejects: number;
  /** Of the severity `review`. */
  readonly hasOpenFindings: boolean;
}): DayState {
  if (day.openRejects > 0 || day.hasOpenFindings) return 'attention';
  return day.wasClosed ? 'reconciled' : 'pending';
}

/** The row of a day, and what is staged under the fence of a response for it, as a merge reads them under its lock. */
export interface LockedDay {
  readonly date: CivilDate;
  readonly state: DayState;
  readonly titleCount: number;
  readonly withdrawnCount: number;
  /** Whether `title` has rows of the date, current or withdrawn. */
  readonly hasTitles: boolean;
  /** Rejects of the date that are open or accepted. */
  readonly rejected: number;
  /** Whether a person has to resolve a finding of the checks. */
  readonly hasOpenFindings: boolean;
  readonly contentVersion: number;
  /** Whether a digest of the date was ever computed. */
  readonly hasDigest: boolean;
  /** Fence of the newest fetch merged into the date; null: there was none. */
  readonly mergedFence: bigint | null;
  readonly heldPullId: bigint | null;
  /** Fence of the fetch that waits for a person; null: none waits. */
  readonly heldFence: bigint | null;
  readonly stagedTitles: number;
  readonly stagedRejects: number;
  /** Titles that were known, of `staged_base`; null: it has no row. */
  readonly knownTitles: number | null;
  /** Whether the date was changed since the titles of `staged_base` were read. */
  readonly isStale: boolean;
}

const sums = Prisma.raw(
  AMOUNT_COLUMNS.map(
    (name) => `coalesce(sum(${name}) FILTER (WHERE status = 'current'), 0) AS ${name}_sum`,
  ).join(', '),
);
const setSums = Prisma.raw(
  AMOUNT_COLUMNS.map((name) => `${name}_sum = fresh.${name}_sum`).join(', '),
);

/**
 * One row with the columns of `day` that follow from its titles `rows`. The digest is SHA-256 over the sorted content
 * hashes. It is equal exactly for equal multisets, and one line of SQL can verify it.
 */
export const titleTotals = (rows: Prisma.Sql): Prisma.Sql => Prisma.sql`
  -- The hashes are sorted separately: sorting them together with the amounts takes twice as long.
  SELECT total.*, content.content_digest
  FROM (
    SELECT count(*) FILTER (WHERE status = 'current') AS title_count,
           count(*) FILTER (WHERE status = 'withdrawn') AS withdrawn_count, ${sums},
           max(anticipated_due_date) FILTER (WHERE status = 'current') AS latest_due_date
    FROM ${rows}
  ) AS total, (SELECT ${CONTENT_DIGEST} AS content_digest FROM ${rows} WHERE status = 'current') AS content`;

/**
 * Common table expressions that create the row of a date if it is missing, and lock it. This lock serialises merges,
 * releases and sign-offs of one date. `present` is executed, and locks, because `created` reads it.
 * @param condition on which the row is locked
 */
export const dayLock = (date: CivilDate, condition: Prisma.Sql): Prisma.Sql => Prisma.sql`
  present AS MATERIALIZED (
    SELECT FROM conciliation.day WHERE date = ${date}::date AND ${condition} FOR UPDATE
  ), created AS (
    INSERT INTO conciliation.day (date) SELECT ${date}::date WHERE NOT EXISTS (SELECT FROM present) AND ${condition}
    -- Another transaction has created the row meanwhile: waits for it, and locks the row.
    ON CONFLICT (date) DO UPDATE SET date = excluded.date
  )`;

/**
 * Locks the row of a date. Only a later statement sees the changes of the transaction that this one waited for.
 */
export async function lockDay(tx: Transaction, date: CivilDate): Promise<void> {
  await tx.$executeRaw`WITH ${dayLock(date, Prisma.sql`true`)} SELECT`;
}

/** Reads the row of a day, and the staged rows of a response for it. */
export async function readDay(tx: Transaction, date: CivilDate, fence: bigint): Promise<LockedDay> {
  const [day] = await tx.$queryRaw<[LockedDay]>`
    SELECT day.date::text AS date, day.state, day.title_count AS "titleCount",
           day.withdrawn_count AS "withdrawnCount",
           EXISTS (SELECT FROM conciliation.title WHERE accepted_date = day.date) AS "hasTitles",
           day.content_version AS "contentVersion", day.rejected_count AS rejected, ${HAS_OPEN_FINDINGS} AS "hasOpenFindings", day.content_digest IS NOT NULL AS "hasDigest",
           merged.fence AS "mergedFence", day.held_pull_id AS "heldPullId", held.fence AS "heldFence",
           (SELECT count(*) FROM conciliation.staged_title WHERE fence = ${fence})::int AS "stagedTitles",
           (SELECT count(*) FROM conciliation.staged_reject WHERE fence = ${fence})::int AS "stagedRejects",
           base.known AS "knownTitles", base.fence IS NOT NULL AND base_changed_at IS DISTINCT FROM day.changed_at AS "isStale"
    FROM conciliation.day day
    LEFT JOIN conciliation.pull merged ON merged.id = day.last_pull_id
    LEFT JOIN conciliation.pull held ON held.id = day.held_pull_id
    LEFT JOIN conciliation.staged_base AS base ON base.fence = ${fence}
    WHERE day.date = ${date}::date`;
  return day;
}

/** The result of a merge. */
export interface MergedDay {
  readonly date: CivilDate;
  readonly pullId: bigint;
  readonly state: DayState;
  /** Of the response, for sweeps to compare with; null: the row has it already. */
  readonly fold: TitleFold | null;
}

const settledColumns = (day: MergedDay) => Prisma.sql`
    state = ${day.state}, last_pull_id = ${day.pullId}, held_pull_id = NULL, verified_at = now(),
    rejected_count = (SELECT count(*) FROM conciliation.rejected_title
                      WHERE date = ${day.date}::date AND status <> 'resolved'),
    fold_count = coalesce(${day.fold?.count ?? null}::int, fold_count),
    fold_sum = coalesce(${day.fold?.toText() ?? null}, fold_sum)`;

/** Records a merge that left the titles of its date as they were. */
export async function setVerifiedDay(tx: Transaction, day: MergedDay): Promise<void> {
  const settled = settledColumns(day);
  await tx.$executeRaw`
    UPDATE conciliation.day SET ${settled} WHERE date = ${day.date}::date`;
}

/**
 * Common table expressions that record a merge: count, sums and digest of the date are those of the rows `written`,
 * and the seal is that of `sign_off`.
 */
export const mergedDay = (day: MergedDay): Prisma.Sql => {
  const settled = settledColumns(day);
  return Prisma.sql`
    fresh AS MATERIALIZED (${titleTotals(Prisma.sql`written`)}
    ), seal AS (
      SELECT signed_off_at, signed_off_by, content_digest FROM conciliation.sign_off
      WHERE date = ${day.date}::date AND ended_at IS NULL
    ), settled AS (
      UPDATE conciliation.day day
      SET ${settled}, title_count = fresh.title_count, withdrawn_count = fresh.withdrawn_count, ${setSums},
          content_digest = fresh.content_digest, latest_due_date = fresh.latest_due_date, changed_at = now(),
          signed_off_at = seal.signed_off_at, signed_off_by = seal.signed_off_by,
          signed_off_digest = seal.content_digest
      FROM fresh LEFT JOIN seal ON true
      WHERE day.date = ${day.date}::date
    )`;
};

/**
 * The statement that advances the checkpoint over every reconciled date that follows it without a gap. The checkpoint
 * never moves back. The caller holds the lock of the closing phase, so that of two merges that
 * close neighbouring gaps the second one sees the first.
 * @param pullId stored as the pull that advanced it; null: a person did
 */
export const checkpointAdvance = (pullId: bigint | null): Prisma.Sql => Prisma.sql`
    WITH next AS (
      SELECT coalesce(last_reconciled_date + 1, start_date) AS date FROM conciliation.checkpoint
    ), run AS (
      SELECT day.date, next.date + (row_number() OVER (ORDER BY day.date))::int - 1 AS expected
      FROM conciliation.day day, next
      WHERE day.date >= next.date AND day.state = 'reconciled'
    )
    UPDATE conciliation.checkpoint
    SET last_reconciled_date = reached.date, updated_at = now(), pull_id = ${pullId}
    FROM (SELECT max(date) AS date FROM run WHERE date = expected) AS reached
    WHERE reached.date IS NOT NULL`;

/** True for a row `finding` of `check_finding` that keeps its day in attention until a person resolves it. */
export const IS_OPEN_FINDING = Prisma.sql`
  (finding.severity = 'review' AND finding.closed_at IS NULL AND finding.resolved_at IS NULL)`;

/** Whether a row of `day` has such a finding. */
export const HAS_OPEN_FINDINGS = Prisma.sql`
  EXISTS (SELECT FROM conciliation.check_finding AS finding
          WHERE finding.accepted_date = day.date AND ${IS_OPEN_FINDING})`;

/**
 * One row (titles, digest) of rows with the columns id and digest, which is `ROW_DIGEST`: what the merges and erasures of
 * a date have left in `title`, for the append-only table `date_digest`.
 */
const digestOf = (rows: Prisma.Sql) => Prisma.sql`
  SELECT count(*) AS titles, sha256(coalesce(string_agg(digest, '' ORDER BY id), '')) AS digest FROM ${rows}`;

const presentRows = (date: CivilDate) => Prisma.sql`
  (SELECT id, ${ROW_DIGEST} AS digest FROM conciliation.title WHERE accepted_date = ${date}::date) AS title`;

/** The newest row of a date; none: no merge has changed titles of it. */
export const newestDigest = (date: CivilDate): Prisma.Sql => Prisma.sql`
  SELECT * FROM conciliation.date_digest WHERE date = ${date}::date ORDER BY id DESC LIMIT 1`;

/** Whether the rows of `title`, or `rows` as in `digestOf`, are those that the newest merge or erasure of the date has left. */
export const areRowsRecorded = (
  date: CivilDate,
  rows = presentRows(date),
): Prisma.Sql => Prisma.sql`
  (SELECT (present.titles, present.digest)
            = (coalesce(recorded.titles, 0), coalesce(recorded.digest, sha256('')))
   FROM (${digestOf(rows)}) AS present LEFT JOIN (${newestDigest(date)}) AS recorded ON true)`;

/**
 * The statement that appends the digest of a date.
 * @param pullId of the merge; null: an erasure
 * @param rows as in `digestOf`
 */
export const digestRow = (
  date: CivilDate,
  pullId: bigint | null,
  rows = presentRows(date),
): Prisma.Sql => Prisma.sql`
  INSERT INTO conciliation.date_digest (date, pull_id, titles, digest)
  SELECT ${date}::date, ${pullId}::bigint, titles, digest FROM (${digestOf(rows)}) AS present`;
