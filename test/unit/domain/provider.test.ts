import { describe, expect, it } from 'vitest';
import { MAX_FAULTS } from '../../../src/base/values/field-fault.ts';
import { checkProvider, describeFaults } from '../../../src/features/providers/provider.ts';
import { providerOf } from '../../support/provider-rows.ts';

const PROVIDER = providerOf(1, {
  canAnticipate: false,
  emailAddresses: [{ email: 'a.b+c@example.com.br' }],
});

const faultsOf = (fields: Record<string, unknown>) => {
  const check = checkProvider({ ...PROVIDER, ...fields });
  return check.ok ? '' : describeFaults(check.faults);
};

const providerIn = (value: unknown) => {
  const check = checkProvider(value);
  if (!check.ok) throw new Error(describeFaults(check.faults));
  return check;
};

describe('checkProvider', () => {
  it('takes a whole provider as it is', () => {
    expect(checkProvider(PROVIDER)).toEqual({ ok: true, provider: PROVIDER });
  });

  it('takes key, tax identifier and name alone, and sends nothing for what is null', () => {
    const { externalId, identificationNumber, name } = PROVIDER;
    const least = { externalId, identificationNumber, name };
    const nulls = {
      type: null,
      canAnticipate: null,
      phones: null,
      emailAddresses: null,
      accounts: null,
    };
    expect(providerIn({ ...least, ...nulls }).provider).toEqual(least);
    expect(providerIn({ ...least, accounts: [], phones: [] }).provider).toEqual({
      ...least,
      accounts: [],
      phones: [],
    });
  });

  it.each([
    ['12ABC34501DE35', '12ABC34501DE35'],
    ['12.abc.345/01de-35', '12ABC34501DE35'],
    ['529.982.247-25', '52998224725'],
  ])('sends %s as %s', (written, sent) => {
    const check = providerIn({ ...PROVIDER, identificationNumber: written });
    expect(check.provider.identificationNumber).toBe(sent);
  });

  it.each([
    ['R55231B3000700', 'wrong check digits'],
    ['900252550001', 'too short'],
    ['9002442000012A', 'a letter among the check digits'],
    ['111.111.111-11', 'one repeated digit'],
  ])('refuses the tax identifier %s: %s', (identificationNumber) => {
    expect(faultsOf({ identificationNumber })).toBe(
      'identificationNumber: expected a CPF or CNPJ with the right check digits, and with its leading zeros',
    );
  });

  it.each<[Record<string, unknown>, string]>([
    [{ externalId: undefined }, 'externalId: missing'],
    [{ externalId: null }, 'externalId: missing'],
    [{ externalId: 'x'.repeat(256) }, 'externalId: expected at most 255 characters'],
    [{ identificationNumber: undefined }, 'identificationNumber: missing'],
    [{ name: '  ' }, 'name: expected text that is not blank'],
    [{ name: 'A\u0000' }, 'name: expected text without U+0000 and lone surrogates'],
    [{ name: '😀'.repeat(1001) }, 'name: expected at most 1000 characters'],
    [{ canAnticipate: 'true' }, 'canAnticipate: expected true or false'],
    [{ phones: [{ number: '1' }, {}] }, 'phones[1].number: missing'],
    [{ phones: [null] }, 'phones[0]: expected an object'],
    [{ accounts: [null] }, 'accounts[0]: expected an object'],
    [{ phones: Array(101).fill({ number: '1' }) }, 'phones: expected at most 100 items'],
    [
      { phones: Array(100).fill({ number: '1'.repeat(400) }) },
      'phones: expected at most 32768 bytes',
    ],
    [
      { emailAddresses: [{ email: 'nowhere' }] },
      'emailAddresses[0].email: expected an e-mail address',
    ],
    [{ accounts: [{ bankNumber: '1', agencyNumber: '2' }] }, 'accounts[0].accountNumber: missing'],
    [
      { accounts: [{ ...PROVIDER.accounts[0], accountDigit: 6 }] },
      'accounts[0].accountDigit: expected text',
    ],
    [
      { accounts: [PROVIDER.accounts[0], PROVIDER.accounts[0]] },
      'accounts: expected at most one default account',
    ],
    [{ fone: '1' }, 'fone: not a field of the interface'],
    [{ phones: [{ number: '1', ddd: '11' }] }, 'phones[0].ddd: not a field of the interface'],
    [{ '52998224725': 1 }, '(another field): not a field of the interface'],
  ])('names the field and what was expected of it: %j', (fields, expected) => {
    expect(faultsOf(fields)).toBe(expected);
  });

  it.each([
    '',
    'a@localhost',
    'a@example..com',
    'a@example.com; b@example.com',
    `${'a'.repeat(65)}@example.com`,
  ])('refuses the e-mail address %j', (email) => {
    expect(faultsOf({ emailAddresses: [{ email }] })).toMatch(
      /^emailAddresses\[0\]\.email: expected/,
    );
  });

  it('says everything that is wrong in one go, up to a limit', () => {
    expect(faultsOf({ name: null, canAnticipate: 1, accounts: [{}] })).toBe(
      'name: missing; canAnticipate: expected true or false; accounts[0].bankNumber: missing; ' +
        'accounts[0].agencyNumber: missing; accounts[0].accountNumber: missing',
    );
    const check = checkProvider({ ...PROVIDER, phones: Array(50).fill({}) });
    expect(check.ok ? [] : check.faults).toHaveLength(MAX_FAULTS);
  });

  it('never repeats a value', () => {
    const secret = 'CANARY';
    const check = checkProvider({
      externalId: { secret },
      type: [secret],
      identificationNumber: secret,
      name: [secret],
      canAnticipate: secret,
      phones: [secret, { number: [secret] }],
      emailAddresses: [{ email: secret }],
      accounts: [{ bankNumber: [secret], defaultAccount: secret }],
    });
    expect(JSON.stringify(check)).not.toContain(secret);
  });
});
