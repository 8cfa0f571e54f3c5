import type { Database, Transaction } from '../database/database.ts';
import { takeLock } from '../database/program-lock.sql.ts';
import { isStale } from '../domain/alert.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { readSnapshotAt } from '../payables/payable-state.sql.ts';
import { readUrgentBreaks } from './breaks.sql.ts';
import {
  CANDIDATES,
  CERTAIN,
  PAYABLE_GROUND,
  RULE_VERSION,
  RULES,
  TITLE_GROUND,
} from './candidates.sql.ts';

export interface MatchingRun {
  readonly runId: bigint;
  /** Matches that were made. */
  readonly matched: number;
  /** Matches of earlier runs that ended, because one of their sides changed. */
  readonly reopened: number;
}

/** The author of a run that no person requested. */
export const MATCHING_ACTOR = 'matching';

const TRANSACTION = { timeout: 900_000, maxWait: 60_000 };

/**
 * Matches current titles with open payables. Ends matches of the program whose title or payable changed in a
 * compared field; a match of a person is never changed. The order of the rows changes nothing, and a second run
 * over the same rows changes nothing.
 */
export function runMatching(
  database: Database,
  { by }: { readonly by: string },
): Promise<MatchingRun> {
  return database.prisma.$transaction(async (tx) => {
    await takeLock(tx, 'matching');
    // The planner has no statistics of the pairs. A nested loop over them takes hours.
    await tx.$executeRaw`
      SELECT set_config('enable_nestloop', 'off', true), set_config('work_mem', '64MB', true)`;
    const [{ id: runId }] = await tx.$queryRaw<[{ id: bigint }]>`
      INSERT INTO conciliation.match_run (requested_by, rule_version)
      VALUES (${by}, ${RULE_VERSION}) RETURNING id`;
    const reopened = await endGroundless(tx);
    const matched = await tx.$executeRaw`
      WITH ${CANDIDATES}, ${CERTAIN}
      INSERT INTO conciliation.title_match
        (title_id, erp_key, rule, rule_version, run_id, made_by, title_ground, erp_ground)
      SELECT title_id, certain.erp_key, (${[...RULES]}::text[])[place], ${RULE_VERSION}, ${runId},
             ${by}, ${TITLE_GROUND}, ${PAYABLE_GROUND}
      FROM certain JOIN conciliation.title AS title ON title.id = title_id
      JOIN conciliation.erp_payable AS payable ON payable.erp_key = certain.erp_key
      -- A pair that a person has undone is not matched again while both sides are the same.
      WHERE NOT EXISTS (
        SELECT FROM conciliation.title_match AS undone
        WHERE undone.title_id = certain.title_id AND undone.erp_key = certain.erp_key
          AND ended_by <> ${MATCHING_ACTOR}
          AND title_ground = ${TITLE_GROUND} AND erp_ground = ${PAYABLE_GROUND})`;
    await tx.$executeRaw`SELECT set_config('enable_nestloop', 'on', true)`;
    const urgent = await readUrgentBreaks(tx);
    await tx.$executeRaw`
      UPDATE conciliation.match_run
      SET matched = ${matched}, reopened = ${reopened}, urgent_known = true, urgent_breaks = ${urgent.breaks},
          urgent_dates = ${[...urgent.dates]}::text[]::date[]
      WHERE id = ${runId}`;
    return { runId, matched, reopened };
  }, TRANSACTION);
}

/** A payable that the ERP has paid keeps its match. */
async function endGroundless(tx: Transaction): Promise<number> {
  return tx.$executeRaw`
    UPDATE conciliation.title_match AS match
    SET ended_at = clock_timestamp(), ended_by = ${MATCHING_ACTOR}, end_reason = changed.reason
    FROM (
      SELECT match.id, ${reasonOf()} AS reason FROM conciliation.title_match AS match
      JOIN conciliation.title AS title ON title.id = title_id
      JOIN conciliation.erp_payable AS payable ON payable.erp_key = match.erp_key
      WHERE ended_at IS NULL AND rule <> 'person'
    ) AS changed
    WHERE changed.id = match.id AND changed.reason IS NOT NULL`;
}

const reasonOf = () => Prisma.sql`
  CASE WHEN title.status = 'withdrawn' THEN 'the title is withdrawn'
       WHEN payable.status = 'cancelled' THEN 'the payable is cancelled'
       WHEN ${TITLE_GROUND} <> title_ground THEN 'the title has changed'
       WHEN ${PAYABLE_GROUND} <> erp_ground AND payable.status = 'open' THEN 'the payable has changed'
  END`;

/**
 * Whether titles or payables changed after the newest run began, or a person has decided since. Stale payables are not
 * matched by the service.
 * @param maxAgeHours the age from which payables are stale
 */
export async function isMatchingDue(database: Database, maxAgeHours: number): Promise<boolean> {
  const snapshotAt = await readSnapshotAt(database.prisma);
  if (isStale({ snapshotAt, maxAgeHours }, new Date())) return false;
  const [row] = await database.prisma.$queryRaw<[{ due: boolean }]>`
    WITH newest AS (
      SELECT max(started_at) AS at, bool_or(NOT urgent_known) AS is_unknown
      FROM conciliation.match_run WHERE id = (SELECT max(id) FROM conciliation.match_run)
    )
    SELECT EXISTS (SELECT FROM conciliation.erp_payable)
       AND (at IS NULL OR is_unknown
            OR EXISTS (SELECT FROM conciliation.erp_payable WHERE changed_at >= at)
            -- A merge may commit after the time of its pull. The checks of its date run after the commit.
            OR EXISTS (SELECT FROM conciliation.day_check WHERE checked_at >= at)
            OR EXISTS (SELECT FROM conciliation.pull
                       WHERE finished_at >= at AND coalesce(inserted + changed + withdrawn + restored, 0) > 0)
           ) AS due
    FROM newest`;
  return row.due;
}
