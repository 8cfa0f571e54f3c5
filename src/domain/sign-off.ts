import type { DayState } from './day-state.ts';

/** The ledger's data for the sign-off of a day. */
export interface SignOffCandidate {
  readonly state: DayState;
  /** Null: the day never had a merge. */
  readonly contentDigest: string | null;
  readonly isSignedOff: boolean;
  readonly isRestated: boolean;
  /** All users who released a pull into the day or accepted its rejects. */
  readonly deciders: readonly string[];
}

export interface SignOffRequest {
  readonly by: string;
  /** The digest of the content that the user has seen. */
  readonly seenDigest: string;
  /** Whether a user who decided about the day may not sign it. */
  readonly fourEyes: boolean;
}

/** Why a day cannot be signed off. The codes do not change, because the console has a sentence for each. */
export type SignOffFault =
  | 'not_reconciled'
  | 'already_signed_off'
  | 'changed_meanwhile'
  | 'own_decision';

/**
 * Returns null when the day may be signed off: it is reconciled, is not signed in its present
 * state, has the content that the user has seen, and had its decisions made by other users.
 */
export function signOffFault(day: SignOffCandidate, request: SignOffRequest): SignOffFault | null {
  if (day.state !== 'reconciled' || day.contentDigest === null) return 'not_reconciled';
  if (day.isSignedOff && !day.isRestated) return 'already_signed_off';
  if (day.contentDigest !== request.seenDigest) return 'changed_meanwhile';
  return request.fourEyes && day.deciders.includes(request.by) ? 'own_decision' : null;
}

export const SIGN_OFF_FAULTS: Readonly<Record<SignOffFault, string>> = {
  not_reconciled: 'only a reconciled day can be signed off',
  already_signed_off: 'the day is signed off already',
  changed_meanwhile: 'the day has changed since it was looked at; look again',
  own_decision: 'a user who decided about the day may not sign it off',
};
