import { describe, expect, test } from 'vitest';
import { stateAfterMerge } from '../../../src/core/ledger/day-ledger.sql.ts';
import { isRunHeld } from '../../../src/core/merge/decide-runs.sql.ts';
import { decideHold } from '../../../src/core/merge/holds.sql.ts';
import {
  type SignOffCandidate,
  type SignOffFault,
  signOffFault,
} from '../../../src/features/review/sign-off.sql.ts';

test.each([
  [{ wasClosed: true, openRejects: 0, hasOpenFindings: false }, 'reconciled'],
  [{ wasClosed: false, openRejects: 0, hasOpenFindings: false }, 'pending'],
  [{ wasClosed: true, openRejects: 1, hasOpenFindings: false }, 'attention'],
  [{ wasClosed: false, openRejects: 2, hasOpenFindings: false }, 'attention'],
  [{ wasClosed: true, openRejects: 0, hasOpenFindings: true }, 'attention'],
] as const)('the state after a merge of %o is %s', (day, state) => {
  expect(stateAfterMerge(day)).toBe(state);
});

describe('a hold', () => {
  const day = {
    ...{ currentTitles: 10, responseTitles: 8, withdrawals: 2, lost: null, lostBefore: 0 },
    ...{ rejected: 0, withdrawalLimitPercent: 20 },
  };
  const emptied = { withdrawals: 10, responseTitles: 0 };
  const any = { withdrawalLimitPercent: 100 };
  test.each([
    ['at the limit nothing waits', {}, null],
    ['one beyond it waits', { withdrawals: 3, responseTitles: 7 }, 'withdrawal_limit'],
    ['a limit of 0', { withdrawals: 1, withdrawalLimitPercent: 0 }, 'withdrawal_limit'],
    ['a limit of 100 never holds', { ...any, withdrawals: 9 }, null],
    ['an emptied day waits even then', { ...any, ...emptied }, 'emptied'],
    ['a day that was empty stays so', { ...emptied, currentTitles: 0, withdrawals: 0 }, null],
    ['a day of rejects is unreadable', { ...any, ...emptied, rejected: 10 }, 'unreadable'],
    ['rejects that withdraw nothing', { ...emptied, withdrawals: 0, rejected: 10 }, null],
    ['rejects beside other titles change nothing', { rejected: 1 }, null],
    ['earlier withdrawals count', { currentTitles: 81, lostBefore: 19 }, 'withdrawal_limit'],
    ['up to the limit', { currentTitles: 81, withdrawals: 1, lostBefore: 19 }, null],
    ['a response that loses none passes', { withdrawals: 0, lostBefore: 90 }, null],
    ['titles with a successor', { withdrawals: 10, lost: 0, responseTitles: 10 }, null],
    ['a date emptied by a move is not emptied', { ...emptied, lost: 0 }, null],
  ] as const)('%s', (_name, changes, reason) => {
    const facts = { ...day, ...changes };
    expect(decideHold({ ...facts, lost: facts.lost ?? facts.withdrawals })).toBe(reason);
  });
});

test.each([
  ['seven dates that lose 19 % each wait', { dates: 7, lost: 133, titles: 700 }, 20, true],
  ['half of the limit of a date passes', { dates: 2, lost: 20, titles: 200 }, 20, false],
  ['one title more waits', { dates: 2, lost: 21, titles: 200 }, 20, true],
  ['one date has its own limit only', { dates: 1, lost: 38, titles: 200 }, 20, false],
  ['fewer than 20 titles pass', { dates: 7, lost: 19, titles: 70 }, 20, false],
  ['a limit of 100 never holds', { dates: 7, lost: 700, titles: 700 }, 100, false],
] as const)('the limit of a run: %s', (_name, run, limit, isHeld) => {
  expect(isRunHeld(run, limit)).toBe(isHeld);
});

const day: SignOffCandidate = {
  digest: 'd1',
  isSignedOff: false,
  isRestated: false,
  obstacles: [],
};

test.each<[string, Partial<SignOffCandidate>, SignOffFault]>([
  ['a state that was not seen', { digest: 'd2' }, 'changed_meanwhile'],
  ['the first obstacle', { obstacles: ['payment_held', 'own_decision'] }, 'payment_held'],
  [
    'that it is not complete',
    { isSignedOff: true, obstacles: ['altered', 'not_reconciled'] },
    'not_reconciled',
  ],
])('the reason why a day is not signed: %s', (_, change, fault) => {
  expect(signOffFault({ ...day, ...change }, 'd1')).toBe(fault);
});
