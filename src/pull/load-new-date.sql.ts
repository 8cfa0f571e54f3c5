import { NamedAccounts } from '../domain/accounts/named-accounts.ts';
import { implausibleHold } from '../domain/checks/plausibility.ts';
import { Occurrences } from '../domain/occurrences.ts';
import { lockDay } from '../ledger/day-ledger.sql.ts';
import { hasErasedParties } from '../privacy/erased-parties.sql.ts';
import { reachFaultPoint } from '../runtime/fault-points.ts';
import { copyResponse, type FetchedResponse, StagingRequiredError } from './copy-response.ts';
import { endAttempt, isNewest, type PullReport, type ReadResponse } from './merge/merge.sql.ts';
import type { MergePlan } from './merge/merge-plan.sql.ts';
import { inMerge } from './merge/merge-transaction.sql.ts';
import { readLoadedFacts } from './merge/plausibility.sql.ts';
import type { PullParts } from './pull-parts.ts';

/**
 * Merges a response into a date without titles while the response is read. All of its titles are new, so they
 * are copied into `title` itself, in the transaction that writes ledger and outcome afterwards. The titles
 * become visible only when the whole response was read and verified. The transaction holds the row of its own
 * date while the response arrives, and no lock that a merge of another date waits for.
 * `createStoppedLoadWatch` ends the session of a process that was stopped meanwhile.
 * @returns null when the response has to be staged: the date has titles or a newer fetch, or the list of
 * erased parties is in use. Nothing of the response was read then.
 * @throws StagingRequiredError when the response has to be held, or has no title for too long; nothing was changed
 * @throws StaleFenceError when another attempt has taken the pull over; nothing was changed
 * @throws StagingUnavailableError when the connection to the database was lost; nothing was changed
 * @throws the errors of `copyResponse`; nothing was changed
 */
export async function loadNewDate(
  parts: PullParts,
  fetched: FetchedResponse,
  signal: AbortSignal,
): Promise<PullReport | null> {
  const { attempt, known } = fetched;
  const { database } = parts;
  if (known.baseChangedAt !== null || parts.alwaysStage === true) return null;
  return inMerge(database, attempt, async (tx, connection) => {
    if (connection === null) return null;
    const day = await lockDay(tx, attempt.date);
    if (day.hasTitles || !isNewest(day, attempt.fence)) return null;
    // Parties are erased from staged rows, so that no data of theirs reaches `title`.
    if (await hasErasedParties(tx)) return null;
    reachFaultPoint('merge');
    const accounts = new NamedAccounts();
    const target = {
      table: 'title',
      pullId: attempt.pullId,
      occurrences: new Occurrences(),
      accounts,
    } as const;
    // COPY lasts as long as the platform's response takes to arrive; the platform client limits that time.
    await connection.query('SET LOCAL statement_timeout = 0');
    const response = await copyResponse(parts, fetched, target, connection, signal);
    await connection.query('SET LOCAL statement_timeout TO DEFAULT');
    const plan = planOf(response);
    const state = plan.inserted > 0 ? 'merged' : 'unchanged';
    const decision = { day, plan, state, hold: null, loadedAccounts: accounts } as const;
    return endAttempt(tx, attempt, response, decision, async () => {
      if (!parts.checksPlausibility || plan.inserted === 0) return;
      const facts = await readLoadedFacts(tx, attempt.date, plan, target.occurrences.repeats);
      if (implausibleHold(facts, parts.withdrawalLimitPercent) !== null) {
        throw new StagingRequiredError('the response is not plausible, and must be held');
      }
    });
  });
}

/** Every title of the response is inserted. */
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
  };
}
