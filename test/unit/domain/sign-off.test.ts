import { expect, test } from 'vitest';
import {
  type SignOffCandidate,
  type SignOffFault,
  signOffFault,
} from '../../../src/features/review/sign-off.sql.ts';

const day: SignOffCandidate = {
  contentDigest: 'd1',
  isSignedOff: false,
  isRestated: false,
  obstacles: [],
};

test.each<[string, Partial<SignOffCandidate>, SignOffFault | null]>([
  ['a day without an obstacle is signed off', {}, null],
  ['a restated day is signed off again', { isSignedOff: true, isRestated: true }, null],
  ['a seal is not put twice', { isSignedOff: true }, 'already_signed_off'],
  [
    'a day is not signed in a state that was not seen',
    { contentDigest: 'd2' },
    'changed_meanwhile',
  ],
  [
    'the first obstacle is the reason',
    { obstacles: ['payment_held', 'own_decision'] },
    'payment_held',
  ],
  [
    'a day that is not complete has that reason first',
    { isSignedOff: true, obstacles: ['altered', 'not_reconciled'] },
    'not_reconciled',
  ],
])('%s', (_, change, fault) => {
  expect(signOffFault({ ...day, ...change }, 'd1')).toBe(fault);
});
