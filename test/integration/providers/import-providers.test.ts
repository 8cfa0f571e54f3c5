import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { InputError } from '../../../src/base/runtime/errors.ts';
import { importProviderFile } from '../../../src/features/providers/import-providers.sql.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { clearProviders, cpfOf, providerOf, readProviders } from '../../support/provider-rows.ts';
import { pushWorldOfFile } from '../../support/push-world.ts';

const folder = forFile(openFolder);
const world = pushWorldOfFile();
beforeEach(() => clearProviders(world.database));

const signal = new AbortController().signal;

async function importFile(name: string, content: string, isDryRun = false) {
  const path = join(folder.path, name);
  await writeFile(path, content);
  return importProviderFile(
    world.database,
    { path, encoding: 'utf-8' },
    { isDryRun, actor: 'test', signal },
  );
}

const HEADER = 'externalId;identificationNumber;name;canAnticipate;phones';

function lineOf(number: number, fields: Readonly<Record<string, string>> = {}): string {
  const { externalId, identificationNumber } = providerOf(number);
  const name = `"Fornecedor; ""${number}"""`;
  const stated = { externalId, identificationNumber, name, canAnticipate: 'true', phones: '1|2' };
  return Object.values({ ...stated, ...fields }).join(';');
}

const versions = () => world.prisma.$queryRaw<unknown[]>`
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
    [{ name: 'x'.repeat(1001) }, 'name'],
    [{ name: '"a" b' }, '(row)'],
  ];
  const bad = new Map(
    Array.from(
      { length: 30 },
      (_, index) => [index * 33 + 7, faults[index % faults.length] ?? [{}, '']] as const,
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
  test('fields that the file no longer states are empty afterwards', async () => {
    await importFile('a.csv', csvOf([lineOf(1)]));
    const least = `name,externalId,identificationNumber\nA,${providerOf(1).externalId},${cpfOf(1)}\n`;
    expect(await importFile('a.csv', least)).toMatchObject({ changed: 1 });
    const rows = await world.prisma.provider.findMany();
    expect(rows).toMatchObject([{ canAnticipate: null, phones: null }]);
  });

  const { externalId } = providerOf(1);
  const twice = (line: number) => ({ field: 'externalId', expected: `is also in line ${line}` });
  test.each<[string, Record<string, string>[], object[]]>([
    ['contradicting lines are all left out', [{}, { externalId }, {}], [twice(3), twice(2)]],
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
    expect(await world.prisma.provider.count({ where: { externalId } })).toBe(0);
  });

  test('an empty file is refused whole', async () => {
    const importing = importFile('a.csv', '');
    await expect(importing).rejects.toThrow(/empty/);
    await expect(importing).rejects.toBeInstanceOf(InputError);
  });
});

test('JSON is read, faults are told by place, and another shape is refused without repeating it', async () => {
  const list = [providerOf(1), providerOf(2, { name: 5 }), 'nothing', providerOf(4, { fone: '1' })];
  const report = await importFile('a.json', JSON.stringify({ providers: list }));
  expect(report).toMatchObject({ read: 4, inserted: 1, refused: 3 });
  expect(report.faults).toEqual([
    { at: 2, field: 'name', expected: 'expected text' },
    { at: 3, field: '(provider)', expected: 'expected an object' },
    { at: 4, field: 'fone', expected: 'not a field of the interface' },
  ]);
  const refused = importFile('a.json', '{"suppliers": [CANARY');
  await expect(refused).rejects.toThrow(/not JSON/);
  await expect(refused).rejects.not.toThrow(/CANARY/);
});
