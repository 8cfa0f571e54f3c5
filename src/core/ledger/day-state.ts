/**
 * The states of a day of the ledger. `pending`: known, but not reconciled or not over yet. `attention`:
 * merged, but the response had titles that broke the contract, or a person has to resolve a finding of the checks.
 * `held`: the newest response waits for a person or for the end of its run, see `HOLD_REASONS`. `failed`: all attempts
 * failed and the day was never reconciled.
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
