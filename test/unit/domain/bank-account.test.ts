import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import type { BankAccount } from '../../../src/console/api/schema-parts.ts';
import { compareAccounts } from '../../../src/features/accounts/account-change.ts';
import {
  accountHashOf,
  contradicts,
  ISPB_OF_COMPE,
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
const pix = (key: string, keyType?: string) =>
  withMembers(keyType === undefined ? { key } : { key, keyType }, NO_NUMBER);

const BANKS = ['1', '01', '001 - Banco do Brasil', '001-9', '00000000', '00.000.000/0001-91'];

describe('one account', () => {
  test.each<[string, Partial<BankAccount>]>([
    ...BANKS.map((bank): [string, Partial<BankAccount>] => [bank, { bank }]),
    ['a CNPJ', { bank: '00000000000191' }],
    ['a joined check digit that is stated beside', { agency: '09875', agencyDigit: '5' }],
    ['separated thousands of the branch', { agency: '0.987' }],
    ['a dash of another kind', { account: '12345–6' }],
    ['the ISPB of its bank beside it', { destination: { ispb: '0' } }],
    ['the ISPB of its bank in full', { destination: { ispb: '00000000' } }],
    ['the type of most accounts', { destination: { type: 'CHECKING_ACCOUNT' } }],
    ['a type in Portuguese', { destination: { type: 'conta corrente' } }],
  ])('is written with %s', (_, changes) => {
    expect(form(changes)).toBe(form());
  });

  test('of Caixa is written with its operation before the number, or beside it', () => {
    const caixa = { bank: '104', agency: '0001' };
    const beside = withMembers({ operation: '13' }, caixa);
    for (const account of ['013.00012345', '013-12345', '013.12345-6', '0013.12345']) {
      expect(form({ ...caixa, account }), account).toBe(beside);
    }
    expect(withMembers({ operation: '013' }, { ...caixa, account: '013.12345' })).toBe(beside);
    expect(form(caixa)).not.toBe(beside);
    expect(form({ ...caixa, account: '001.12345' })).not.toBe(beside);
    // A check digit after four digits is no number after an operation.
    expect(form({ ...caixa, account: '1234-5', accountDigit: null })).toBe(
      form({ ...caixa, account: '1234', accountDigit: '5' }),
    );
  });
});

describe('another account', () => {
  test.each<[string, Partial<BankAccount>]>([
    ['BTG, whose COMPE code is the ISPB of BRB', { bank: '208' }],
    ['BRB', { bank: '00000208' }],
    ['no bank', { bank: null }],
    ['a branch with a joined check digit', { agency: '09875' }],
    ['a branch that its digit ends with', { agency: '0985', agencyDigit: '5' }],
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

test('an ISPB or a holder may be stated later, and contradicts another one', () => {
  const bank = { bank: '999' };
  const without = form(bank);
  const one = withMembers({ ispb: '11111111' }, bank);
  const other = withMembers({ ispb: '22222222' }, bank);
  expect([mayBeSameAccount(without, one), mayBeSameAccount(one, other)]).toEqual([true, false]);
  expect([contradicts(without, one), contradicts(one, other)]).toEqual([false, true]);
  // The COMPE code of another bank.
  expect(mayBeSameAccount(without, withMembers({ ispb: '60701190' }, bank))).toBe(false);
  expect(mayBeSameAccount(form(), withMembers({ holder: 'ANA' }))).toBe(true);
  expect(contradicts(withMembers({ holder: 'ana' }), withMembers({ holder: 'BIA' }))).toBe(true);
  expect(withMembers({ holder: 'ana' })).toBe(withMembers({ holder: ' ANA ' }));
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
  expect(mayBeSameAccount(wallet({ holder: 'ANA' }), wallet({}))).toBe(true);
});

const UUID = '123e4567-e89b-12d3-a456-426614174000';
describe('a Pix key', () => {
  test.each<[string, string, string, string?]>([
    ['an e-mail address', ' Ana@B.com', 'ana@b.COM'],
    ['a random key', UUID.toUpperCase(), UUID.replaceAll('-', '')],
    ['a phone', '+55 (11) 98765-4321', '5511987654321'],
    ['a phone of a stated type', '11987654321', '+5511987654321', 'PHONE'],
    ['a CNPJ', '11.222.333/0001-81', '11222333000181'],
    ['a CPF', '111.444.777-35', '11144477735'],
  ])('that is %s is one key in two writings', (_, one, other, keyType) => {
    expect(pix(one, keyType)).toBe(pix(other, keyType));
  });

  test.each([
    ['a@b.com', 'x@y.com'],
    ['+5511987654321', '+5511987654322'],
    [UUID, UUID.replace('0', '1')],
    ['52998224725', '11144477735'],
    ['chave', 'CHAVE'],
  ])('%s is not %s', (one, other) => {
    expect(pix(one)).not.toBe(pix(other));
  });

  test('of 11 digits that may be a CPF and a phone equals neither', () => {
    // A CPF with right check digits in the form of a mobile number.
    const both = '52998224725';
    const kinds = [pix(both), pix(both, 'CPF'), pix(both, 'PHONE')];
    expect(new Set(kinds).size).toBe(3);
    expect(pix('529.982.247-25')).toBe(pix(both, 'CPF'));
  });
});

test('no two banks of the table have one ISPB, and no ISPB is wrong in form', () => {
  expect(new Set(ISPB_OF_COMPE.values()).size).toBe(ISPB_OF_COMPE.size);
  for (const [compe, ispb] of ISPB_OF_COMPE) expect(`${compe} ${ispb}`).toMatch(/^\d{3} \d{8}$/);
});

const digits = (from: number, to: number) =>
  fc
    .array(fc.constantFrom(...'0123456789'), { minLength: from, maxLength: to })
    .map((list) => list.join(''));
const account = fc.record({
  bank: fc.constantFrom(...ISPB_OF_COMPE.keys(), '999', '121'),
  branch: digits(1, 4).map((text) => text.replace(/^0+/, '') || '1'),
  number: digits(1, 12).map((text) => `1${text}`),
  digit: fc.constantFrom(...'0123456789X'),
  isSavings: fc.boolean(),
});
type Account = typeof account extends fc.Arbitrary<infer Value> ? Value : never;

/** Any writing of an account that the documents call the same. */
const writingOf = (of: Account) =>
  fc
    .record({
      bank: fc.constantFrom(
        of.bank,
        of.bank.replace(/^0+/, ''),
        `${of.bank} - BANCO S.A.`,
        ` ${of.bank} `,
        ISPB_OF_COMPE.get(of.bank) ?? of.bank,
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
      type: of.isSavings
        ? fc.constantFrom('SAVINGS', 'poupança', 'Savings_Account')
        : fc.constantFrom(undefined, 'CHECKING', 'Conta Corrente'),
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
        destination: how.type === undefined ? null : { type: how.type },
      };
    });

/** The account, without what the documented ambiguous writings have in common: the place of the digit. */
const essence = ({ bank, branch, number, digit, isSavings }: Account) =>
  JSON.stringify([bank, branch, number + digit, isSavings]);
/** At Caixa, three digits and a point in front may be an operation. */
const isAmbiguous = ({ bank }: Account) => bank === '104';

const PARTS = ['bank', 'branch', 'number', 'digit', 'isSavings'] as const;
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
        fc.pre(!isSame || !isAmbiguous(one));
        if (!isAmbiguous(one)) expect(second).toBe(first);
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
