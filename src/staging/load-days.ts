import type { ClientBase } from 'pg';
import type { CivilDate } from '../domain/business-day.ts';
import { NamedAccounts } from '../domain/named-accounts.ts';
import { reachFaultPoint } from '../fault-points.ts';
import { type Database, toStagingError } from './database.ts';
import { type LockedDay, lockDays } from './day-ledger.ts';
import { inStaging } from './in-staging.ts';
import {
  type AttemptMerge,
  endMerges,
  isNewest,
  lockRunningPulls,
  MERGE_TRANSACTION,
  type PullReport,
  type ReadResponse,
} from './merge.ts';
import { lockChangeFeed } from './merge-apply.ts';
import { forbidNestedLoops } from './planner-settings.ts';
import { type Attempt, staleFence } from './pull-ledger.ts';
import type { DateReport } from './pull-outcome.ts';

/** A response to be merged into the one date of its window while it is read. */
export interface DayLoad {
  readonly attempt: Attempt;
  /** Dates up to this one are over and can be reconciled. */
  readonly lastClosedDate: CivilDate;
  /**
   * Copies the response's titles on the connection, takes note of the accounts that they name, and ends
   * well only if all is well.
   */
  read(connection: ClientBase, accounts: NamedAccounts): Promise<ReadResponse>;
}

/** Null: the date is not for this way after all, and nothing was read. */
export type LoadOutcome = PromiseSettledResult<PullReport | null>;

/**
 * Merges responses into dates without titles while they are read: everything that they say is new, so
 * their titles go straight into `title`, in the transaction that takes the locks before and writes
 * ledger and outcomes afterwards. Nobody sees any of it before the whole response was read and verified.
 *
 * The locks are held while the responses are read, and with them the change feed, so a response that
 * does not arrive as fast as PostgreSQL takes it is staged and merged by `mergePull`; and what becomes of
 * a process that is stopped meanwhile is for `endStoppedLoads`.
 *
 * @param loads of different dates
 * @returns by pull, how each load ended. One that fails, by what its `read` threw or by a
 *   StaleFenceError, leaves nothing behind and the others as they are
 * @throws StagingUnavailableError when the database went away: nothing was changed by any of them
 */
export function loadDays(
  database: Database,
  loads: readonly DayLoad[],
): Promise<ReadonlyMap<bigint, LoadOutcome>> {
  return inStaging(() =>
    database.prisma.$transaction(async (tx) => {
      const outcomes = new Map<bigint, LoadOutcome>();
      const pulls = await lockRunningPulls(
        tx,
        loads.map(({ attempt }) => attempt),
      );
      const running = new Map<CivilDate, DayLoad>();
      for (const load of loads) {
        const { pullId, window } = load.attempt;
        const isRunning = pulls.some((pull) => pull.pullId === pullId);
        if (isRunning) running.set(window.from, load);
        outcomes.set(pullId, isRunning ? NOT_LOADED : refused(staleFence(load.attempt)));
      }
      const [session] = pulls;
      const connection = session === undefined ? null : await database.connectionOf(session);
      const days = await lockDays(tx, [...running.keys()]);
      reachFaultPoint('merge');
      const fresh = days.flatMap((day) => {
        const load = running.get(day.date);
        const isFresh = load !== undefined && isNewest(day, load.attempt.fence) && !day.hasTitles;
        return isFresh ? [{ day, load }] : [];
      });
      if (connection === null || fresh.length === 0) throw new NothingMerged(outcomes);

      await lockChangeFeed(tx);
      const merges: AttemptMerge[] = [];
      for (const { day, load } of fresh) {
        const accounts = new NamedAccounts();
        const read = await readApart(connection, () => load.read(connection, accounts));
        if (read.status === 'rejected') outcomes.set(load.attempt.pullId, read);
        else merges.push(describeMerge(load, day, accounts, read.value));
      }
      if (merges.length === 0) throw new NothingMerged(outcomes);
      await forbidNestedLoops(tx);
      for (const report of await endMerges(tx, merges)) {
        outcomes.set(report.pullId, { status: 'fulfilled', value: report });
      }
      return outcomes;
    }, MERGE_TRANSACTION),
  ).catch((error: unknown) => {
    if (error instanceof NothingMerged) return error.outcomes;
    throw error;
  });
}

/** Rolls back, so that nothing is left of dates that have no other statement. */
class NothingMerged extends Error {
  readonly outcomes: ReadonlyMap<bigint, LoadOutcome>;

  constructor(outcomes: ReadonlyMap<bigint, LoadOutcome>) {
    super('no load has ended well');
    this.outcomes = outcomes;
  }
}

/**
 * As `loadDays`, of one response.
 *
 * @throws what it was refused with
 */
export async function loadDay(database: Database, load: DayLoad): Promise<PullReport | null> {
  return outcomeOf(load, await loadDays(database, [load]));
}

/** @throws what the load was refused with */
export async function outcomeOf(
  { attempt }: DayLoad,
  outcomes: ReadonlyMap<bigint, LoadOutcome>,
): Promise<PullReport | null> {
  const outcome = outcomes.get(attempt.pullId);
  if (outcome === undefined) throw new Error('a load has no outcome');
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}

const NOT_LOADED: LoadOutcome = { status: 'fulfilled', value: null };

function refused(error: unknown): PromiseRejectedResult {
  return { status: 'rejected', reason: toStagingError(error) };
}

/** Takes back what the connection wrote where `read` fails, and only that. */
async function readApart<T>(
  connection: ClientBase,
  read: () => Promise<T>,
): Promise<PromiseSettledResult<T>> {
  await connection.query('SAVEPOINT load');
  try {
    const value = await read();
    await connection.query('RELEASE load');
    return { status: 'fulfilled', value };
  } catch (error) {
    await connection.query('ROLLBACK TO load');
    return refused(error);
  }
}

function describeMerge(
  { attempt, lastClosedDate }: DayLoad,
  day: LockedDay,
  accounts: NamedAccounts,
  response: ReadResponse,
): AttemptMerge {
  return {
    source: attempt,
    response,
    days: [day],
    reports: [reportLoaded(day.date, response)],
    loaded: { date: day.date, accounts },
    fresh: [],
    lastClosedDate,
    undatedRejects: false,
  };
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
