import type { Database } from '../../base/database/database.ts';
import { type BreakCode, type BreakPayable, PAYABLE_JSON } from './break-list.sql.ts';
import type { RULES } from './candidates.sql.ts';

type MatchRule = (typeof RULES)[number] | 'inherited' | 'person';

export interface TitleMatch {
  readonly id: bigint;
  readonly rule: MatchRule;
  readonly ruleVersion: number;
  readonly runId: bigint | null;
  readonly madeAt: Date;
  readonly madeBy: string;
  /** Of a person. */
  readonly code: BreakCode | null;
  readonly reason: string | null;
  readonly endedAt: Date | null;
  readonly endedBy: string | null;
  readonly endReason: string | null;
  readonly payable: BreakPayable;
  /** The rows of one sum have the same; null: one title and one payable. */
  readonly sumId: bigint | null;
  /** The other titles of the payable. */
  readonly otherTitles: readonly number[];
}

/** Returns the matches of a title, the newest first: for a sum, one row for each payable. At most one match lasts. */
export function readTitleMatches(database: Database, titleId: bigint): Promise<TitleMatch[]> {
  return database.prisma.$queryRaw<TitleMatch[]>`
    SELECT match.id, rule, rule_version::int AS "ruleVersion", run_id AS "runId",
           made_at AS "madeAt", made_by AS "madeBy", code, reason, ended_at AS "endedAt",
           ended_by AS "endedBy", end_reason AS "endReason", ${PAYABLE_JSON} AS payable, match.sum_id AS "sumId",
           ARRAY(SELECT other.title_id::float8 FROM conciliation.title_match AS other
                 WHERE other.sum_id = match.sum_id AND other.title_id <> match.title_id
                 ORDER BY other.title_id) AS "otherTitles"
    FROM conciliation.title_match AS match
    JOIN conciliation.erp_payable AS payable ON payable.erp_key = match.erp_key
    JOIN conciliation.title AS title ON title.id = match.title_id
    WHERE title_id = ${titleId} ORDER BY (ended_at IS NULL) DESC, match.id DESC`;
}
