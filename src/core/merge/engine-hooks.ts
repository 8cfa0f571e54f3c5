import type { Database, Transaction } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { LockedDay } from '../ledger/day-ledger.sql.ts';
import type { Hold } from '../ledger/states.ts';
import type { DriftItem } from '../title/title-contract.ts';

/** The pull that is merged. The rows of its date and of the pull are locked. */
export interface MergingPull {
  readonly pullId: bigint;
  readonly fence: bigint;
  readonly date: CivilDate;
  /** Whether the pull believes nothing that is stored for its date, because rows of it were altered. */
  readonly isRepair: boolean;
}

/** A response whose rows are staged under the fence of its pull. */
export interface StagedResponse extends MergingPull {
  drift: readonly DriftItem[];
}

/** The changes of a response in its date, counted. */
export interface ChangeCounts {
  readonly inserted: number;
  readonly changed: number;
  readonly withdrawn: number;
  readonly restored: number;
  readonly unchanged: number;
  /**
   * Titles that the response lacks and that stay current, because a reject of the response may be the title.
   */
  readonly withheld: number;
}

/** The changes that `planChanges` found. */
export interface MergePlan extends ChangeCounts {
  /** Titles of the response that keep the contract. */
  readonly titles: number;
  readonly rejected: number;
}

/** The lost titles of one buyer. */
export interface Losses {
  /** The normal form of the buyer's identification, empty for titles without one. */
  readonly buyer: string;
  /** Titles that the response withdraws. */
  readonly lost: number;
  /** Titles that earlier responses withdrew and that the response does not restore. */
  readonly lostBefore: number;
}

/** A response whose changes are planned, and which no limit of its date's losses holds. */
export interface PlannedResponse {
  readonly fence: bigint;
  readonly day: LockedDay;
  /** A buyer that is not listed loses no title. */
  readonly losses: readonly Losses[];
}

/** The part of the closing phase. The lock that all merges share is held. */
interface ClosingHook {
  /**
   * Common table expressions of the one statement that ends a merge of titles; one of them is `answer`, of one row.
   * They do not see what the other parts of the statement write.
   */
  readonly expressions: (pull: MergingPull) => Prisma.Sql;
  readonly answer: string;
  readonly finish: (tx: Transaction, pull: MergingPull, answer: unknown) => Promise<void>;
}

/** What a feature adds to the engine, which knows no feature. Each hook gets the transaction. */
interface EngineHooks {
  /**
   * Before the plan of a merge. May change the staged rows and `drift`, and in a repair `raw_hash` of titles of the date,
   * which are then written again.
   */
  readonly beforePlan?: (tx: Transaction, staged: StagedResponse) => Promise<void>;
  /**
   * In the decision about a response that inserts, changes or withdraws titles. Returns why a person has to decide
   * first; null: nothing. `emptied` and the limits of a date and of a run are the engine's.
   */
  readonly inDecision?: (
    tx: Transaction,
    planned: PlannedResponse,
    withdrawalLimitPercent: number,
  ) => Promise<Hold | null>;
  /** In the part of a merge that touches its own date only, when its titles are written or its day is computed anew. */
  readonly inOwnDate?: (
    tx: Transaction,
    pull: MergingPull,
    merge: { readonly isChanged: boolean },
  ) => Promise<void>;
  /** In the closing phase of a merge that has changed titles. */
  readonly inClosing?: ClosingHook;
  /** When work is planned. The planner's lock is held. Returns how many pulls were created. */
  readonly inPlanning?: (
    tx: Transaction,
    plan: { readonly isScheduled: boolean; readonly maxOpenBackfillPulls: number },
  ) => Promise<number>;
}

/** The engine's view of a feature. Hooks run in the order of the features. */
export interface EngineFeature {
  readonly name: string;
  readonly engine?: EngineHooks;
}

export interface EngineParts {
  readonly database: Database;
  readonly features: readonly EngineFeature[];
}
