import type { Database, Transaction } from '../database/database.ts';
import { takeLock } from '../database/program-lock.sql.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { arePayablesStale } from '../payables/payable-state.sql.ts';
import { countBreaks, joinWholeSets } from './breaks.sql.ts';
import {
  BUYER_NAME,
  CANDIDATES,
  CERTAIN,
  COMPANY_NAME,
  companyNames,
  MAY_BE_COMPANY,
  PAYABLE_GROUND,
  RULE_VERSION,
  RULES,
  TITLE_GROUND,
  VETOED,
} from './candidates.sql.ts';
import { type CompanyFacts, readCompanyFacts } from './companies.sql.ts';
import { SUMS } from './sums.sql.ts';

export interface MatchingRun {
  readonly runId: bigint;
  /** Matches that were made. */
  readonly matched: number;
  /** Matches of earlier runs that ended, because one of their sides changed. */
  readonly reopened: number;
}

/** The author of a run that no person requested. */
export const MATCHING_ACTOR = 'matching';

const SUM_PLACE = RULES.indexOf('sum') + 1;

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
    await joinWholeSets(tx);
    const [{ id: runId }] = await tx.$queryRaw<[{ id: bigint }]>`
      INSERT INTO conciliation.match_run (requested_by, rule_version, started_at, payables_seen)
      SELECT ${by}, ${RULE_VERSION}, at, ${payablesSeen(Prisma.sql`at`)}
      FROM (SELECT clock_timestamp() AS at) AS start RETURNING id`;
    const companies = await readCompanyFacts(tx);
    const reopened = await endGroundless(tx, companies);
    const [{ matched }] = await tx.$queryRaw<[{ matched: number }]>`
      WITH RECURSIVE ${companyNames(companies)}, ${CANDIDATES}, ${CERTAIN}, ${SUMS}, chosen AS MATERIALIZED (
        SELECT chosen.*, ${TITLE_GROUND} AS title_ground, ${PAYABLE_GROUND} AS erp_ground
        FROM (SELECT place, title_id, erp_key, NULL::bigint AS sum_id, 0 AS title_part, 0 AS erp_part FROM certain
              UNION ALL
              SELECT ${SUM_PLACE}, title_id, erp_key, sum_id, title_part, erp_part FROM certain_row) AS chosen
        JOIN conciliation.title AS title ON title.id = title_id
        JOIN conciliation.erp_payable AS payable ON payable.erp_key = chosen.erp_key
      ), ${VETOED}, refused AS (
        SELECT chosen.title_id, chosen.erp_key, sum_id FROM chosen JOIN vetoed USING (title_id, erp_key)
        UNION
        -- What a person has undone is not matched again while both sides are the same.
        SELECT chosen.title_id, chosen.erp_key, sum_id FROM chosen
        WHERE EXISTS (
          SELECT FROM conciliation.title_match AS ended
          WHERE ended.title_id = chosen.title_id AND ended.erp_key = chosen.erp_key
            AND ended_by <> ${MATCHING_ACTOR} AND ended.title_ground = chosen.title_ground
            AND ended.erp_ground = chosen.erp_ground)
      ), made AS (
        INSERT INTO conciliation.title_match
          (title_id, erp_key, sum_id, title_part, erp_part, rule, rule_version, run_id, made_by,
           title_ground, erp_ground)
        SELECT title_id, erp_key, sum_id, title_part, erp_part, (${[...RULES]}::text[])[place],
               ${RULE_VERSION}, ${runId}, ${by}, title_ground, erp_ground
        FROM chosen
        WHERE NOT EXISTS (SELECT FROM refused
                          WHERE refused.title_id = chosen.title_id AND refused.erp_key = chosen.erp_key)
          AND NOT EXISTS (SELECT FROM refused WHERE refused.sum_id = chosen.sum_id)
        RETURNING id, sum_id
      )
      SELECT count(DISTINCT coalesce(sum_id, id))::int AS matched FROM made`;
    const counted = await countBreaks(tx);
    await tx.$executeRaw`
      UPDATE conciliation.match_run
      SET matched = ${matched}, reopened = ${reopened}, urgent_known = true, urgent_breaks = ${counted.urgent},
          urgent_dates = ${[...counted.urgentDates]}::text[]::date[], breaks = ${counted.breaks},
          broken_dates = ${[...counted.dates]}::text[]::date[],
          unmapped_companies = ${companies.unmapped.length}
      WHERE id = ${runId}`;
    return { runId, matched, reopened };
  }, TRANSACTION);
}

/**
 * A number that a committed change of a payable changes. The time of a change is that of its statement or of the
 * begin of its transaction, so a payable may appear with a time before the run that has not seen the payable.
 */
const payablesSeen = (at: Prisma.Sql) => Prisma.sql`
  (SELECT coalesce(sum(extract(epoch FROM changed_at)), 0) FROM conciliation.erp_payable
   WHERE changed_at >= ${at} - interval '1 day')`;

/** Ends a sum as a whole. A payable that the ERP has paid keeps its match. */
async function endGroundless(tx: Transaction, companies: CompanyFacts): Promise<number> {
  const [{ ended }] = await tx.$queryRaw<[{ ended: number }]>`
    WITH ${companyNames(companies)}, changed AS MATERIALIZED (
      SELECT coalesce(sum_id, id) AS key, min(reason) AS reason
      FROM (
        SELECT match.id, sum_id, ${reasonOf()} AS reason FROM conciliation.title_match AS match
        JOIN (SELECT title.*, buyer, is_claimed FROM conciliation.title AS title ${BUYER_NAME}) AS title
          ON title.id = title_id
        JOIN (SELECT payable.*, buyers, roots, is_named FROM conciliation.erp_payable AS payable ${COMPANY_NAME})
          AS payable ON payable.erp_key = match.erp_key
        WHERE ended_at IS NULL AND rule <> 'person'
      ) AS judged
      WHERE reason IS NOT NULL GROUP BY 1
    ), ended AS (
      UPDATE conciliation.title_match AS match
      SET ended_at = clock_timestamp(), ended_by = ${MATCHING_ACTOR}, end_reason = changed.reason
      FROM changed WHERE coalesce(match.sum_id, match.id) = changed.key AND ended_at IS NULL
      RETURNING changed.key
    )
    SELECT count(DISTINCT key)::int AS ended FROM ended`;
  return ended;
}

const reasonOf = () => Prisma.sql`
  CASE WHEN title.status = 'withdrawn' THEN 'the title is withdrawn'
       WHEN payable.status = 'cancelled' THEN 'the payable is cancelled'
       WHEN ${TITLE_GROUND} <> title_ground THEN 'the title has changed'
       WHEN ${PAYABLE_GROUND} <> erp_ground AND payable.status = 'open' THEN 'the payable has changed'
       WHEN NOT ${MAY_BE_COMPANY} THEN 'the company is another buyer'
  END`;

/**
 * Whether titles or payables changed after the newest run began, or a person has decided since. Stale payables are not
 * matched by the service.
 * @param maxAgeHours the age from which payables are stale
 */
export async function isMatchingDue(database: Database, maxAgeHours: number): Promise<boolean> {
  if (await arePayablesStale(database.prisma, maxAgeHours)) return false;
  const [row] = await database.prisma.$queryRaw<[{ due: boolean }]>`
    WITH newest AS (
      SELECT max(started_at) AS at, bool_or(NOT urgent_known) AS is_unknown, max(payables_seen) AS seen
      FROM conciliation.match_run WHERE id = (SELECT max(id) FROM conciliation.match_run)
    )
    SELECT EXISTS (SELECT FROM conciliation.erp_payable)
       AND (at IS NULL OR is_unknown
            OR seen <> ${payablesSeen(Prisma.sql`at`)}
            -- A merge may commit after the time of its pull. The checks of its date run after the commit.
            OR EXISTS (SELECT FROM conciliation.day_check WHERE checked_at >= at)
            OR EXISTS (SELECT FROM conciliation.pull
                       WHERE finished_at >= at AND coalesce(inserted + changed + withdrawn + restored, 0) > 0)
           ) AS due
    FROM newest`;
  return row.due;
}
