import { type Static, Type } from 'typebox';
import { type AuditAction, type Decision, recordAudit } from '../../base/audit/audit.ts';
import type { Database, QueryClient, Transaction } from '../../base/database/database.ts';
import type { InputError } from '../../base/runtime/errors.ts';
import { refusal } from '../../base/texts/texts.ts';
import { type CivilDate, daysBetween } from '../../base/values/business-day.ts';
import { count, date, id, instant, instantOrNull, words } from '../../console/api/schema-parts.ts';
import type { Place } from '../../console/list/list.tsx';

/** The dates to pull, both ends included. */
export interface BackfillRange {
  readonly from: CivilDate;
  readonly to: CivilDate;
}

/** Ten years, leap days included. */
export const MAX_BACKFILL_DAYS = 3660;
export const MAX_BACKFILL_CONCURRENCY = 16;

/** Returns why a range cannot be pulled, or null. */
export function backfillRangeFault(range: BackfillRange, today: CivilDate): InputError | null {
  const { from, to } = range;
  if (from > to) return refusal('range_order', { from, to });
  if (to > today) return refusal('range_future', { to, today });
  const days = daysBetween(from, to) + 1;
  return days > MAX_BACKFILL_DAYS ? refusal('range_long', { days, max: MAX_BACKFILL_DAYS }) : null;
}

const STATES = ['running', 'done', 'cancelled'] as const;

/** The progress of a backfill in dates. `done`, `failed`, `held` and `open` are disjoint. */
export const Backfill = Type.Object({
  id,
  from: date,
  to: date,
  state: words(STATES),
  concurrency: id,
  requestedBy: Type.String(),
  createdAt: instant,
  finishedAt: instantOrNull,
  total: count,
  done: Type.Integer({
    minimum: 0,
    description: 'Pulled by the backfill, or by another pull since.',
  }),
  failed: count,
  held: Type.Integer({ minimum: 0, description: 'Pulled, and waiting for a release by a person.' }),
  open: Type.Integer({
    minimum: 0,
    description: 'With an open pull. The rest of `total` have no pull yet.',
  }),
  titles: Type.Integer({ minimum: 0, description: 'Titles in the responses so far.' }),
});
export type BackfillProgress = Readonly<Static<typeof Backfill>>;

/**
 * Records a request to pull a range day by day. A planner creates the pulls.
 * @param by the requester, for the audit log
 * @throws InputError for an invalid range
 */
export async function createBackfill(
  database: Database,
  backfill: { readonly range: BackfillRange; readonly concurrency: number; readonly by: string },
  today: CivilDate,
): Promise<bigint> {
  const { range, concurrency, by } = backfill;
  const fault = backfillRangeFault(range, today);
  if (fault !== null) throw fault;
  return database.prisma.$transaction(async (tx) => {
    const { id } = await tx.backfill.create({
      data: { fromDate: range.from, toDate: range.to, concurrency, requestedBy: by },
      select: { id: true },
    });
    await audit(tx, 'backfill.create', by, { id, ...range });
    return id;
  });
}

/**
 * Stops a backfill: it gets no further pulls, and its waiting ones are cancelled. A running pull
 * ends normally; pulled dates stay.
 * @throws InputError when the backfill does not exist or is not running
 */
export function cancelBackfill(database: Database, id: bigint, by: string): Promise<void> {
  return database.prisma.$transaction(async (tx) => {
    const [cancelled] = await tx.$queryRaw<[(BackfillRange & { id: bigint })?]>`
      UPDATE conciliation.backfill SET state = 'cancelled', finished_at = clock_timestamp()
      WHERE id = ${id} AND state = 'running'
      RETURNING id, from_date::text AS "from", to_date::text AS "to"`;
    if (cancelled === undefined) {
      const row = await tx.backfill.findUnique({ where: { id }, select: { state: true } });
      if (row === null) throw refusal('no_backfill');
      throw refusal(row.state === 'done' ? 'backfill_done' : 'backfill_cancelled');
    }
    await cancelQueuedPulls(tx);
    await audit(tx, 'backfill.cancel', by, cancelled);
  });
}

function audit(
  tx: Transaction,
  action: AuditAction,
  actor: string,
  { id, from, to }: BackfillRange & { readonly id: bigint },
): Promise<void> {
  return recordAudit(tx, { actor, action, details: { backfillId: Number(id), from, to } });
}

/** Returns null for an unknown backfill. */
export async function readBackfillProgress(
  { prisma }: Database,
  id: bigint,
): Promise<BackfillProgress | null> {
  const [backfill = null] = await readBackfills(prisma, { offset: 0, limit: 1 }, id);
  return backfill;
}

/** Returns the newest backfills, or the one with an id. */
export function readBackfills(
  db: QueryClient,
  { offset, limit }: Place,
  id: bigint | null = null,
): Promise<BackfillProgress[]> {
  return db.$queryRaw<BackfillProgress[]>`
    SELECT backfill.id::float8 AS id, from_date::text AS "from", to_date::text AS "to", state, concurrency,
           requested_by AS "requestedBy", created_at AS "createdAt", finished_at AS "finishedAt",
           to_date - from_date + 1 AS total, own.*
    FROM conciliation.backfill backfill, LATERAL (
      SELECT count(*) FILTER (WHERE state IN ('merged', 'unchanged', 'superseded'))::int AS done,
             count(*) FILTER (WHERE state = 'failed')::int AS failed,
             count(*) FILTER (WHERE state = 'held')::int AS held,
             count(*) FILTER (WHERE state IN ('queued', 'running'))::int AS open,
             coalesce(sum(titles), 0)::float8 AS titles
      FROM (SELECT DISTINCT ON (date) state, titles FROM conciliation.pull
            WHERE backfill_id = backfill.id ORDER BY date, id DESC) AS newest
    ) AS own
    WHERE ${id}::bigint IS NULL OR backfill.id = ${id}::bigint
    ORDER BY backfill.id DESC OFFSET ${offset}::int LIMIT ${limit}::int`;
}

/**
 * Creates the next pulls of every running backfill, the oldest backfill and the oldest date first, ends those that are
 * done, and cancels what still waits of those that were cancelled. The pulls are created a few at a time, so that the
 * queue of a backfill does not delay other pulls. A held pull counts as ended, because a backfill does not wait for a
 * decision. The caller serialises planners.
 * @returns how many pulls were created
 */
export async function planBackfills(tx: Transaction, maxOpenPulls: number): Promise<number> {
  await cancelQueuedPulls(tx);
  // Locked, so that one which is being cancelled now gets no pull that would never be cancelled.
  const backfills = await tx.$queryRaw<(BackfillRange & { id: bigint; concurrency: number })[]>`
    SELECT id, from_date::text AS "from", to_date::text AS "to", concurrency
    FROM conciliation.backfill WHERE state = 'running' ORDER BY id FOR UPDATE`;
  if (backfills.length === 0) return 0;
  const openPulls = await tx.pull.count({
    where: { backfillId: { not: null }, state: { in: ['queued', 'running'] } },
  });
  let created = 0;
  for (const { id, from, to, concurrency } of backfills) {
    created += await tx.$executeRaw`
      WITH newest AS MATERIALIZED (
        SELECT DISTINCT ON (date) date, state FROM conciliation.pull WHERE backfill_id = ${id} ORDER BY date, id DESC
      ), open AS MATERIALIZED (
        SELECT count(*) AS pulls FROM newest WHERE state IN ('queued', 'running')
      ), missing AS MATERIALIZED (
        SELECT wanted.at::date AS date FROM generate_series(${from}::timestamp, ${to}::timestamp, '1 day') AS wanted (at)
        WHERE NOT EXISTS (SELECT FROM newest WHERE newest.date = wanted.at::date AND state <> 'cancelled')
      ), ended AS (
        UPDATE conciliation.backfill SET state = 'done', finished_at = clock_timestamp()
        WHERE id = ${id} AND (SELECT pulls FROM open) = 0 AND NOT EXISTS (SELECT FROM missing)
      )
      INSERT INTO conciliation.pull (origin, date, backfill_id, requested_by)
      SELECT 'backfill', date, ${id}, 'scheduler' FROM missing ORDER BY date
      LIMIT greatest(0, least(${concurrency}::int - (SELECT pulls FROM open), ${maxOpenPulls - openPulls - created}::int))`;
  }
  return created;
}

/**
 * Cancels what waits of cancelled backfills: also pulls that were running when the backfill was cancelled and came back
 * for another attempt.
 */
async function cancelQueuedPulls(tx: Transaction): Promise<void> {
  await tx.$executeRaw`
    UPDATE conciliation.pull pull
    SET state = 'cancelled', finished_at = clock_timestamp(), next_attempt_at = NULL
    FROM conciliation.backfill backfill
    WHERE backfill.id = pull.backfill_id AND backfill.state = 'cancelled' AND pull.state = 'queued'`;
}

/**
 * Pauses the schedule, or resumes a paused one. While it is paused, no pull, sweep or request with providers starts by
 * itself; backfills and requested pulls run. The next tick of the planner finds every date that came due meanwhile. A
 * schedule that is as it should be stays so, and so does one that has not begun.
 */
export function changeSchedule(
  { prisma }: Database,
  action: 'schedule.pause' | 'schedule.resume',
  { by, reason }: Decision,
): Promise<void> {
  const pausedAt = action === 'schedule.pause' ? new Date() : null;
  return prisma.$transaction(async (tx) => {
    const { count } = await tx.checkpoint.updateMany({
      where: { pausedAt: pausedAt === null ? { not: null } : null },
      data: {
        pausedAt,
        pausedBy: pausedAt && by,
        pauseReason: pausedAt && reason,
      },
    });
    if (count > 0) await recordAudit(tx, { actor: by, action, reason });
  });
}
