import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import type { BankAccount } from '../../../src/console/api/schema-parts.ts';
import { compareAccounts } from '../../../src/features/accounts/account-change.ts';
import {
  accountHashOf,
  contradicts,
  mayBeSameAccount,
  normalAccount,
} from '../../../src/features/accounts/bank-account.ts';

const BASE: BankAccount = {
  bank: '001',
  agency: '0987',
  agencyDigit: null,
  account: '12345',
  accountDigit: '6',
  destination: null,
};
const form = (changes: Partial<BankAccount> = {}) => normalAccount({ ...BASE, ...changes });
const withMembers = (destination: BankAccount['destination'], changes: Partial<BankAccount> = {}) =>
  form({ ...changes, destination });
const NO_NUMBER = { bank: null, agency: null, account: null, accountDigit: null };
const pix = (key: string) => withMembers({ key }, NO_NUMBER);

const BANKS = ['1', '01', '001 - Banco do Brasil', '001-9'];

describe('one account', () => {
  test.each<[string, Partial<BankAccount>]>([
    ...BANKS.map((bank): [string, Partial<BankAccount>] => [bank, { bank }]),
    ['a joined check digit that is stated beside', { agency: '09875', agencyDigit: '5' }],
    ['a dash of another kind', { account: '12345–6' }],
  ])('is written with %s', (_, changes) => {
    expect(form(changes)).toBe(form());
  });
});

describe('another account', () => {
  test.each<[string, Partial<BankAccount>]>([
    ['BTG, whose COMPE code is the ISPB of BRB', { bank: '208' }],
    ['BRB', { bank: '00000208' }],
    ['the CNPJ of its bank', { bank: '00000000000191' }],
    ['an ISPB in place of the code', { bank: '00000000' }],
    ['an operation', { destination: { operation: '013' } }],
    ['a type', { destination: { type: 'CHECKING' } }],
    ['a holder', { destination: { holder: 'ANA' } }],
    ['no bank', { bank: null }],
    ['a branch with a joined check digit', { agency: '09875' }],
    ['a branch that its digit ends with', { agency: '0985', agencyDigit: '5' }],
    ['a branch with separated thousands', { agency: '1.234' }],
    ['no digit', { accountDigit: null }],
    ['a digit twice', { account: '123456' }],
    ['a variation', { destination: { type: 'SAVINGS', variation: '51' } }],
    ['a Pix key', { destination: { key: 'a@b.com' } }],
    ['another ISPB', { destination: { ispb: '60701190' } }],
    ['no account', NO_NUMBER],
    ['bank and branch alone', { account: null, accountDigit: null }],
  ])('is %s', (_, changes) => {
    const forms = [form(), form(changes)] as const;
    expect(forms[0]).not.toBe(forms[1]);
    expect(mayBeSameAccount(...forms)).toBe(false);
    expect(accountHashOf(forms[0])).not.toBe(accountHashOf(forms[1]));
  });

  test('is a key of another e-mail address, also in the field of the number', () => {
    expect(form({ account: 'a.b@c.com' })).not.toBe(form({ account: 'ab@c.com' }));
    expect(form({ account: 'A.B@C.com' })).toBe(form({ account: 'a.b@c.com' }));
  });
});

test('named fields are compared by name, and where nothing else is stated one value stays', () => {
  const of = (changes: Partial<BankAccount>) => (destination: BankAccount['destination']) =>
    withMembers(destination, changes);
  const wallet = of(NO_NUMBER);
  for (const stated of [of({}), wallet]) {
    const one = stated({ mail: 'y' });
    const both = stated({ mail: 'y', text: 'x' });
    const other = stated({ mail: 'y', text: 'z' });
    expect([mayBeSameAccount(one, both), mayBeSameAccount(both, one)]).toEqual([true, true]);
    expect([mayBeSameAccount(both, other), contradicts(both, other)]).toEqual([false, true]);
    // Another name of the field.
    expect(mayBeSameAccount(one, stated({ renamed: 'y' }))).toBe(true);
    expect(contradicts(one, stated({ renamed: 'z' }))).toBe(false);
  }
  expect(mayBeSameAccount(wallet({ mail: 'y' }), wallet({ renamed: 'z' }))).toBe(false);
  expect(mayBeSameAccount(wallet({ mail: 'y' }), wallet({}))).toBe(false);
});

describe('a Pix key', () => {
  test('that is an e-mail address is one key in either case', () => {
    expect(pix(' Ana@B.com')).toBe(pix('ana@b.COM'));
  });

  test.each([
    ['a@b.com', 'x@y.com'],
    ['+5511987654321', '+5511987654322'],
    ['52998224725', '11144477735'],
    ['chave', 'CHAVE'],
  ])('%s is not %s', (one, other) => {
    expect(pix(one)).not.toBe(pix(other));
  });
});

const digits = (from: number, to: number) =>
  fc
    .array(fc.constantFrom(...'0123456789'), { minLength: from, maxLength: to })
    .map((list) => list.join(''));
const account = fc.record({
  bank: fc.constantFrom('001', '033', '104', '208', '341', '999', '00000208'),
  branch: digits(1, 4).map((text) => text.replace(/^0+/, '') || '1'),
  number: digits(1, 12).map((text) => `1${text}`),
  digit: fc.constantFrom(...'0123456789X'),
});
type Account = typeof account extends fc.Arbitrary<infer Value> ? Value : never;

/** Any writing of an account that the documents call the same. */
const writingOf = (of: Account) =>
  fc
    .record({
      bank: fc.constantFrom(
        of.bank,
        of.bank.length === 8 ? of.bank : of.bank.replace(/^0+/, ''),
        `${of.bank} - BANCO S.A.`,
        ` ${of.bank} `,
      ),
      agency: fc.constantFrom(
        of.branch,
        of.branch.padStart(4, '0'),
        `${of.branch.padStart(4, '0')}-3`,
        ` ${of.branch}`,
      ),
      agencyDigit: fc.constantFrom(null, '3', ''),
      zeros: fc.constantFrom('', '0', '000'),
      place: fc.constantFrom('beside', 'joined', 'separated', 'twice'),
      isLower: fc.boolean(),
      blank: fc.constantFrom('', ' ', '\u00a0', '.'),
    })
    .map((how): BankAccount => {
      const digit = how.isLower ? of.digit.toLowerCase() : of.digit;
      const number = `${how.zeros}${of.number.slice(0, 1)}${how.blank}${of.number.slice(1)}`;
      const isSeparated = how.place === 'separated' || how.place === 'twice';
      const joined = how.place === 'joined' ? number + digit : number;
      return {
        bank: how.bank,
        agency: how.agency,
        agencyDigit: how.agencyDigit,
        account: isSeparated ? `${number}-${digit}` : joined,
        accountDigit: how.place === 'beside' || how.place === 'twice' ? digit : null,
        destination: null,
      };
    });

/** The account, without what the documented ambiguous writings have in common: the place of the digit. */
const essence = ({ bank, branch, number, digit }: Account) =>
  JSON.stringify([bank, branch, number + digit]);

const PARTS = ['bank', 'branch', 'number', 'digit'] as const;
test('every writing of an account has one form, and two accounts, also if one part differs, have two', () => {
  fc.assert(
    fc.property(
      fc.tuple(account, account, fc.constantFrom(null, ...PARTS)).chain(([one, other, part]) => {
        const changed = part === null ? other : { ...one, [part]: other[part] };
        const accounts = fc.constant([one, changed] as const);
        return fc.tuple(accounts, writingOf(one), writingOf(one), writingOf(changed));
      }),
      ([[one, changed], ...writings]) => {
        const [first = '', second, third = ''] = writings.map(normalAccount);
        const isSame = essence(one) === essence(changed);
        expect(second).toBe(first);
        expect(third === first).toBe(isSame);
        expect(mayBeSameAccount(third, first)).toBe(isSame);
      },
    ),
    { numRuns: 6_000, seed: 11 },
  );
});

const seen = (account: string) => {
  const normalForm = form({ account });
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
