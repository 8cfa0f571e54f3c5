import { type CivilDate, datesBetween } from '../domain/business-day.ts';
import type { DayState } from '../domain/day-state.ts';
import type { PullWindow } from '../domain/pull-plan.ts';
import { AMOUNT_COLUMNS } from '../domain/title.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { lookUpByIndex } from './planner-settings.ts';

/** A ledger row as a merge finds it, its lock held. */
export interface LockedDay {
  readonly date: CivilDate;
  readonly state: DayState;
  readonly titleCount: number;
  /** Current or withdrawn ones. */
  readonly hasTitles: boolean;
  /** Rejects of the date that are open or accepted. */
  readonly rejected: number;
  /** Fence of the newest fetch merged into the date; null when there was none. */
  readonly mergedFence: bigint | null;
  readonly heldPullId: bigint | null;
  /** Fence of the fetch that waits for a person; null when none does. */
  readonly heldFence: bigint | null;
}

const sums = Prisma.raw(
  AMOUNT_COLUMNS.map((name) => `sum(${name}) FILTER (WHERE status = 'current') AS ${name}`).join(
    ', ',
  ),
);
const setSums = Prisma.raw(
  AMOUNT_COLUMNS.map((name) => `${name}_sum = coalesce(fresh.${name}, 0)`).join(', '),
);

/**
 * Every date that a window speaks about: its own day; or, for a sweep, each date that has titles on
 * either side and each date that is over, because "no titles" is a statement about a date too.
 */
export async function datesOfWindow(
  tx: Prisma.TransactionClient,
  window: PullWindow,
  fence: bigint,
  lastClosedDate: CivilDate,
): Promise<CivilDate[]> {
  if (window.to !== null) return [window.from];
  const rows = await tx.$queryRaw<{ date: CivilDate }[]>`
    SELECT DISTINCT date::text AS date FROM (
      SELECT accepted_date AS date FROM conciliation.staged_title WHERE fence = ${fence}
      UNION ALL
      SELECT date FROM conciliation.staged_reject WHERE fence = ${fence} AND date IS NOT NULL
      UNION ALL
      SELECT date FROM conciliation.day WHERE date >= ${window.from}::date
    ) AS spoken_of`;
  const dates = new Set(rows.map((row) => row.date));
  for (const date of datesBetween(window.from, lastClosedDate)) dates.add(date);
  return [...dates].sort();
}

/**
 * Creates the missing rows and locks all, in date order so that two merges cannot wait for each
 * other. The rows are read by a statement of its own: only then does it see what the transaction
 * that it waited for has committed.
 */
export async function lockDays(
  tx: Prisma.TransactionClient,
  dates: readonly CivilDate[],
): Promise<LockedDay[]> {
  await tx.$executeRaw`
    INSERT INTO conciliation.day (date)
    SELECT date FROM unnest(${dates}::date[]) AS wanted (date) ORDER BY date
    ON CONFLICT (date) DO NOTHING`;
  await tx.$executeRaw`
    SELECT FROM conciliation.day WHERE date = ANY(${dates}::date[]) ORDER BY date FOR UPDATE`;
  const look = () => tx.$queryRaw<LockedDay[]>`
    SELECT day.date::text AS date, day.state, day.title_count AS "titleCount",
           EXISTS (SELECT FROM conciliation.title WHERE accepted_date = day.date) AS "hasTitles",
           day.rejected_count AS rejected,
           merged.fence AS "mergedFence", day.held_pull_id AS "heldPullId", held.fence AS "heldFence"
    FROM conciliation.day day
    LEFT JOIN conciliation.pull merged ON merged.id = day.last_pull_id
    LEFT JOIN conciliation.pull held ON held.id = day.held_pull_id
    WHERE day.date = ANY(${dates}::date[]) ORDER BY day.date`;
  return lookUpByIndex(tx, look);
}

/**
 * Recomputes count, sums and digest of `dates` from their current titles. The digest is SHA-256 over
 * the sorted content hashes: the same for every order, different for every other multiset, and a
 * line of SQL for anybody who wants to prove it.
 */
export async function refreshTotals(
  tx: Prisma.TransactionClient,
  dates: readonly CivilDate[],
): Promise<void> {
  // Date by date, and the hashes apart: sorted together with the amounts, they take twice as long.
  const refresh = () => tx.$executeRaw`
    WITH fresh AS MATERIALIZED (
      SELECT wanted.date AS day_date, total.*, encode(sha256(coalesce(hashes, '')), 'hex') AS digest
      FROM unnest(${dates}::date[]) AS wanted (date)
      CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE status = 'current') AS titles,
               count(*) FILTER (WHERE status = 'withdrawn') AS withdrawn, ${sums}
        FROM conciliation.title WHERE accepted_date = wanted.date
      ) AS total
      CROSS JOIN LATERAL (
        SELECT string_agg(uuid_send(content_hash), '' ORDER BY content_hash) AS hashes
        FROM conciliation.title WHERE accepted_date = wanted.date AND status = 'current'
      ) AS content
    )
    UPDATE conciliation.day day
    SET title_count = fresh.titles, withdrawn_count = fresh.withdrawn, ${setSums},
        content_digest = fresh.digest, changed_at = now(),
        restated_after_sign_off = day.restated_after_sign_off
          OR (day.signed_off_digest IS NOT NULL AND day.signed_off_digest <> fresh.digest)
    FROM fresh
    WHERE day.date = fresh.day_date AND day.date = ANY(${dates}::date[])`;
  await lookUpByIndex(tx, refresh);
}

/** Marks what merges left of their dates; the totals are brought up to date before. */
export async function setMergedDays(
  tx: Prisma.TransactionClient,
  days: readonly (SettledDate & { readonly state: DayState })[],
): Promise<void> {
  const merged = days.map((day) => ({ ...day, pullId: String(day.pullId) }));
  await tx.$executeRaw`
    UPDATE conciliation.day
    SET state = merged.state, last_pull_id = merged."pullId", held_pull_id = NULL,
        verified_at = now(),
        rejected_count = (SELECT count(*) FROM conciliation.rejected_title reject
                          WHERE reject.date = merged.date AND reject.status <> 'resolved')
    FROM jsonb_to_recordset(${JSON.stringify(merged)}::jsonb)
      AS merged (date date, "pullId" bigint, state text)
    WHERE day.date = merged.date AND day.date = ANY(${days.map(({ date }) => date)}::date[])`;
}

export async function setHeldDay(
  tx: Prisma.TransactionClient,
  day: { readonly date: CivilDate; readonly pullId: bigint },
): Promise<void> {
  await tx.$executeRaw`
    UPDATE conciliation.day SET state = 'held', held_pull_id = ${day.pullId}
    WHERE date = ${day.date}::date`;
}

/** A date, and the pull that speaks for it now. */
export interface SettledDate {
  readonly date: CivilDate;
  readonly pullId: bigint;
}

/**
 * Moves the watermark over every reconciled date that follows it without a gap; it never goes back.
 * Its row is locked before the days are read: of two merges that close neighbouring gaps at once the
 * second then sees the first.
 *
 * @param settled by the transaction: the last of those that are passed tells which pull moved it
 */
export async function advanceCheckpoint(
  tx: Prisma.TransactionClient,
  settled: readonly SettledDate[],
): Promise<void> {
  await tx.$executeRaw`SELECT FROM conciliation.checkpoint FOR UPDATE`;
  await tx.$executeRaw`
    WITH next AS (
      SELECT coalesce(last_reconciled_date + 1, start_date) AS date FROM conciliation.checkpoint
    ), run AS (
      SELECT day.date, next.date + (row_number() OVER (ORDER BY day.date))::int - 1 AS expected
      FROM conciliation.day day, next
      WHERE day.date >= next.date AND day.state = 'reconciled'
    )
    UPDATE conciliation.checkpoint
    SET last_reconciled_date = reached.date, updated_at = now(),
        pull_id = (SELECT settled.pull_id
                   FROM unnest(${settled.map(({ date }) => date)}::date[],
                               ${settled.map(({ pullId }) => pullId)}::bigint[])
                     AS settled (date, pull_id)
                   ORDER BY settled.date <= reached.date DESC, settled.date DESC LIMIT 1)
    FROM (SELECT max(date) AS date FROM run WHERE date = expected) AS reached
    WHERE reached.date IS NOT NULL`;
}

/** The first start decides where the ledger begins; later calls only read what it decided. */
export async function ensureCheckpoint(
  tx: Prisma.TransactionClient,
  startDate: CivilDate,
): Promise<CivilDate> {
  await tx.$executeRaw`
    INSERT INTO conciliation.checkpoint (id, start_date) VALUES (1, ${startDate}::date)
    ON CONFLICT (id) DO NOTHING`;
  const [row] = await tx.$queryRaw<[{ start_date: CivilDate }]>`
    SELECT start_date::text AS start_date FROM conciliation.checkpoint`;
  return row.start_date;
}
