import { IMPLAUSIBLE_REASONS } from '../merge/plausibility.ts';

/**
 * The states of a day of the ledger. `pending`: known, but not reconciled or not over yet. `attention`:
 * merged, but the response held titles that broke the contract, or a person has to resolve a finding of the checks. `held`: the newest response would remove more
 * titles than allowed. `failed`: all attempts failed and the day was never reconciled.
 */
export const DAY_STATES = ['pending', 'reconciled', 'attention', 'held', 'failed'] as const;
export type DayState = (typeof DAY_STATES)[number];

/**
 * Returns the state after a response was merged into the day.
 * @param day.wasClosed whether the date was over when the request was sent; a response to an
 * earlier request may lack titles of the rest of the date
 */
export function stateAfterMerge(day: {
  readonly wasClosed: boolean;
  readonly openRejects: number;
  /** Of the severity `review`. */
  readonly hasOpenFindings: boolean;
}): DayState {
  if (day.openRejects > 0 || day.hasOpenFindings) return 'attention';
  return day.wasClosed ? 'reconciled' : 'pending';
}

/** The reasons why a response waits for a decision before it is merged. */
export const HOLD_REASONS = [
  'emptied',
  'unreadable',
  'withdrawal_limit',
  ...IMPLAUSIBLE_REASONS,
] as const;
export type HoldReason = (typeof HOLD_REASONS)[number];

/**
 * Returns the reason why a response must wait because of the titles that the date loses; null: none.
 * Titles that earlier responses withdrew count, so that no series of responses loses more than one may.
 */
export function decideHold(day: {
  readonly currentTitles: number;
  /** Titles of the response that keep the contract. */
  readonly responseTitles: number;
  readonly rejected: number;
  /** Titles that the response withdraws. */
  readonly withdrawals: number;
  /** Those of them without a successor. */
  readonly lost: number;
  /** Titles without a successor that earlier responses withdrew. */
  readonly lostBefore: number;
  readonly withdrawalLimitPercent: number;
}): HoldReason | null {
  const { lost, lostBefore, currentTitles } = day;
  if (day.withdrawals > 0 && day.responseTitles === 0 && day.rejected > 0) return 'unreadable';
  if (lost === 0) return null;
  if (day.responseTitles === 0) return 'emptied';
  const isOverLimit =
    (lost + lostBefore) * 100 > day.withdrawalLimitPercent * (currentTitles + lostBefore);
  return isOverLimit ? 'withdrawal_limit' : null;
}

/**
 * The greatest share of the titles of a run, in percent, that its responses may withdraw together: half of the limit
 * of one date. Null: there is no limit. Responses that each lose at most this share of their date lose at most this
 * share of the run together. So such a response is merged at once, and only a greater one waits for the others.
 */
export function runLimitPercent(withdrawalLimitPercent: number): number | null {
  return withdrawalLimitPercent === 100 ? null : withdrawalLimitPercent / 2;
}

/** A run with fewer lost titles is not held. */
const MIN_RUN_TITLES = 20;

/** The losses of all responses of a run. */
export interface RunLosses {
  /** Dates that lose titles. */
  readonly dates: number;
  readonly lost: number;
  /** Titles of all dates of the run before it. */
  readonly titles: number;
}

/** Whether the responses of a run that withdraw titles must wait for a person. The limit of the date holds for one. */
export function isRunHeld(run: RunLosses, withdrawalLimitPercent: number): boolean {
  const limit = runLimitPercent(withdrawalLimitPercent);
  if (limit === null || run.dates < 2 || run.lost < MIN_RUN_TITLES) return false;
  return run.lost * 100 > limit * run.titles;
}
