import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_FAULTS } from '../../../src/base/values/field-fault.ts';
import { readProviderFile } from '../../../src/features/providers/import-providers.sql.ts';
import { checkProvider, describeFaults } from '../../../src/features/providers/provider.ts';
import { findRefusals, isolateCulprits } from '../../../src/features/providers/push-providers.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
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
    const others = Object.keys(PROVIDER).filter((name) => !(name in least));
    const nulls = Object.fromEntries(others.map((name) => [name, null]));
    expect(providerIn({ ...least, ...nulls }).provider).toEqual(least);
    const empty = { ...least, accounts: [], phones: [] };
    expect(providerIn(empty).provider).toEqual(empty);
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

const folder = forFile(openFolder);

async function read(header: string, ...rows: readonly string[]) {
  const path = join(folder.path, 'providers.csv');
  await writeFile(path, [header, ...rows].join('\n'));
  const providers = [];
  for await (const row of readProviderFile({ path, encoding: 'utf-8' })) providers.push(row);
  return providers;
}

const CPF = '52998224725';
const LEAST = 'externalId;identificationNumber;name';

describe('readProviderFile', () => {
  it('makes a provider of a row, with the columns in any order, and states nothing for an empty cell', async () => {
    const rows = await read(
      'name;ExternalID; identificationNumber;type;canAnticipate;phones;emailAddresses;' +
        'account2.bankNumber;account2.agencyNumber;account2.accountNumber;account2.defaultAccount;' +
        'account1.bankNumber;account1.agencyNumber;account1.accountNumber;account3.bankNumber',
      `N ;F1;${CPF};INDIVIDUAL;TRUE;1 | 2|;a@b.com;237;1;2;false;001;3;9; `,
    );
    expect(rows).toMatchObject([{ at: 2, faults: [] }]);
    expect(rows[0]?.provider).toEqual({
      name: 'N',
      externalId: 'F1',
      identificationNumber: CPF,
      type: 'INDIVIDUAL',
      canAnticipate: true,
      phones: [{ number: '1' }, { number: '2' }],
      emailAddresses: [{ email: 'a@b.com' }],
      accounts: [
        { bankNumber: '001', agencyNumber: '3', accountNumber: '9' },
        { bankNumber: '237', agencyNumber: '1', accountNumber: '2', defaultAccount: false },
      ],
    });
  });

  it.each([
    ['VERDADEIRO', true],
    ['sim', true],
    ['FALSO', false],
    ['Não', false],
    ['NA\u0303O', false],
    ['0', false],
    ['talvez', undefined],
  ])('reads the flag %s, and refuses other texts', async (cell, canAnticipate) => {
    const [row] = await read(`${LEAST};canAnticipate`, `F1;${CPF};N;${cell}`);
    expect(row?.provider?.canAnticipate).toBe(canAnticipate);
    expect(row?.faults).toEqual(
      canAnticipate === undefined
        ? [{ field: 'canAnticipate', expected: 'expected true or false' }]
        : [],
    );
  });

  it('names the column that a fault is about, also of a number that a spreadsheet has rounded', async () => {
    const [row] = await read(
      `${LEAST};account3.bankNumber;account5.bankNumber;account5.agencyNumber;phones`,
      `F1;1;N;001;237;1,2E+05;${'9'.repeat(1001)}`,
    );
    expect(row).toMatchObject({ provider: null, id: 'F1' });
    expect(row?.faults.map(({ field }) => field)).toEqual([
      'identificationNumber',
      'phones',
      'account3.agencyNumber',
      'account3.accountNumber',
      'account5.accountNumber',
      'account5.agencyNumber',
    ]);
  });

  it.each([
    ['externalId;name', /lacks identificationNumber/],
    [`${LEAST};name`, /name occurs twice/],
    [`${LEAST};account1.type;Account1.TYPE`, /account1.type occurs twice/],
    [`${LEAST};account0.type`, /no known name in column 4;/],
    ['F1;52998224725;Maria', /no known name in column 1, 2, 3; expected externalId, type/],
  ])('refuses the header %s without repeating it', async (header, message) => {
    await expect(read(header)).rejects.toThrow(message);
    await expect(read(header)).rejects.not.toThrow(/52998224725|Maria/);
  });
});

const SENT = new Set(['A', 'B', 'C']);

describe('findRefusals', () => {
  it.each([
    ['the list alone', (list: unknown) => list],
    ['providers', (providers: unknown) => ({ providers })],
    ['results', (results: unknown) => ({ processed: 3, results })],
  ])('finds statuses in %s', (_, wrap) => {
    const list = [
      { externalId: 'A', status: 'CREATED' },
      { externalId: 'B', status: 'rejected', message: 'no such bank' },
      { externalId: 'C', status: 'ERROR' },
    ];
    const refusals = findRefusals(Buffer.from(JSON.stringify(wrap(list))), SENT);
    expect(Object.fromEntries(refusals)).toEqual({
      B: 'the platform answered 200 with {"externalId":"B","status":"rejected","message":"no such bank"}',
      C: 'the platform answered 200 with {"externalId":"C","status":"ERROR"}',
    });
  });

  it.each([
    ['an empty object', '{}'],
    ['a summary', '{"received":3,"created":1,"rejected":2}'],
    ['a status without a provider', '{"providers":[{"index":0,"status":"REJECTED"}]}'],
    ['a provider of another request', '[{"externalId":"Z","status":"REJECTED"}]'],
    ['an unknown status', '[{"externalId":"A","status":"QUEUED"}]'],
    ['a list elsewhere', '{"data":{"providers":[{"externalId":"A","status":"REJECTED"}]}}'],
    ['no list', '{"providers":{"externalId":"A","status":"REJECTED"}}'],
    ['text that is cut', '{"providers":[{"externalId":"A","status":"REJECTED"}'],
    ['no text', ''],
    ['a page', '<html>'],
    ['no UTF-8', '\ufffd'],
  ])('finds nothing in %s', (_, text) => {
    expect(findRefusals(Buffer.from(text), SENT).size).toBe(0);
  });

  it('hands on text that PostgreSQL can hold', () => {
    const body = '[{"externalId":"A","status":"FAILED","message":"x\\u0000\\ud800y"}]';
    expect(findRefusals(Buffer.from(body), SENT).get('A')).toBe(
      `the platform answered 200 with ${body.slice(1, -1)}`,
    );
  });
});

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('isolateCulprits', () => {
  it('asks for each culprit alone and gets every other item taken, in few requests and none without items', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 100 }),
        fc.uniqueArray(fc.nat({ max: 99 }), { maxLength: 100 }),
        async (count, chosen) => {
          const culprits = new Set(chosen.filter((item) => item < count));
          const isRefused = (items: readonly number[]) => items.some((item) => culprits.has(item));
          const asked: (readonly number[])[] = [];
          await isolateCulprits(upTo(count), async (items) => {
            asked.push(items);
            return isRefused(items) ? 'refused' : 'taken';
          });

          expect(asked).not.toContainEqual([]);
          const taken = asked.filter((items) => !isRefused(items));
          expect(taken.flat().sort((a, b) => a - b)).toEqual(
            upTo(count).filter((item) => !culprits.has(item)),
          );
          for (const culprit of culprits) expect(asked).toContainEqual([culprit]);
          const perCulprit = 2 * Math.ceil(Math.log2(count || 1));
          expect(asked.length).toBeLessThanOrEqual(1 + culprits.size * perCulprit);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('judges nothing unasked where the platform refuses for another reason', async () => {
    const asked: number[][] = [];
    const refusals = [true, true];
    await isolateCulprits(upTo(4), async (items) => {
      asked.push([...items]);
      return (refusals.shift() ?? false) ? 'refused' : 'taken';
    });
    // The first half is refused at first, its items are taken one by one.
    expect(asked).toEqual([[0, 1, 2, 3], [0, 1], [0], [1], [2, 3]]);
  });
});
