import { expect, test } from 'vitest';
import { type SignOffCandidate, signOffFault } from '../../../src/domain/sign-off.ts';

const day: SignOffCandidate = {
  state: 'reconciled',
  contentDigest: 'd1',
  isSignedOff: false,
  isRestated: false,
  deciders: [],
};
const ana = { by: 'ana', seenDigest: 'd1', fourEyes: true };

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
  const decided = { ...day, deciders: ['bia', 'ana'] };
  expect(signOffFault(decided, ana)).toBe('own_decision');
  expect(signOffFault(decided, { ...ana, by: 'caio' })).toBeNull();
  expect(signOffFault(decided, { ...ana, fourEyes: false })).toBeNull();
});
