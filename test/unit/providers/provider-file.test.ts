import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readProviderFile } from '../../../src/features/providers/import-providers.sql.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';

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
  it('makes a provider of a row, with the columns in any order', async () => {
    const rows = await read(
      'name;ExternalID; identificationNumber;type;canAnticipate;phones;emailAddresses;' +
        'account2.bankNumber;account2.agencyNumber;account2.accountNumber;account2.defaultAccount;' +
        'account1.bankNumber;account1.agencyNumber;account1.accountNumber',
      `N ;F1;${CPF};INDIVIDUAL;TRUE;1 | 2|;a@b.com;237;1;2;false;001;3;9`,
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

  it('states nothing for an empty cell', async () => {
    const rows = await read(`${LEAST};phones;account1.bankNumber`, `F1;${CPF};N;; `);
    const stated = { externalId: 'F1', identificationNumber: CPF, name: 'N' };
    expect(rows[0]?.provider).toEqual(stated);
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

  it('names the column that a fault is about', async () => {
    const [row] = await read(
      `${LEAST};account3.bankNumber;account5.bankNumber;account5.agencyNumber;phones`,
      `F1;1;N;001;237;1;${'9'.repeat(1001)}`,
    );
    expect(row).toMatchObject({ provider: null, refusedId: 'F1' });
    expect(row?.faults.map(({ field }) => field)).toEqual([
      'identificationNumber',
      'phones',
      'account3.agencyNumber',
      'account3.accountNumber',
      'account5.accountNumber',
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
