/** The ledger's data for the sign-off of a day. */
export interface SignOffCandidate {
  readonly contentDigest: string | null;
  readonly isSignedOff: boolean;
  readonly isRestated: boolean;
  /** What keeps the day from being signed off by this person, the first reason first. */
  readonly obstacles: readonly SignOffObstacle[];
}

/**
 * Why a day cannot be signed off. The codes do not change, because the console has a sentence for each.
 * - `altered`, `unrecorded`: something other than the program has written to the database; see `verifyObstacles`
 * - `own_decision`: the person who signs made a decision about the day
 * - `open_before`: the day was open when the person who signs, an administrator before, got the present role
 */
type SignOffObstacle =
  | 'altered'
  | 'unrecorded'
  | 'not_reconciled'
  | 'not_checked'
  | 'payment_held'
  | 'own_decision'
  | 'open_before';
export type SignOffFault = SignOffObstacle | 'already_signed_off' | 'changed_meanwhile';

/**
 * Returns null when the day may be signed off: it is not signed in its present state, has the content that the user has
 * seen, and has no obstacle.
 * @param seenDigest the digest that this person looked at
 */
export function signOffFault(day: SignOffCandidate, seenDigest: string): SignOffFault | null {
  if (day.obstacles.includes('not_reconciled')) return 'not_reconciled';
  if (day.isSignedOff && !day.isRestated) return 'already_signed_off';
  if (day.contentDigest !== seenDigest) return 'changed_meanwhile';
  return day.obstacles[0] ?? null;
}

/**
 * Why a day of a list was not signed off.
 * - `not_in_ledger`: the ledger does not have the date
 * - `unavailable`: the database did not answer; the day may be signed off again
 */
export type SignOffRefusal = SignOffFault | 'not_in_ledger' | 'unavailable';

export const SIGN_OFF_FAULTS: Readonly<Record<SignOffRefusal, string>> = {
  not_reconciled: 'only a reconciled day can be signed off',
  already_signed_off: 'the day is signed off already',
  changed_meanwhile: 'the day has changed since it was looked at; look again',
  not_checked: 'the checks of the day have not run yet; try again in a few seconds',
  payment_held:
    'titles of the day name a changed bank account; confirm the account before the sign-off',
  altered:
    'titles of the day were changed outside of the program; a pull that repairs the day restores them',
  unrecorded:
    'decisions, bookings or access were changed outside of the program; acknowledge the differences, or correct the access',
  own_decision: 'a user who made a decision about the day may not sign it off',
  open_before:
    'the day was open when you, an administrator before, got your role, so another user has to sign it off',
  not_in_ledger: 'the date is not in the ledger',
  unavailable: 'the database did not answer; look whether the day is signed off, and try again',
};
