/** What keeps an altered day from being signed off and released. */
import type { Transaction } from '../database/database.ts';
import type { CivilDate } from '../domain/business-day.ts';
import { Prisma } from '../generated/prisma/client.ts';
import {
  type Alteration,
  checkPart,
  dayAlteration,
  readContentVersion,
  rowAlterations,
} from './check-date.sql.ts';

/**
 * True for a row `finding` of `title_finding` that keeps its day from being signed off and released. A person may
 * acknowledge a difference in what a seal does not cover: the row of a withdrawn title, and the history. A repair
 * mends all other differences.
 */
export const KEEPS_DAY = Prisma.sql`
  (finding.closed_at IS NULL
   AND (finding.acknowledged_at IS NULL
        OR finding.problem NOT IN ('history', 'unchecked')
           AND NOT EXISTS (SELECT FROM conciliation.title AS named
                           WHERE named.id = finding.title_id AND named.status = 'withdrawn')))`;

/**
 * Whether a row of the date or its row of `day` is altered, also where a value makes the comparison fail. The row of
 * a withdrawn title does not count once a person has acknowledged its finding. For a decision about the content of
 * the date, by a caller that has locked the row of the day. The history of the titles is not compared.
 */
export async function isAltered(tx: Transaction, date: CivilDate): Promise<boolean> {
  const contentVersion = await readContentVersion(tx, date);
  // The comparison of a million titles sorts and hashes all of them.
  await tx.$executeRaw`
    SELECT set_config('enable_nestloop', 'off', true), set_config('work_mem', '64MB', true),
           set_config('statement_timeout', '0', true)`;
  const alterations = await checkPart(
    tx,
    new AbortController().signal,
    () => tx.$queryRaw<Alteration[]>`
      SELECT altered.title_id AS "titleId", altered.problem
      FROM ((${rowAlterations(date, contentVersion)}) UNION ALL (${dayAlteration(date)})) AS altered
      WHERE NOT EXISTS (
        SELECT FROM conciliation.title_finding AS finding
        WHERE finding.date = ${date}::date AND finding.closed_at IS NULL AND NOT ${KEEPS_DAY}
          AND finding.title_id = altered.title_id AND finding.problem = altered.problem)
      LIMIT 1`,
  );
  await tx.$executeRaw`SELECT set_config('enable_nestloop', 'on', true)`;
  await tx.$executeRaw`SET LOCAL statement_timeout TO DEFAULT`;
  return alterations.length > 0;
}
