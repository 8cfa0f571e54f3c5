import { type Static, Type } from 'typebox';
import { type AuditAction, recordAudit } from '../../base/audit/audit.ts';
import type { Database, QueryClient, Transaction } from '../../base/database/database.ts';
import { InputError } from '../../base/runtime/errors.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { count, date, id, instant, instantOrNull, words } from '../../console/api/schema-parts.ts';
import type { Place } from '../../console/list/list.tsx';
import { Prisma } from '../../generated/prisma/client.ts';
import {
  type BackfillRange,
  backfillRangeFault,
  MAX_BACKFILL_CONCURRENCY,
} from './backfill-plan.ts';
import { cancelQueuedPulls } from './backfill-plans.sql.ts';

const STATES = ['running', 'done', 'cancelled'] as const;
type BackfillState = (typeof STATES)[number];

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
 * @throws InputError for an invalid range or concurrency
 */
export async function createBackfill(
  database: Database,
  backfill: { readonly range: BackfillRange; readonly concurrency: number; readonly by: string },
  today: CivilDate,
): Promise<bigint> {
  const { range, concurrency, by } = backfill;

  const fault = backfillRangeFault(range, today);
  if (fault !== null) throw new InputError(fault.message, { context: fault.context });
  requireConcurrency(concurrency);
  return database.prisma.$transaction(async (tx) => {
    const { id } = await tx.backfill.create({
      data: { fromDate: range.from, toDate: range.to, concurrency, requestedBy: by },
      select: { id: true },
    });
    await audit(tx, 'backfill.create', by, id);
    return id;
  });
}

/** @throws InputError for another number of dates at the same time than a backfill takes */
function requireConcurrency(concurrency: number): void {
  if (Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= MAX_BACKFILL_CONCURRENCY)
    return;
  throw new InputError(
    `the concurrency is a whole number from 1 to ${MAX_BACKFILL_CONCURRENCY}, not ${concurrency}`,
    { context: { fault: 'concurrency', max: MAX_BACKFILL_CONCURRENCY } },
  );
}

/**
 * Stops a backfill: it gets no further pulls, and its waiting ones are cancelled. A running pull
 * ends normally; pulled dates stay.
 * @throws InputError when the backfill does not exist or is not running
 */
export function cancelBackfill(database: Database, id: bigint, by: string): Promise<void> {
  return database.prisma.$transaction(async (tx) => {
    await step(tx, id, 'running', 'cancelled');
    await cancelQueuedPulls(tx, id);
    await audit(tx, 'backfill.cancel', by, id);
  });
}

/**
 * Continues a cancelled backfill where it was stopped: dates that it pulled are not pulled again. A
 * backfill that was interrupted in another way is continued by the next run of a planner.
 * @throws InputError when the backfill does not exist or was not cancelled
 */
export function resumeBackfill(database: Database, id: bigint, by: string): Promise<void> {
  return database.prisma.$transaction(async (tx) => {
    // Pulls that were cancelled stay cancelled; the planner creates new ones.
    await cancelQueuedPulls(tx, id);
    await step(tx, id, 'cancelled', 'running');
    await audit(tx, 'backfill.resume', by, id);
  });
}

async function step(
  tx: Transaction,
  id: bigint,
  from: BackfillState,
  to: BackfillState,
): Promise<void> {
  const changed = await tx.$executeRaw`
    UPDATE conciliation.backfill
    SET state = ${to}, finished_at = CASE WHEN ${to} <> 'running' THEN clock_timestamp() END
    WHERE id = ${id} AND state = ${from}`;
  if (changed > 0) return;
  const row = await tx.backfill.findUnique({ where: { id }, select: { state: true } });
  throw new InputError(
    row === null ? `there is no backfill ${id}` : `backfill ${id} is ${row.state}, not ${from}`,
    { context: { fault: row === null ? 'no_backfill' : `backfill_${row.state}` } },
  );
}

async function audit(
  tx: Transaction,
  action: AuditAction,
  actor: string,
  backfillId: bigint,
): Promise<void> {
  const range = await tx.backfill.findUniqueOrThrow({
    where: { id: backfillId },
    select: { fromDate: true, toDate: true },
  });
  const details = { backfillId: Number(backfillId), from: range.fromDate, to: range.toDate };
  await recordAudit(tx, { actor, action, details });
}

/** Returns null for an unknown backfill. */
export async function readBackfillProgress(
  database: Database,
  id: bigint,
): Promise<BackfillProgress | null> {
  const [row] = await readProgress(database.prisma, Prisma.sql`WHERE backfill.id = ${id}`);
  return row ?? null;
}

/** The newest backfills first. */
export function readBackfills(
  db: QueryClient,
  { offset, limit }: Place,
): Promise<BackfillProgress[]> {
  return readProgress(
    db,
    Prisma.sql`ORDER BY backfill.id DESC OFFSET ${offset}::int LIMIT ${limit}::int`,
  );
}

function readProgress(db: QueryClient, which: Prisma.Sql): Promise<BackfillProgress[]> {
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
    ) AS own ${which}`;
}
