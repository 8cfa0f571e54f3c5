import type { Database, Transaction } from '../../base/database/database.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
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
  /** Before the plan of a merge. May change the staged rows and `drift`. */
  readonly beforePlan?: (tx: Transaction, staged: StagedResponse) => Promise<void>;
  /** In the plan of a repair: rows (title_id), the titles that are written again although their content is equal. */
  readonly writtenAgain?: (date: CivilDate) => Prisma.Sql;
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
