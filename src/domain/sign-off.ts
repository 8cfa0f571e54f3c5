import type { DayState } from './day-state.ts';
import { countAsOne, type Identity, isSamePerson } from './person.ts';

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
  /** The author of each release into the day and of each acceptance of its rejects. */
  readonly deciders: readonly Identity[];
}

export interface SignOffRequest {
  readonly signer: Identity;
  /** The digest that this person looked at. */
  readonly seenDigest: string;
  /** Whether a user who decided about the day may not sign it. */
  readonly fourEyes: boolean;
  /** Whether the checks have to run on the content of the day before. Absent: no. */
  readonly requiresChecks?: boolean;
}

/**
 * Why a day cannot be signed off. The codes do not change, because the console has a sentence for each.
 * - `altered`: something other than a merge has changed a row of the day
 */
export type SignOffFault =
  | 'not_reconciled'
  | 'already_signed_off'
  | 'changed_meanwhile'
  | 'not_checked'
  | 'payment_held'
  | 'altered'
  | FourEyesFault;

/**
 * - `own_decision`: the person who signs made a decision about the day
 * - `linked_decision`: a person who made a decision about the day and the person who signs count as one
 */
export type FourEyesFault = 'own_decision' | 'linked_decision';

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
  return request.fourEyes ? fourEyesFault(day.deciders, request.signer) : null;
}

/** Null where the signer and the author of each decision are two persons. */
export function fourEyesFault(
  deciders: readonly Identity[],
  signer: Identity,
): FourEyesFault | null {
  if (deciders.some(([author]) => isSamePerson(author, signer[0]))) return 'own_decision';
  return deciders.some((decider) => countAsOne(decider, signer)) ? 'linked_decision' : null;
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
  own_decision: 'a user who made a decision about the day may not sign it off',
  linked_decision:
    'a user who made a decision about the day counts as the same person as you, because of a password link or a key, so you may not sign it off',
  not_in_ledger: 'the date is not in the ledger',
  unavailable: 'the database did not answer; look whether the day is signed off, and try again',
};
