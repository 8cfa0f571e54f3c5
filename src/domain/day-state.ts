/**
 * What a day of the ledger can be. `pending`: known, not yet reconciled, or not over yet;
 * `attention`: merged, but the response held titles that broke the contract; `held`: the newest
 * response would take away more than a person allowed; `failed`: every attempt was spent and the day
 * was never reconciled.
 */
export const DAY_STATES = ['pending', 'reconciled', 'attention', 'held', 'failed'] as const;
export type DayState = (typeof DAY_STATES)[number];

/** The state after a response was merged into the day. Only a date that is over is reconciled. */
export function stateAfterMerge(day: {
  readonly isClosed: boolean;
  readonly openRejects: number;
}): DayState {
  if (day.openRejects > 0) return 'attention';
  return day.isClosed ? 'reconciled' : 'pending';
}

/** Why a response waits for a person before it is merged into a date. */
export type HoldReason = 'emptied' | 'withdrawal_limit' | 'undated_rejects';

/**
 * Whether a response must wait, and why. A title that a sweep could not place on any date may be one
 * that seems to have vanished from this one, so nothing is withdrawn then without a person.
 */
export function decideHold(day: {
  readonly currentTitles: number;
  readonly responseTitles: number;
  readonly withdrawals: number;
  readonly undatedRejects: number;
  readonly withdrawalLimitPercent: number;
}): HoldReason | null {
  if (day.withdrawals === 0) return null;
  if (day.responseTitles === 0) return 'emptied';
  if (day.withdrawals * 100 > day.withdrawalLimitPercent * day.currentTitles) {
    return 'withdrawal_limit';
  }
  return day.undatedRejects > 0 ? 'undated_rejects' : null;
}
