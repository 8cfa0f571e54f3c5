import type { Database } from '../database/database.ts';
import type { RetryPolicy } from '../domain/retry.ts';
import type { Attempt } from '../ledger/pull-ledger.ts';
import type { PlatformClient } from '../platform/conciliation-client.ts';
import type { PullProgress } from '../reader/response-rows.ts';
import type {
  ConciliationError,
  PlatformAuthError,
  TokenUnusableError,
} from '../runtime/errors.ts';
import type { Logger } from '../runtime/logger.ts';
import type { PullReport } from './merge/merge.ts';

/** What the engine works with. */
export interface PullParts {
  readonly database: Database;
  readonly platform: PlatformClient;
  readonly logger: Logger;
  readonly timeZone: string;
  readonly withdrawalLimitPercent: number;
  readonly retry: RetryPolicy;
  /** Also responses to dates without titles are staged before they are merged; for tests. */
  readonly alwaysStage?: boolean;
  /** Titles that are kept at hand to be compared while a response is read; see `loadKnownDay`. */
  readonly maxKnownTitles?: number;
  /** For tests: instead of the clock of the database, which says which dates are over. */
  readonly now?: () => Date;
  /** For tests: the dice of the backoff. */
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
  /** Null where the platform did not answer. */
  readonly httpStatus: number | null;
}

/**
 * How one attempt at a pull, or at a sweep, ended. `retry`: it is queued again and due in `delayMs`;
 * `unauthorized`: it is queued as before, and no attempt can succeed until there is another token.
 */
export type AttemptOutcome<Report = PullReport> =
  | { readonly kind: 'done'; readonly report: Report }
  | { readonly kind: 'retry'; readonly delayMs: number; readonly error: ConciliationError }
  | {
      readonly kind: 'unauthorized';
      readonly error: PlatformAuthError | TokenUnusableError;
    }
  | { readonly kind: 'failed'; readonly error: ConciliationError };

/** What has arrived of an answer so far. */
export interface TransferProgress {
  /** Null until the platform answers. */
  httpStatus: number | null;
  /** Of the body, decoded. */
  bytesReceived: () => number;
}
