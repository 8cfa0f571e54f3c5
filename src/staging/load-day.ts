import type { ClientBase } from 'pg';
import type { CivilDate } from '../domain/business-day.ts';
import { NamedAccounts } from '../domain/named-accounts.ts';
import { reachFaultPoint } from '../fault-points.ts';
import type { Database } from './database.ts';
import { lockDays } from './day-ledger.ts';
import { inStaging } from './in-staging.ts';
import {
  endMerge,
  isNewest,
  lockRunningPull,
  MERGE_TRANSACTION,
  type MergePolicy,
  type PullReport,
  type ReadResponse,
} from './merge.ts';
import { lockChangeFeed } from './merge-apply.ts';
import { forbidNestedLoops } from './nested-loops.ts';
import type { Attempt } from './pull-ledger.ts';
import type { DateReport } from './pull-outcome.ts';

/**
 * A process that stops while it loads, or is cut off, holds its locks no longer, although the longest
 * step of a merge may take much longer. Longer than any reader takes who is not stopped.
 */
const BOUND_LOAD = "SET LOCAL statement_timeout = '75s'";

/**
 * Merges a response into a date without titles while it is read: everything that it says is new, so
 * its titles go straight into `title`, in the transaction that takes the locks before and writes ledger
 * and outcome afterwards. Nobody sees any of it before the whole response was read and verified.
 *
 * The locks are held while `read` runs, and with them the change feed, so a response that does not
 * arrive as fast as PostgreSQL takes it is staged and merged by `mergePull`.
 *
 * @param read copies the response's titles on the connection, takes note of the accounts that they name,
 *   and ends well only if all is well
 * @returns null where the date is not for this way after all: nothing was read, and nothing changed
 * @throws what `read` throws; what `mergePull` throws
 */
export function loadDay(
  database: Database,
  attempt: Attempt,
  policy: MergePolicy,
  read: (connection: ClientBase, accounts: NamedAccounts) => Promise<ReadResponse>,
): Promise<PullReport | null> {
  return inStaging(() =>
    database.prisma.$transaction(async (tx) => {
      const { fence, window } = attempt;
      const session = await lockRunningPull(tx, attempt);
      const connection = await database.connectionOf(session);
      const [day] = await lockDays(tx, [window.from]);
      reachFaultPoint('merge');
      if (day === undefined) throw new Error('a day has no row');
      if (connection === null || !isNewest(day, fence) || day.hasTitles) return null;
      await lockChangeFeed(tx);
      await connection.query(BOUND_LOAD);
      const accounts = new NamedAccounts();
      const response = await read(connection, accounts);
      await connection.query('SET LOCAL statement_timeout TO DEFAULT');
      await forbidNestedLoops(tx);
      return endMerge(tx, attempt, [day], [reportLoaded(day.date, response)], response, {
        loaded: accounts,
        fresh: [],
        lastClosedDate: policy.lastClosedDate,
        undatedRejects: false,
      });
    }, MERGE_TRANSACTION),
  );
}

function reportLoaded(date: CivilDate, response: ReadResponse): DateReport {
  const { accepted, rejected } = response;
  return {
    date,
    outcome: accepted > 0 ? 'merged' : 'unchanged',
    holdReason: null,
    titles: accepted,
    inserted: accepted,
    changed: 0,
    withdrawn: 0,
    restored: 0,
    unchanged: 0,
    rejected,
  };
}
