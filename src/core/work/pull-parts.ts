import type {
  ConciliationError,
  PlatformAuthError,
  TokenUnusableError,
} from '../../base/runtime/errors.ts';
import type { Logger } from '../../base/runtime/logger.ts';
import type { Attempt } from '../ledger/pull-ledger.sql.ts';
import type { EngineParts } from '../merge/engine-hooks.ts';
import type { MergePolicy } from '../merge/holds.ts';
import type { PullReport } from '../merge/merge.sql.ts';
import type { RetryPolicy } from '../planner/pull-plan.ts';
import type { PlatformClient } from '../platform/conciliation-client.ts';
import type { PullProgress } from '../reader/cutter.ts';

/** The parts of the service that a pull uses, and its settings. */
export interface PullParts extends EngineParts, MergePolicy {
  readonly platform: PlatformClient;
  readonly logger: Logger;
  readonly timeZone: string;
  readonly retry: RetryPolicy;
  /**
   * The largest number of titles that are held in memory to be compared with a response; see `readKnownDay`.
   */
  readonly maxKnownTitles?: number;
  /** For tests: replaces the clock of the database, which decides whether a date is over. */
  readonly now?: () => Date;
  /** For tests: the random numbers of the backoff. */
  readonly random?: () => number;
  /** Called for every chunk of a response that was read. */
  readonly onProgress?: (progress: PullProgress) => void;
  /** Called once for every attempt whose outcome was recorded. */
  readonly onOutcome?: (observed: ObservedAttempt) => void;
}

export interface ObservedAttempt {
  readonly attempt: Attempt;
  readonly outcome: AttemptOutcome;
  readonly durationMs: number;
  /** Null: no response arrived. */
  readonly httpStatus: number | null;
}

/**
 * How one attempt at a pull ended. `retry`: it is queued again and due in `delayMs`;
 * `unauthorized`: it is queued as before, and no attempt can succeed until there is another token.
 */
export type AttemptOutcome =
  | { readonly kind: 'done'; readonly report: PullReport }
  | { readonly kind: 'retry'; readonly delayMs: number; readonly error: ConciliationError }
  | {
      readonly kind: 'unauthorized';
      readonly error: PlatformAuthError | TokenUnusableError;
    }
  | { readonly kind: 'failed'; readonly error: ConciliationError };

/** The part of a response that has arrived. */
export interface TransferProgress {
  /** Null until the header of the response has arrived. */
  httpStatus: number | null;
  /** Bytes of the body, decoded. */
  bytesReceived: () => number;
}
