import { expect, test } from 'vitest';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import { compareAccounts } from '../../../src/features/accounts/account-change.ts';
import { accountHashOf, normalAccount } from '../../../src/features/accounts/bank-account.ts';

const seen = (account: string) => {
  const normalForm = normalAccount({
    bank: '001',
    agency: '1',
    agencyDigit: null,
    account,
    accountDigit: null,
    destination: null,
  });
  return { accountHash: accountHashOf(normalForm), normalForm, isRestated: false };
};

test('the changes of a party without known accounts do not depend on the order of its accounts', () => {
  const accounts = ['3', '1', '2'].map(seen);
  const sorted = accounts.map(({ accountHash }) => accountHash).sort();
  for (const order of [accounts, accounts.toReversed()]) {
    const { changes } = compareAccounts(toCivilDate('2026-03-02'), [], order);
    expect(changes.map(({ before }) => before)).toEqual([sorted[0], sorted[0]]);
    expect(changes.map(({ after }) => after).sort()).toEqual(sorted.slice(1));
  }
});
