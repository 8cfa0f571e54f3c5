/**
 * Removes rows and texts that are no longer needed. Data for an audit or for an earlier state of a
 * day stays: titles, revisions, seals, audit entries, days, and every pull that changed a title.
 * Runs beside the service. Every removed row has ended, so the service does not write it any more.
 * A batch is a short transaction and skips locked rows.
 */

import { type AuditAction, recordAudit } from '../../base/audit/audit.ts';
import type { Database } from '../../base/database/database.ts';
import { InputError, ShutdownError } from '../../base/runtime/errors.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { Prisma } from '../../generated/prisma/client.ts';

/**
 * The kinds of removal: texts within rows that stay, or whole rows. `rows` is a query for the keys of the rows that
 * ended before an instant. It names the table `candidate`. `remove` follows the common table `chosen` of such keys.
 */
const REMOVALS = {
  provider_answers: {
    rows: (instant) => Prisma.sql`
      SELECT candidate.id FROM conciliation.provider_batch candidate
      WHERE candidate.answer IS NOT NULL AND candidate.finished_at < ${instant}`,
    remove: Prisma.sql`
      UPDATE conciliation.provider_batch batch SET answer = NULL FROM chosen WHERE batch.id = chosen.id`,
  },
  reject_texts: {
    // The time at which a reject was resolved is not stored, so its age is that of the last
    // response that had it.
    rows: (instant) => Prisma.sql`
      SELECT candidate.id FROM conciliation.rejected_title candidate
      JOIN conciliation.pull ON pull.id = candidate.last_pull_id
      WHERE candidate.status = 'resolved' AND candidate.raw <> ''
        AND pull.fetch_started_at < ${instant}`,
    remove: Prisma.sql`
      UPDATE conciliation.rejected_title reject SET raw = '' FROM chosen WHERE reject.id = chosen.id`,
  },
  payable_rejects: {
    rows: (instant) => Prisma.sql`
      SELECT candidate.id FROM conciliation.erp_payable_reject candidate
      WHERE candidate.created_at < ${instant}`,
    remove: Prisma.sql`
      DELETE FROM conciliation.erp_payable_reject reject USING chosen WHERE reject.id = chosen.id`,
  },
  pulls: {
    // A pull that changed titles is 'merged', and titles, revisions and seals refer to it: it
    // stays. Other pulls are removed if a newer fetch has replaced them, so that no alert refers to
    // them. The pulls of the latest slot stay because the planner reads them, and those of a
    // backfill because they are its progress.
    rows: (instant) => Prisma.sql`
      SELECT candidate.id FROM conciliation.pull candidate
      JOIN conciliation.day ON day.date = candidate.date
      JOIN conciliation.pull newest ON newest.id = day.last_pull_id
      WHERE candidate.state IN ('unchanged', 'superseded', 'failed', 'cancelled')
        AND candidate.finished_at < ${instant}
        AND coalesce(candidate.fence, 0) < newest.fence
        AND candidate.backfill_id IS NULL
        AND (candidate.slot_at IS NULL
             OR candidate.slot_at < (SELECT max(slot_at) FROM conciliation.pull))
        AND candidate.id NOT IN (
          SELECT first_pull_id FROM conciliation.rejected_title
          UNION ALL SELECT last_pull_id FROM conciliation.rejected_title
          UNION ALL SELECT first_pull_id FROM conciliation.drift
          UNION ALL SELECT pull_id FROM conciliation.sweep_difference WHERE pull_id IS NOT NULL
          UNION ALL SELECT pull_id FROM conciliation.audit_entry WHERE pull_id IS NOT NULL
          UNION ALL SELECT pull_id FROM conciliation.date_digest WHERE pull_id IS NOT NULL
          UNION ALL SELECT pull_id FROM conciliation.checkpoint WHERE pull_id IS NOT NULL)`,
    remove: Prisma.sql`
      DELETE FROM conciliation.pull USING chosen WHERE pull.id = chosen.id`,
  },
} satisfies Record<
  string,
  { readonly rows: (instant: Prisma.Sql) => Prisma.Sql; readonly remove: Prisma.Sql }
>;

export type RetentionKind = keyof typeof REMOVALS;
export const RETENTION_KINDS = Object.keys(REMOVALS) as readonly RetentionKind[];
export type RetentionCounts = Readonly<Record<RetentionKind, number>>;

export interface RetentionRequest {
  /** Rows that ended before this date began in `timeZone` are removed. */
  readonly before: CivilDate;
  readonly timeZone: string;
  readonly by: string;
  readonly signal: AbortSignal;
  /** Most rows of one transaction; default 1,000. */
  readonly batchSize?: number;
}

const instantOf = ({ before, timeZone }: Pick<RetentionRequest, 'before' | 'timeZone'>) =>
  Prisma.sql`(${before}::timestamp AT TIME ZONE ${timeZone})`;

async function countKinds(
  count: (kind: RetentionKind) => Promise<number>,
): Promise<RetentionCounts> {
  const counts: [RetentionKind, number][] = [];
  for (const kind of RETENTION_KINDS) counts.push([kind, await count(kind)]);
  return Object.fromEntries(counts) as unknown as RetentionCounts;
}

/** Returns the number of removable rows, by kind. */
export function countRemovable(
  database: Database,
  age: Pick<RetentionRequest, 'before' | 'timeZone'>,
): Promise<RetentionCounts> {
  return countKinds(async (kind) => {
    const [{ rows }] = await database.prisma.$queryRaw<[{ rows: number }]>`
      SELECT count(*)::int AS rows FROM (${REMOVALS[kind].rows(instantOf(age))}) AS kind`;
    return rows;
  });
}

/**
 * Removes the rows in batches. The audit log has an entry with the plan before the first batch and
 * one with the result after the last. A run without removable rows leaves no entry.
 * @throws ShutdownError when `signal` is aborted; earlier batches stay removed
 */
export async function removeOld(
  database: Database,
  request: RetentionRequest,
): Promise<RetentionCounts> {
  const { before, by: actor } = request;
  const record = (action: AuditAction, details: object) =>
    recordAudit(database.prisma, { actor, action, details: { before, ...details } });
  const removable = await countRemovable(database, request);
  if (RETENTION_KINDS.every((kind) => removable[kind] === 0)) return removable;
  await record('retention.begin', { removable });
  const removed = await countKinds((kind) => removeKind(database, request, kind));
  await record('retention.end', { removed });
  return removed;
}

async function removeKind(
  database: Database,
  request: RetentionRequest,
  kind: RetentionKind,
): Promise<number> {
  const { signal, batchSize = 1_000 } = request;
  const { rows, remove } = REMOVALS[kind];
  for (let removed = 0; ; ) {
    if (signal.aborted) throw new ShutdownError('the removal was interrupted');
    const batch = await database.prisma.$executeRaw`
      WITH chosen AS MATERIALIZED (
        ${rows(instantOf(request))} ORDER BY 1 LIMIT ${batchSize} FOR UPDATE OF candidate SKIP LOCKED)
      ${remove}`;
    removed += batch;
    if (batch === 0) return removed;
  }
}

/**
 * For commands that delete or rewrite rows that the service may only insert.
 * @param command its name, for the message
 * @throws InputError when the database's user does not own the tables
 */
export async function requireSchemaOwner(database: Database, command: string): Promise<void> {
  const [row] = await database.prisma.$queryRaw<[{ isOwner: boolean }]>`
    SELECT pg_has_role(relowner, 'USAGE') AS "isOwner"
    FROM pg_class WHERE oid = 'conciliation.title_revision'::regclass`;
  if (row.isOwner) return;
  throw new InputError(
    `only the owner of the schema may run "${command}": set DATABASE_URL as for "conciliation migrate --roles"`,
  );
}
