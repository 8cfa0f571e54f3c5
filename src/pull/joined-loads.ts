import { ConciliationError, StagingUnavailableError } from '../errors.ts';
import type { Database } from '../staging/database.ts';
import { type DayLoad, loadDays, outcomeOf } from '../staging/load-days.ts';
import type { PullReport } from '../staging/merge.ts';

/** Each is in memory, and all keep the locks until the last is merged. */
const MAX_TOGETHER = 8;
/** Who was just merged is soon back with the next date, where many are pulled: worth so much waiting. */
const GATHER_MS = 30;
/** A merge whose connection went silent must not keep the others from going on. */
const MAX_WAIT_MS = 10_000;

interface WaitingLoad {
  readonly database: Database;
  readonly load: DayLoad;
  readonly resolve: (report: Promise<PullReport | null>) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Merges go one after the other, since each holds the change feed. The loads that wait for the one that
 * is under way go together then, in one transaction: most of what a small day costs is not its titles.
 */
export class JoinedLoads {
  readonly #maxWaitMs: number;
  readonly #loadDays: typeof loadDays;
  #waiting: WaitingLoad[] = [];
  #isLoading = false;
  /** Pulls of which one may have broken a merge of several. Each is merged alone when it comes next. */
  readonly #alone = new Set<bigint>();
  /** How many were merged or waiting when the last merge ended, and when that was. */
  #last = { loads: 1, endMs: 0 };
  #onArrival = () => {};

  /** Options are replaced in tests. */
  constructor(options: { maxWaitMs?: number; loadDays?: typeof loadDays } = {}) {
    this.#maxWaitMs = options.maxWaitMs ?? MAX_WAIT_MS;
    this.#loadDays = options.loadDays ?? loadDays;
  }

  /**
   * As `loadDay`, of a response that is in memory as a whole.
   *
   * @throws what the load was refused with; StagingUnavailableError where the merge failed by which it
   *   went with others, which may have been due to any of them
   */
  load(database: Database, load: DayLoad): Promise<PullReport | null> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ database, load, resolve, reject });
      this.#onArrival();
      if (!this.#isLoading) void this.#loadAll();
    });
  }

  async #loadAll(): Promise<void> {
    this.#isLoading = true;
    while (this.#waiting.length > 0) {
      await this.#gather();
      const next = this.#takeNext();
      await waitAtMost(this.#maxWaitMs, this.#loadTogether(next));
      const loads = Math.min(next.length + this.#waiting.length, MAX_TOGETHER);
      this.#last = { loads, endMs: performance.now() };
    }
    this.#isLoading = false;
  }

  /** Waits for those that are on their way. */
  async #gather(): Promise<void> {
    const { loads, endMs } = this.#last;
    const restMs = endMs + GATHER_MS - performance.now();
    if (restMs <= 0 || this.#waiting.length >= loads) return;
    const arrived = new Promise<void>((resolve) => {
      this.#onArrival = () => {
        if (this.#waiting.length >= loads) resolve();
      };
    });
    await waitAtMost(restMs, arrived);
    this.#onArrival = () => {};
  }

  /** Those that wait, but for a second pull of the same date, which is to find what the first left. */
  #takeNext(): WaitingLoad[] {
    const next: WaitingLoad[] = [];
    const rest: WaitingLoad[] = [];
    for (const waiting of this.#waiting) {
      const fits = next.length < MAX_TOGETHER && next.every((one) => this.#mayJoin(one, waiting));
      (fits ? next : rest).push(waiting);
    }
    this.#waiting = rest;
    return next;
  }

  #mayJoin(one: WaitingLoad, other: WaitingLoad): boolean {
    const [attempt, otherAttempt] = [one.load.attempt, other.load.attempt];
    return (
      one.database === other.database &&
      attempt.window.from !== otherAttempt.window.from &&
      !this.#alone.has(attempt.pullId) &&
      !this.#alone.has(otherAttempt.pullId)
    );
  }

  async #loadTogether(group: readonly WaitingLoad[]): Promise<void> {
    const [first] = group;
    if (first === undefined) return;
    const loads = group.map(({ load }) => load);
    for (const { attempt } of loads) this.#alone.delete(attempt.pullId);
    try {
      const outcomes = await this.#loadDays(first.database, loads);
      for (const { load, resolve } of group) resolve(outcomeOf(load, outcomes));
    } catch (error) {
      const isJoined = group.length > 1;
      for (const { load, reject } of group) {
        if (isJoined) this.#alone.add(load.attempt.pullId);
        reject(isJoined ? toJoinedError(error) : error);
      }
    }
  }
}

/** @param work does not fail */
function waitAtMost(maxMs: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, maxMs);
    void work.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** A defect that one of them met is not the others'. Alone, each meets its own. */
function toJoinedError(error: unknown): unknown {
  return error instanceof ConciliationError
    ? error
    : new StagingUnavailableError(
        'a merge of several dates failed; they are fetched again and merged one by one',
        { cause: error },
      );
}
