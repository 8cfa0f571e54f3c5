import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { InputError, ShutdownError } from '../../../src/base/runtime/errors.ts';
import { importProviderFile } from '../../../src/features/providers/import-providers.sql.ts';
import { pushWorldOfFile } from '../../support/file-world.ts';
import { clearProviders, cpfOf, providerOf, readProviders } from '../../support/provider-rows.ts';

let folder: string;
const world = pushWorldOfFile();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'conciliation-import-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => clearProviders(world.database));

const signal = new AbortController().signal;

async function importFile(name: string, content: string | Uint8Array, isDryRun = false) {
  const path = join(folder, name);
  await writeFile(path, content);
  return importProviderFile(
    world.database,
    { path, encoding: 'utf-8' },
    { isDryRun, actor: 'test', signal },
  );
}

const HEADER =
  'externalId;type;identificationNumber;name;canAnticipate;phones;emailAddresses;' +
  'account1.bankNumber;account1.agencyNumber;account1.accountNumber;account1.accountDigit;account1.type;account1.defaultAccount';

function lineOf(number: number, fields: Readonly<Record<string, string>> = {}): string {
  const { externalId, identificationNumber } = providerOf(number);
  const cells =
    `${externalId};INDIVIDUAL;${identificationNumber};@name;true;+55 11 90000-0000|+55 11 90000-0001;` +
    'a@example.com;341;1;2;;CHECKING_ACCOUNT;true';
  const names = HEADER.split(';');
  return cells
    .split(';')
    .map((cell, place) => fields[names[place] ?? ''] ?? cell)
    .join(';')
    .replace('@name', `"Fornecedor; ""${number}"""`);
}

const versions = () => world.database.prisma.$queryRaw<unknown[]>`
  SELECT external_id, xmin::text, changed_at::text FROM conciliation.provider ORDER BY external_id`;

/** Line 2 is that of provider 0. */
const csvOf = (lines: readonly string[]) => `\uFEFF${HEADER}\r\n${lines.join('\r\n')}\r\n`;

test('of 1,000 lines with 30 bad ones 970 are imported and 30 reported, by line and field; again, nothing changes', async () => {
  const faults: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
    [{ identificationNumber: '90025108000101' }, 'identificationNumber'],
    [{ identificationNumber: '' }, 'identificationNumber'],
    [{ name: '' }, 'name'],
    [{ externalId: '' }, 'externalId'],
    [{ canAnticipate: 'talvez' }, 'canAnticipate'],
    [{ emailAddresses: 'a@example.com|nowhere' }, 'emailAddresses'],
    [{ 'account1.bankNumber': '' }, 'account1.bankNumber'],
    [{ 'account1.defaultAccount': '2' }, 'account1.defaultAccount'],
    [{ name: 'x'.repeat(1001) }, 'name'],
    [{ name: '"a" b' }, '(row)'],
  ];
  const bad = new Map(
    Array.from(
      { length: 30 },
      (_, index) => [index * 33 + 7, faults[index % 10] ?? [{}, '']] as const,
    ),
  );
  const csv = csvOf(
    Array.from({ length: 1_000 }, (_, number) => lineOf(number, bad.get(number)?.[0])),
  );

  const dry = await importFile('many.csv', csv, true);
  expect((await readProviders(world.database)).size).toBe(0);
  const report = await importFile('many.csv', csv);
  expect(dry).toEqual(report);
  expect(report).toMatchObject({
    read: 1_000,
    inserted: 970,
    changed: 0,
    unchanged: 0,
    refused: 30,
  });
  expect(report.faults.map(({ at, field }) => [at, field])).toEqual(
    [...bad].map(([number, [, field]]) => [number + 2, field]),
  );
  const rows = await readProviders(world.database);
  expect(rows.size).toBe(970);

  const before = await versions();
  expect(await importFile('many.csv', csv)).toMatchObject({
    inserted: 0,
    changed: 0,
    unchanged: 970,
    refused: 30,
  });
  expect(await versions()).toEqual(before);
});

describe('CSV', () => {
  test('lower case letters of a tax identifier are counted', async () => {
    const report = await importFile(
      'a.csv',
      csvOf([lineOf(1, { identificationNumber: '12abc34501de35' }), lineOf(2)]),
    );
    expect(report).toMatchObject({ raised: 1, inserted: 2 });
  });

  test('fields that the file no longer states are empty afterwards', async () => {
    await importFile('a.csv', csvOf([lineOf(1)]));
    const least = `name,externalId,identificationNumber\nA,${providerOf(1).externalId},${cpfOf(1)}\n`;
    expect(await importFile('a.csv', least)).toMatchObject({ changed: 1 });
    const rows = await world.database.prisma.provider.findMany();
    expect(rows).toMatchObject([{ type: null, canAnticipate: null, phones: null, accounts: null }]);
  });

  const { externalId } = providerOf(1);
  const twice = (line: number) => ({ field: 'externalId', expected: `is also in line ${line}` });
  const taken = (line: number) => ({
    ...{ field: 'identificationNumber', expected: `belongs to another externalId in line ${line}` },
  });
  test.each<[string, Record<string, string>[], object[]]>([
    [
      'lines that contradict each other are all left out',
      [{}, { externalId }, {}, { identificationNumber: cpfOf(3) }, {}],
      [twice(3), twice(2), taken(5), taken(4)],
    ],
    [
      'of two lines of one externalId, one of them invalid, neither is imported',
      [{}, { externalId, name: '' }, {}],
      [twice(3), { field: 'name', expected: 'missing' }],
    ],
  ])('%s', async (_, lines, faults) => {
    const csv = csvOf(lines.map((fields, index) => lineOf(index + 1, fields)));
    const report = await importFile('a.csv', csv);
    expect(report).toMatchObject({ read: lines.length, inserted: 1, refused: faults.length });
    expect(report.faults).toEqual(faults.map((fault, index) => ({ at: index + 2, ...fault })));
    expect(await world.database.prisma.provider.count({ where: { externalId } })).toBe(0);
  });

  test.each<[string, string | Uint8Array, RegExp]>([
    ['an empty file', '', /empty/],
    [
      'another encoding',
      Buffer.from(csvOf([lineOf(1, { name: 'José' })]), 'latin1').subarray(3),
      /not UTF-8/,
    ],
  ])('%s is refused whole', async (_, content, message) => {
    const importing = importFile('a.csv', content);
    await expect(importing).rejects.toThrow(message);
    await expect(importing).rejects.toBeInstanceOf(InputError);
    await expect(importing).rejects.not.toThrow(/Maria|José/);
  });
});

describe('JSON', () => {
  test.each([
    ['{"providers": […]}', (list: unknown) => ({ providers: list })],
    ['a list', (list: unknown) => list],
  ])('%s is read, faults are told by place', async (_, wrap) => {
    const list = [
      providerOf(1),
      providerOf(2, { name: 5 }),
      'nothing',
      providerOf(4, { fone: '1' }),
    ];
    const report = await importFile('a.json', JSON.stringify(wrap(list)));
    expect(report).toMatchObject({ read: 4, inserted: 1, refused: 3 });
    expect(report.faults).toEqual([
      { at: 2, field: 'name', expected: 'expected text' },
      { at: 3, field: '(provider)', expected: 'expected an object' },
      { at: 4, field: 'fone', expected: 'not a field of the interface' },
    ]);
    await world.push();
    expect(world.sandbox.providers.get(providerOf(1).externalId)).toEqual(providerOf(1));
  });

  test.each([
    ['text that is not JSON', '{"providers": [CANARY', /not JSON/],
    ['another shape', '{"suppliers": []}', /expected \{"providers"/],
    ['a number', '5', /expected \{"providers"/],
  ])('%s is refused whole, without repeating it', async (_, content, message) => {
    const importing = importFile('a.json', content);
    await expect(importing).rejects.toThrow(message);
    await expect(importing).rejects.not.toThrow(/CANARY/);
  });
});

test('the table has room for the largest provider that the check accepts, and a larger one is reported', async () => {
  const { identificationNumber } = providerOf(1);
  const list = (length: number) => Array(100).fill({ number: '1'.repeat(length) });
  const largest = {
    externalId: '😀'.repeat(255),
    identificationNumber,
    type: '😀'.repeat(1000),
    name: '😀'.repeat(1000),
    phones: list(313),
  };
  const content = (provider: object) => JSON.stringify([provider]);
  expect(await importFile('largest.json', content(largest))).toMatchObject({ inserted: 1 });
  const report = await importFile('larger.json', content({ ...largest, phones: list(314) }));
  expect(report.faults).toEqual([
    { at: 1, field: 'phones', expected: 'expected at most 32768 bytes' },
  ]);
});

test('a file that is not there, or of another kind, is an error of the input', async () => {
  const options = { isDryRun: false, actor: 'test', signal };
  const importing = (name: string) =>
    importProviderFile(world.database, { path: join(folder, name), encoding: 'utf-8' }, options);
  await expect(importing('none.csv')).rejects.toThrow('cannot be read (ENOENT)');
  await expect(importing('none.json')).rejects.toBeInstanceOf(InputError);
  await expect(importing('none.xlsx')).rejects.toThrow('.csv or .json');
});

test('an import that is stopped has changed nothing', async () => {
  const path = join(folder, 'stopped.csv');
  await writeFile(path, csvOf(Array.from({ length: 3000 }, (_, number) => lineOf(number))));
  const stop = AbortSignal.abort();
  const importing = importProviderFile(
    world.database,
    { path, encoding: 'utf-8' },
    {
      isDryRun: false,
      actor: 'test',
      signal: stop,
    },
  );
  await expect(importing).rejects.toBeInstanceOf(ShutdownError);
  expect((await readProviders(world.database)).size).toBe(0);
});

test('an import is in the audit log, a dry run is not', async () => {
  const entries = () => world.database.prisma.$queryRaw<unknown[]>`
    SELECT actor, details FROM conciliation.audit_entry WHERE action = 'providers.import' ORDER BY id DESC`;
  const before = (await entries()).length;
  await importFile('a.csv', csvOf([lineOf(1)]), true);
  await importFile('a.csv', csvOf([lineOf(1)]));
  const after = await entries();
  expect(after).toHaveLength(before + 1);
  expect(after[0]).toEqual({ actor: 'test', details: { inserted: 1, changed: 0, unchanged: 0 } });
});
