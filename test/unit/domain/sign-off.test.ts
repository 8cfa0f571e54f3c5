import { expect, test } from 'vitest';
import {
  type SignOffCandidate,
  type SignOffRequest,
  signOffFault,
} from '../../../src/core/ledger/sign-off.ts';

const day: SignOffCandidate = {
  state: 'reconciled',
  contentDigest: 'd1',
  isSignedOff: false,
  isRestated: false,
  heldPayments: 0,
  isChecked: true,
  fourEyesFault: null,
};
const ana: SignOffRequest = { seenDigest: 'd1' };

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

test.each(['own_decision', 'open_before'] as const)(
  'a user who is not the second person may not sign: %s',
  (fourEyesFault) => {
    expect(signOffFault({ ...day, fourEyesFault }, ana)).toBe(fourEyesFault);
  },
);
