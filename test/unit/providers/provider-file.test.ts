import { describe, expect, it } from 'vitest';
import { ProviderCsv } from '../../../src/features/providers/provider-file.ts';

const record = (cells: readonly string[], fault: string | null = null) => ({
  line: 1,
  cells,
  fault,
});
const csvOf = (header: string) => new ProviderCsv(record(header.split(';')));

const LEAST = 'externalId;identificationNumber;name';

describe('ProviderCsv', () => {
  it('makes a provider of a row, with the columns in any order', () => {
    const csv = csvOf(
      'name;ExternalID; identificationNumber;type;canAnticipate;phones;emailAddresses;' +
        'account2.bankNumber;account2.defaultAccount;account1.bankNumber;account1.accountNumber',
    );
    const cells = 'N;F1;1;INDIVIDUAL;TRUE;1 | 2|;a@b.c;237;false;001;9'.split(';');
    expect(csv.read(record(cells))).toMatchObject({
      candidate: {
        name: 'N',
        externalId: 'F1',
        identificationNumber: '1',
        type: 'INDIVIDUAL',
        canAnticipate: true,
        phones: [{ number: '1' }, { number: '2' }],
        emailAddresses: [{ email: 'a@b.c' }],
        accounts: [
          { bankNumber: '001', accountNumber: '9' },
          { bankNumber: '237', defaultAccount: false },
        ],
      },
    });
  });

  it('states nothing for an empty cell', () => {
    const csv = csvOf(`${LEAST};phones;account1.bankNumber`);
    expect(csv.read(record(['F1', '1', 'N', '', ' ']))).toMatchObject({
      candidate: { externalId: 'F1', identificationNumber: '1', name: 'N' },
    });
  });

  it.each([
    ['VERDADEIRO', true],
    ['sim', true],
    ['Yes', true],
    ['FALSO', false],
    ['Não', false],
    ['NA\u0303O', false],
    ['nao', false],
    ['1', '1'],
    ['talvez', 'talvez'],
  ])('reads the flag %s, and leaves other texts for the check to refuse', (cell, canAnticipate) => {
    const csv = csvOf(`${LEAST};canAnticipate`);
    expect(csv.read(record(['F1', '1', 'N', cell]))).toMatchObject({
      candidate: { canAnticipate },
    });
  });

  it('names the column that a fault is about', () => {
    const csv = csvOf(`${LEAST};account3.bankNumber;account5.bankNumber`);
    const read = csv.read(record(['F1', '1', 'N', '001', '237']));
    const toColumn = 'toColumn' in read ? read.toColumn : () => '';
    expect(toColumn('accounts[1].agencyNumber')).toBe('account5.agencyNumber');
    expect(toColumn('accounts[0].bankNumber')).toBe('account3.bankNumber');
    expect(toColumn('accounts')).toBe('accounts');
    expect(toColumn('phones[4].number')).toBe('phones');
    expect(toColumn('identificationNumber')).toBe('identificationNumber');
  });

  it.each([
    [['F1', '1'], 'expected 3 cells, got 2'],
    [['F1', '1', 'N', ''], 'expected 3 cells, got 4'],
  ])('refuses a row of another length: %j', (cells, expected) => {
    expect(csvOf(LEAST).read(record(cells))).toEqual({ field: '(row)', expected });
  });

  it('refuses a broken row', () => {
    const read = csvOf(LEAST).read(record(['F1', '1', 'N'], 'broken'));
    expect(read).toEqual({ field: '(row)', expected: 'broken' });
  });

  it.each([
    ['externalId;name', /lacks identificationNumber/],
    [`${LEAST};name`, /name occurs twice/],
    [`${LEAST};account1.type;Account1.TYPE`, /no known name in column 5;/],
    [`${LEAST};account1.type;account1.TYPE`, /account1.type occurs twice/],
    [`${LEAST};account0.type`, /no known name in column 4;/],
    ['F1;52998224725;Maria', /no known name in column 1, 2, 3; expected externalId, type/],
  ])('refuses the header %s without repeating it', (header, message) => {
    expect(() => csvOf(header)).toThrow(message);
    expect(() => csvOf(header)).not.toThrow(/52998224725|Maria/);
  });
});
