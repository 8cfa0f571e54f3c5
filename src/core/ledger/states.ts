/** The states of days and pulls, why a pull is made, and why its response waits. */

/**
 * The states of a day of the ledger. `pending`: known, but not reconciled or not over yet. `attention`:
 * merged, but the response had titles that broke the contract, or a person has to resolve a finding of the checks.
 * `held`: the newest response waits for a person or for the end of its run, see `HOLD_REASONS`. `failed`: all attempts
 * failed and the day was never reconciled.
 */
export const DAY_STATES = ['pending', 'reconciled', 'attention', 'held', 'failed'] as const;
export type DayState = (typeof DAY_STATES)[number];

export const PULL_ORIGINS = ['daily', 'lookback', 'backfill', 'sweep', 'manual', 'repair'] as const;
export type PullOrigin = (typeof PULL_ORIGINS)[number];

/** The states of a pull. The row in `conciliation.pull` decides, not the queue. */
export const PULL_STATES = [
  'queued',
  'running',
  'merged',
  'unchanged',
  'held',
  'superseded',
  'failed',
  'cancelled',
] as const;
export type PullState = (typeof PULL_STATES)[number];

/** The reasons why a response waits for a decision before it is merged. */
export const HOLD_REASONS = [
  'emptied',
  'unreadable',
  'withdrawal_limit',
  'run_withdrawals',
  'buyer_withdrawals',
  'buyer_missing',
  'duplicates',
  'growth',
  'changed_share',
  'value_jump',
] as const;
export type HoldReason = (typeof HOLD_REASONS)[number];

/** The value that was compared with a limit. */
export interface HoldDetail {
  /** The identification of the buyer, empty for titles without one; null: all titles. */
  readonly buyer: string | null;
  /** The titles or, for `value_jump`, the factor, rounded. */
  readonly found: number;
  /** The titles that `found` is a share of, or the usual number; null for `value_jump`. */
  readonly of: number | null;
  readonly limit: number;
}

export interface Hold {
  readonly reason: HoldReason;
  /** Null unless the response is held for its plausibility. */
  readonly detail: HoldDetail | null;
}
