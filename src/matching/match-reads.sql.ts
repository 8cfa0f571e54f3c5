import type { Database } from '../database/database.ts';
import type { CivilDate } from '../domain/business-day.ts';
import { hasPayables } from '../payables/payable-state.sql.ts';
import { type BreakPayable, PAYABLE_JSON } from './breaks.sql.ts';
import type { RULES } from './candidates.sql.ts';

export type MatchRule = (typeof RULES)[number] | 'person';

/** How far the titles of a date are matched. */
export interface DayMatching {
  /** Current titles. */
  readonly titles: number;
  readonly matched: number;
}

/** Returns how far the titles of a date are matched; null: the ERP has given no payables. */
export async function readDayMatching(
  database: Database,
  date: CivilDate,
): Promise<DayMatching | null> {
  if (!(await hasPayables(database.prisma))) return null;
  const [row] = await database.prisma.$queryRaw<[DayMatching]>`
    SELECT count(*)::int AS titles, count(erp_key)::int AS matched
    FROM conciliation.title LEFT JOIN conciliation.title_payable ON title_id = title.id
    WHERE accepted_date = ${date}::date AND status = 'current'`;
  return row;
}

export interface TitleMatch {
  readonly id: bigint;
  readonly rule: MatchRule;
  readonly ruleVersion: number;
  readonly runId: bigint | null;
  readonly madeAt: Date;
  readonly madeBy: string;
  readonly reason: string | null;
  readonly endedAt: Date | null;
  readonly endedBy: string | null;
  readonly endReason: string | null;
  readonly payable: BreakPayable;
}

/** Returns the matches of a title, the newest first. At most the first one lasts. */
export function readTitleMatches(database: Database, titleId: bigint): Promise<TitleMatch[]> {
  return database.prisma.$queryRaw<TitleMatch[]>`
    SELECT match.id, rule, rule_version::int AS "ruleVersion", run_id AS "runId",
           made_at AS "madeAt", made_by AS "madeBy", reason, ended_at AS "endedAt",
           ended_by AS "endedBy", end_reason AS "endReason", ${PAYABLE_JSON} AS payable
    FROM conciliation.title_match AS match
    JOIN conciliation.erp_payable AS payable ON payable.erp_key = match.erp_key
    WHERE title_id = ${titleId} ORDER BY match.id DESC`;
}

export interface RunRow {
  readonly id: bigint;
  readonly startedAt: Date;
  readonly requestedBy: string;
  readonly ruleVersion: number;
  readonly matched: number;
  readonly reopened: number;
  readonly undoneAt: Date | null;
  readonly undoneBy: string | null;
  readonly undoReason: string | null;
}

/** Returns the newest runs that made or ended a match. */
export async function readRuns(database: Database, limit: number): Promise<RunRow[]> {
  return database.prisma.matchRun.findMany({
    where: { OR: [{ matched: { gt: 0 } }, { reopened: { gt: 0 } }] },
    orderBy: { id: 'desc' },
    take: limit,
  });
}
