import type { ClientBase } from 'pg';
import type { Database } from '../database/database.ts';
import { NamedAccounts } from '../domain/named-accounts.ts';
import { lockDay } from '../ledger/day-ledger.ts';
import { configurePlanner } from '../ledger/planner-settings.ts';
import type { Attempt } from '../ledger/pull-ledger.ts';
import { hasErasedParties } from '../privacy/erased-parties.ts';
import { reachFaultPoint } from '../runtime/fault-points.ts';
import {
  endAttempt,
  isNewest,
  lockRunningPull,
  MERGE_TRANSACTION,
  type PullReport,
  type ReadResponse,
} from './merge/merge.ts';
import type { MergePlan } from './merge/merge-plan.ts';

/**
 * Merges a response into a date without titles while the response is read: all of its titles are new, so
 * they are copied into `title`, in the transaction that writes ledger and outcome afterwards. No reader
 * sees any of it before the whole response was read and verified.
 *
 * The transaction holds the row of its own date while the response arrives, and no lock that a merge of
 * another date waits for. `createStoppedLoadWatch` ends the session of a process that was stopped meanwhile.
 *
 * @param read copies the response's titles on the connection, takes note of the accounts that they name,
 *   and ends well only if the whole response was read
 * @returns null where the date has titles, or has a newer fetch: nothing was read
 * @throws StaleFenceError when another attempt has taken the pull over; nothing was changed
 * @throws StagingUnavailableError when the database went away; nothing was changed
 * @throws what `read` throws; nothing was changed
 */
export function loadDay(
  database: Database,
  attempt: Attempt,
  read: (connection: ClientBase, accounts: NamedAccounts) => Promise<ReadResponse>,
): Promise<PullReport | null> {
  return database.prisma.$transaction(async (tx) => {
    await configurePlanner(tx);
    const connection = await database.connectionOf(await lockRunningPull(tx, attempt));
    if (connection === null) return null;
    const day = await lockDay(tx, attempt.date);
    if (day.hasTitles || !isNewest(day, attempt.fence)) return null;
    // Titles can be erased while they are staged, not while they are copied into `title`.
    if (await hasErasedParties(tx)) return null;
    reachFaultPoint('merge');
    const accounts = new NamedAccounts();
    // The platform's pace bounds the COPY, not the database: the platform client has limits of its own.
    await connection.query('SET LOCAL statement_timeout = 0');
    const response = await read(connection, accounts);
    await connection.query('SET LOCAL statement_timeout TO DEFAULT');
    const plan = planOf(response);
    const state = plan.inserted > 0 ? 'merged' : 'unchanged';
    const decision = { day, plan, state, holdReason: null } as const;
    return endAttempt(tx, attempt, response, decision, accounts);
  }, MERGE_TRANSACTION);
}

function planOf({ accepted, rejected }: ReadResponse): MergePlan {
  return {
    titles: accepted,
    rejected,
    inserted: accepted,
    changed: 0,
    withdrawn: 0,
    restored: 0,
    unchanged: 0,
    withheld: 0,
    isFresh: true,
  };
}
