import type { DayState } from './day-state.ts';

/** The author of an automatic sign-off, in the seal and in the audit log. */
export const AUTO_SIGN_OFF_AUTHOR = 'auto-sign-off';

/** The ledger's data for the sign-off of a day. */
export interface SignOffCandidate {
  readonly state: DayState;
  /** Null: the day never had a merge. */
  readonly contentDigest: string | null;
  readonly isSignedOff: boolean;
  readonly isRestated: boolean;
  /** Titles of the day whose payment is held: they name a changed bank account that no person has confirmed. */
  readonly heldPayments: number;
  /** Whether the checks ran on the present content. */
  readonly isChecked: boolean;
  /** Why this user is not the second person of the day; null: the user is, or nobody needs to be. */
  readonly fourEyesFault: FourEyesFault | null;
}

export interface SignOffRequest {
  /** The digest that this person looked at. */
  readonly seenDigest: string;
  /** Whether the checks have to run on the content of the day before. Absent: no. */
  readonly requiresChecks?: boolean;
}

/**
 * Why a day cannot be signed off. The codes do not change, because the console has a sentence for each.
 * - `altered`, `unrecorded`: see `AlterationFault`
 */
export type SignOffFault =
  | 'not_reconciled'
  | 'already_signed_off'
  | 'changed_meanwhile'
  | 'not_checked'
  | 'payment_held'
  | AlterationFault
  | FourEyesFault;

/**
 * Something other than the program has written to the database.
 * - `altered`: to titles, or to what follows from them, which a pull restores
 * - `unrecorded`: to decisions, bookings or access, where a person has to act
 */
export type AlterationFault = 'altered' | 'unrecorded';

/**
 * - `own_decision`: the person who signs made a decision about the day
 * - `open_before`: the day was open when the person who signs, an administrator before, got the present role
 */
export type FourEyesFault = 'own_decision' | 'open_before';

/**
 * Returns null when the day may be signed off: it is reconciled, is not signed in its present
 * state, has the content that the user has seen, was checked, has no payment on hold, and had its decisions made by other
 * users.
 */
export function signOffFault(day: SignOffCandidate, request: SignOffRequest): SignOffFault | null {
  if (day.state !== 'reconciled' || day.contentDigest === null) return 'not_reconciled';
  if (day.isSignedOff && !day.isRestated) return 'already_signed_off';
  if (day.contentDigest !== request.seenDigest) return 'changed_meanwhile';
  if (request.requiresChecks === true && !day.isChecked) return 'not_checked';
  if (day.heldPayments > 0) return 'payment_held';
  return day.fourEyesFault;
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
