import { expect, test } from 'vitest';
import type { Person } from '../../../src/domain/person.ts';
import {
  type SignOffCandidate,
  type SignOffRequest,
  signOffFault,
} from '../../../src/domain/sign-off.ts';

const day: SignOffCandidate = {
  state: 'reconciled',
  contentDigest: 'd1',
  isSignedOff: false,
  isRestated: false,
  heldPayments: 0,
  isChecked: true,
  deciders: [],
};
const person = (userId: number): Person => ({ userId, name: `user ${userId}` });
const ana: SignOffRequest = { signer: [person(1)], seenDigest: 'd1', fourEyes: true };

test('a reconciled day may be signed off, and a restated one again', () => {
  expect(signOffFault(day, ana)).toBeNull();
  expect(signOffFault({ ...day, isSignedOff: true, isRestated: true }, ana)).toBeNull();
});

test.each(['pending', 'attention', 'held', 'failed'] as const)(
  'a day that is %s may not',
  (state) => {
    expect(signOffFault({ ...day, state }, ana)).toBe('not_reconciled');
  },
);

test('a day into which nothing was merged may not', () => {
  expect(signOffFault({ ...day, contentDigest: null }, ana)).toBe('not_reconciled');
});

test('a seal is not put twice', () => {
  expect(signOffFault({ ...day, isSignedOff: true }, ana)).toBe('already_signed_off');
});

test('a day is not signed in a state that was not seen', () => {
  expect(signOffFault({ ...day, contentDigest: 'd2' }, ana)).toBe('changed_meanwhile');
});

test('a user who decided about the day may not sign it, unless that is allowed', () => {
  const decided: SignOffCandidate = { ...day, deciders: [[person(2)], [person(1)]] };
  expect(signOffFault(decided, ana)).toBe('own_decision');
  expect(signOffFault(decided, { ...ana, signer: [person(3)] })).toBeNull();
  expect(signOffFault(decided, { ...ana, fourEyes: false })).toBeNull();
});

test('a person who counts as the decider of the day may not sign the day, unless that is allowed', () => {
  const linked: SignOffRequest = { ...ana, signer: [person(3), person(1)] };
  expect(signOffFault({ ...day, deciders: [[person(1)]] }, linked)).toBe('linked_decision');
  expect(signOffFault({ ...day, deciders: [[person(3), person(1)]] }, ana)).toBe('linked_decision');
  expect(
    signOffFault({ ...day, deciders: [[person(1)]] }, { ...linked, fourEyes: false }),
  ).toBeNull();
});
