/**
 * Removes rows and texts that are no longer needed. Data for an audit or for an earlier state of a
 * day stays: titles, revisions, seals, audit entries, days, and every pull that changed a title.
 * Runs beside the service. Every removed row has ended, so the service does not write it any more.
 * A batch is a short transaction and skips locked rows.
 */

import { type AuditAction, recordAudit } from '../../base/audit/audit.ts';
import type { Database } from '../../base/database/database.ts';
import { ShutdownError } from '../../base/runtime/errors.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { Prisma } from '../../generated/prisma/client.ts';

/** The kinds of removal: texts within rows that stay, or whole rows. */
export const RETENTION_KINDS = [
  'provider_answers',
  'reject_texts',
  'payable_rejects',
  'console_links',
  'console_sessions',
  'pulls',
] as const;
export type RetentionKind = (typeof RETENTION_KINDS)[number];
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

const BATCH_SIZE = 1_000;

/** Returns the number of removable rows, by kind. */
export async function countRemovable(
  database: Database,
  { before, timeZone }: Pick<RetentionRequest, 'before' | 'timeZone'>,
): Promise<RetentionCounts> {
  const removable = removableBefore(before, timeZone);
  const [counts] = await database.prisma.$queryRaw<[RetentionCounts]>`
    SELECT (SELECT count(*) FROM (${removable.provider_answers}) AS kind)::int AS provider_answers,
           (SELECT count(*) FROM (${removable.reject_texts}) AS kind)::int AS reject_texts,
           (SELECT count(*) FROM (${removable.payable_rejects}) AS kind)::int AS payable_rejects,
           (SELECT count(*) FROM (${removable.console_links}) AS kind)::int AS console_links,
           (SELECT count(*) FROM (${removable.console_sessions}) AS kind)::int AS console_sessions,
           (SELECT count(*) FROM (${removable.pulls}) AS kind)::int AS pulls`;
  return counts;
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
  const { before, by } = request;
  const expected = await countRemovable(database, request);
  if (RETENTION_KINDS.every((kind) => expected[kind] === 0)) return expected;
  await audit(database, by, 'retention.begin', { before, removable: expected });
  const counts = {
    provider_answers: await removeKind(database, request, 'provider_answers'),
    reject_texts: await removeKind(database, request, 'reject_texts'),
    payable_rejects: await removeKind(database, request, 'payable_rejects'),
    console_links: await removeKind(database, request, 'console_links'),
    console_sessions: await removeKind(database, request, 'console_sessions'),
    pulls: await removeKind(database, request, 'pulls'),
  };
  await audit(database, by, 'retention.end', { before, removed: counts });
  return counts;
}

async function removeKind(
  database: Database,
  { before, timeZone, signal, batchSize = BATCH_SIZE }: RetentionRequest,
  kind: RetentionKind,
): Promise<number> {
  const chosen = Prisma.sql`
    chosen AS MATERIALIZED (
      ${removableBefore(before, timeZone)[kind]} ORDER BY 1 LIMIT ${batchSize}
      FOR UPDATE OF candidate SKIP LOCKED)`;
  const statement = REMOVAL[kind](chosen);
  for (let removed = 0; ; ) {
    if (signal.aborted) throw new ShutdownError('the removal was interrupted');
    const rows = await database.prisma.$executeRaw(statement);
    removed += rows;
    if (rows === 0) return removed;
  }
}

/** The removal of the chosen rows, for each kind. */
const REMOVAL: Readonly<Record<RetentionKind, (chosen: Prisma.Sql) => Prisma.Sql>> = {
  provider_answers: (chosen) => Prisma.sql`
    WITH ${chosen}
    UPDATE conciliation.provider_batch batch SET answer = NULL FROM chosen WHERE batch.id = chosen.id`,
  reject_texts: (chosen) => Prisma.sql`
    WITH ${chosen}
    UPDATE conciliation.rejected_title reject SET raw = '' FROM chosen WHERE reject.id = chosen.id`,
  payable_rejects: (chosen) => Prisma.sql`
    WITH ${chosen}
    DELETE FROM conciliation.erp_payable_reject reject USING chosen WHERE reject.id = chosen.id`,
  console_links: (chosen) => Prisma.sql`
    WITH ${chosen}
    DELETE FROM conciliation.console_link link USING chosen WHERE link.token_hash = chosen.id`,
  console_sessions: (chosen) => Prisma.sql`
    WITH ${chosen}
    DELETE FROM conciliation.console_session session USING chosen WHERE session.token_hash = chosen.id`,
  pulls: (chosen) => Prisma.sql`
    WITH ${chosen}
    DELETE FROM conciliation.pull USING chosen WHERE pull.id = chosen.id`,
};

/** For each kind a query for the keys of the rows. It names the table `candidate`. */
function removableBefore(
  before: CivilDate,
  timeZone: string,
): Readonly<Record<RetentionKind, Prisma.Sql>> {
  const instant = Prisma.sql`(${before}::timestamp AT TIME ZONE ${timeZone})`;
  return {
    provider_answers: Prisma.sql`
      SELECT candidate.id FROM conciliation.provider_batch candidate
      WHERE candidate.answer IS NOT NULL AND candidate.finished_at < ${instant}`,
    // The time at which a reject was resolved is not stored, so its age is that of the last
    // response that had it.
    reject_texts: Prisma.sql`
      SELECT candidate.id FROM conciliation.rejected_title candidate
      JOIN conciliation.pull ON pull.id = candidate.last_pull_id
      WHERE candidate.status = 'resolved' AND candidate.raw <> ''
        AND pull.fetch_started_at < ${instant}`,
    payable_rejects: Prisma.sql`
      SELECT candidate.id FROM conciliation.erp_payable_reject candidate
      WHERE candidate.created_at < ${instant}`,
    console_links: Prisma.sql`
      SELECT candidate.token_hash AS id FROM conciliation.console_link candidate
      WHERE candidate.expires_at < ${instant}`,
    console_sessions: Prisma.sql`
      SELECT candidate.token_hash AS id FROM conciliation.console_session candidate
      WHERE candidate.expires_at < ${instant}`,
    // A pull that changed titles is 'merged', and titles, revisions and seals refer to it: it
    // stays. Other pulls are removed if a newer fetch has replaced them, so that no alert refers to
    // them. The pulls of the latest slot stay because the planner reads them, and those of a
    // backfill because they are its progress.
    pulls: Prisma.sql`
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
  };
}

function audit(
  database: Database,
  actor: string,
  action: AuditAction,
  details: Readonly<Record<string, unknown>>,
): Promise<void> {
  return recordAudit(database.prisma, { actor, action, details });
}
