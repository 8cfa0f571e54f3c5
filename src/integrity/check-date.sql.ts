/**
 * Computes again what follows from something else, for a date: what something other than the program has changed differs.
 */
import type { Database, Transaction } from '../database/database.ts';
import { isUnavailable } from '../database/database-error.ts';
import type { CivilDate } from '../domain/business-day.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { ShutdownError } from '../runtime/errors.ts';
import {
  contentAlterations,
  dayAlteration,
  holdAlterations,
  titlesAlteration,
  totalsAlteration,
} from './alterations.sql.ts';
import { bookingAlterations } from './booking-alterations.sql.ts';
import { accessAlterations, decisionAlterations } from './decision-alterations.sql.ts';

/** The differences that a pull of the date corrects. */
const REPAIRABLE = ['content', 'titles', 'day', 'totals', 'hold'] as const;
/** Those about which a person decides: nothing can take them back. */
const DECIDABLE = [
  'seal',
  'reject',
  'account',
  'finding',
  'pull',
  'line',
  'lines',
  'batch',
] as const;

/** See the comment of `title_finding.problem`. */
export type Problem =
  | (typeof REPAIRABLE)[number]
  | (typeof DECIDABLE)[number]
  | 'session'
  | 'user'
  | 'consumer'
  | 'unchecked';

export interface Alteration {
  readonly problem: Problem;
  /** See the comment of `title_finding.row_key`. */
  readonly rowKey: string | null;
}

export const isRepairable = ({ problem }: Alteration): boolean =>
  REPAIRABLE.some((name) => name === problem);

/**
 * True for a row `finding` of `title_finding` that keeps its day from being signed off and released. A person may
 * decide about a difference that nothing can take back. The audit log has that decision as well.
 */
export const KEEPS_DAY = Prisma.sql`
  (finding.closed_at IS NULL AND NOT (
    finding.problem = ANY(${[...DECIDABLE]}::text[]) AND EXISTS (
      SELECT FROM conciliation.audit_entry AS entry
      WHERE entry.date = finding.date AND entry.action = 'findings.acknowledge'
        AND (entry.actor, entry.at) = (finding.acknowledged_by, finding.acknowledged_at))))`;

export interface DateCheck {
  readonly date: CivilDate;
  readonly checkedAt: Date;
  /** Rows of `title`, withdrawn titles included. */
  readonly titles: number;
  /** At most `MAX_ALTERATIONS` of each part, and those that a person has acknowledged. */
  readonly alterations: readonly Alteration[];
}

/** Further alterations of a date are found by the check that follows the repair of the first ones. */
const MAX_ALTERATIONS = 1_000;

/** The check reads all titles of the date, which may be millions. The database's statement_timeout is lifted. */
const TRANSACTION = {
  isolationLevel: 'RepeatableRead',
  timeout: 86_400_000,
  maxWait: 30_000,
} as const;

/**
 * Checks a date in one snapshot. Takes no lock and writes nothing.
 *
 * @throws ShutdownError when `signal` is aborted
 */
export async function checkDate(
  database: Database,
  date: CivilDate,
  signal: AbortSignal,
): Promise<DateCheck> {
  signal.throwIfAborted();
  let cancel = () => {};
  try {
    return await database.prisma.$transaction(async (tx) => {
      const [session] = await tx.$queryRaw<[{ pid: number; checkedAt: Date; titles: number }]>`
        SELECT pg_backend_pid() AS pid, now() AS "checkedAt", (
          SELECT count(*) FROM conciliation.title WHERE accepted_date = ${date}::date)::int AS titles`;
      cancel = () => {
        database.prisma.$queryRaw`SELECT pg_cancel_backend(${session.pid}::int)`.catch(() => {});
      };
      signal.addEventListener('abort', cancel, { once: true });
      const alterations = await findAlterations(tx, date, signal);
      return { date, checkedAt: session.checkedAt, titles: session.titles, alterations };
    }, TRANSACTION);
  } catch (error) {
    if (signal.aborted) throw new ShutdownError('the check was interrupted', { cause: error });
    throw error;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/**
 * Whether a difference keeps the date from being signed off or released, also one that no check has found yet. For a
 * decision about the content of the date, by a caller that has locked the row of the day.
 */
export async function isAltered(tx: Transaction, date: CivilDate): Promise<boolean> {
  const alterations = await findAlterations(tx, date, new AbortController().signal);
  await tx.$executeRaw`
    SELECT set_config(name, reset_val, true) FROM pg_settings
    WHERE name IN ('enable_nestloop', 'statement_timeout', 'work_mem')`;
  if (alterations.length === 0) return false;
  const decided = await tx.$queryRaw<Alteration[]>`
    SELECT problem, row_key AS "rowKey" FROM conciliation.title_finding AS finding
    WHERE date = ${date}::date AND closed_at IS NULL AND NOT ${KEEPS_DAY}`;
  return alterations.some(
    ({ problem, rowKey }) =>
      !decided.some((known) => known.problem === problem && known.rowKey === rowKey),
  );
}

/**
 * Makes the parts of a check. A value with which a part fails is an alteration: it must not keep the other parts and
 * the other dates from being checked. An acknowledged alteration does not take the place of another one.
 */
async function findAlterations(
  tx: Transaction,
  date: CivilDate,
  signal: AbortSignal,
): Promise<Alteration[]> {
  await tx.$executeRaw`
    SELECT set_config('enable_nestloop', 'off', true), set_config('work_mem', '64MB', true),
           set_config('statement_timeout', '0', true)`;
  const found: Alteration[] = [];
  let isChecked = true;
  for (const part of [
    contentAlterations(date),
    titlesAlteration(date),
    dayAlteration(date),
    totalsAlteration(date),
    holdAlterations(date),
    bookingAlterations(date),
    decisionAlterations(date),
    accessAlterations,
  ]) {
    signal.throwIfAborted();
    await tx.$executeRaw`SAVEPOINT part`;
    try {
      found.push(...(await tx.$queryRaw<Alteration[]>(limited(date, part))));
    } catch (error) {
      if (signal.aborted || isUnavailable(error)) throw error;
      await tx.$executeRaw`ROLLBACK TO SAVEPOINT part`;
      isChecked = false;
    }
  }
  return isChecked ? found : [...found, { problem: 'unchecked', rowKey: null }];
}

const limited = (date: CivilDate, part: Prisma.Sql) => Prisma.sql`
  SELECT problem, row_key AS "rowKey"
  FROM (
    SELECT altered.problem, altered.row_key, known.id IS NOT NULL AS is_acknowledged,
           row_number() OVER (PARTITION BY known.id IS NULL ORDER BY altered.row_key) AS place
    FROM (${part}) AS altered
    LEFT JOIN conciliation.title_finding AS known
      ON known.date = ${date}::date AND known.closed_at IS NULL AND known.acknowledged_at IS NOT NULL
     AND known.problem = altered.problem AND known.row_key IS NOT DISTINCT FROM altered.row_key
  ) AS placed
  WHERE is_acknowledged OR place <= ${MAX_ALTERATIONS}
  ORDER BY problem, length(row_key), row_key`;
