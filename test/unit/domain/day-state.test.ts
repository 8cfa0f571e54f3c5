import { describe, expect, test } from 'vitest';
import { decideHold, stateAfterMerge } from '../../../src/domain/day-state.ts';

describe('the state after a merge', () => {
  test.each([
    [{ wasClosed: true, openRejects: 0, hasOpenFindings: false }, 'reconciled'],
    [{ wasClosed: false, openRejects: 0, hasOpenFindings: false }, 'pending'],
    [{ wasClosed: true, openRejects: 1, hasOpenFindings: false }, 'attention'],
    [{ wasClosed: false, openRejects: 2, hasOpenFindings: false }, 'attention'],
    [{ wasClosed: true, openRejects: 0, hasOpenFindings: true }, 'attention'],
  ] as const)('%o is %s', (day, state) => {
    expect(stateAfterMerge(day)).toBe(state);
  });
});

describe('a hold', () => {
  const day = {
    currentTitles: 10,
    responseTitles: 8,
    withdrawals: 2,
    rejected: 0,
    withdrawalLimitPercent: 20,
  };
  test.each([
    ['at the limit nothing waits', {}, null],
    ['one beyond it waits', { withdrawals: 3, responseTitles: 7 }, 'withdrawal_limit'],
    [
      'a limit of 0 lets nothing go',
      { withdrawals: 1, withdrawalLimitPercent: 0 },
      'withdrawal_limit',
    ],
    ['a limit of 100 never holds', { withdrawals: 9, withdrawalLimitPercent: 100 }, null],
    [
      'an emptied day waits even then',
      { withdrawals: 10, responseTitles: 0, withdrawalLimitPercent: 100 },
      'emptied',
    ],
    [
      'a day that was empty stays so',
      { currentTitles: 0, withdrawals: 0, responseTitles: 0 },
      null,
    ],
    [
      'a day of rejects alone is unreadable, and not emptied',
      { withdrawals: 10, responseTitles: 0, rejected: 10, withdrawalLimitPercent: 100 },
      'unreadable',
    ],
    [
      'a day of rejects that withdraw nothing does not wait',
      { withdrawals: 0, responseTitles: 0, rejected: 10 },
      null,
    ],
    ['rejects beside other titles change nothing', { rejected: 1 }, null],
  ] as const)('%s', (_name, changes, reason) => {
    expect(decideHold({ ...day, ...changes })).toBe(reason);
  });
});
