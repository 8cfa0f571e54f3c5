import { expect, test } from 'vitest';
import { findAccountChanges } from '../../../src/domain/account-change.ts';
import { toCivilDate } from '../../../src/domain/business-day.ts';

test('the changes of a party without known accounts do not depend on the order of its accounts', () => {
  const seen = ['b', 'a', 'c'].map((accountHash) => ({ accountHash, isRestated: false }));
  const changes = findAccountChanges(toCivilDate('2026-03-02'), [], seen);
  expect(changes).toEqual([
    { before: 'a', after: 'b' },
    { before: 'a', after: 'c' },
  ]);
});
