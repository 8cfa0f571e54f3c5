import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import {
  type ImportKind,
  importPayableFile,
} from '../../../src/features/matching/payables/payable-import.sql.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { lastAudit } from '../../support/pages-world.ts';

const world = worldOfFile();
const folder = forFile(openFolder);
beforeEach(async () => {
  await world.database.prisma.$executeRaw`
    TRUNCATE conciliation.erp_payable, conciliation.erp_payable_reject, conciliation.erp_payable_import
    CASCADE`;
});

const HEAD = 'erpKey;supplierExternalId;document;instalment;dueDate;openValue;status';
const rowOf = (key: string, value = '10,10') => `${key};F1;NF-${key};1/2;31/03/2026;${value};open`;

async function importText(
  text: string,
  options: { kind?: ImportKind; announced?: number; isDryRun?: boolean } = {},
) {
  const path = join(folder.path, 'payables.csv');
  await writeFile(path, text);
  return importPayableFile(
    world.database,
    { path, encoding: 'utf-8' },
    {
      kind: 'snapshot',
      actor: 'test',
      announced: null,
      isDryRun: false,
      signal: new AbortController().signal,
      ...options,
    },
  );
}

const importRows = (rows: readonly string[], options?: Parameters<typeof importText>[1]) =>
  importText([HEAD, ...rows].join('\n'), options);

const payables = () => world.database.prisma.$queryRaw<unknown[]>`
  SELECT erp_key, open_value::text AS value, closed_at IS NOT NULL AS closed
  FROM conciliation.erp_payable ORDER BY erp_key`;
const changedAt = () => world.database.prisma.$queryRaw<unknown[]>`
  SELECT erp_key, changed_at::text FROM conciliation.erp_payable ORDER BY erp_key`;

test('a snapshot inserts, changes and closes; the same snapshot again changes nothing', async () => {
  expect(await importRows([rowOf('a'), rowOf('b'), rowOf('c')])).toMatchObject({
    inserted: 3,
    changed: 0,
    unchanged: 0,
    isComplete: true,
    closed: 0,
  });
  expect(await importRows([rowOf('a'), rowOf('b', '9,90')])).toMatchObject({
    inserted: 0,
    changed: 1,
    unchanged: 1,
    closed: 1,
  });
  expect(await payables()).toEqual([
    { erp_key: 'a', value: '10.10', closed: false },
    { erp_key: 'b', value: '9.90', closed: false },
    { erp_key: 'c', value: '10.10', closed: true },
  ]);
  const before = await changedAt();
  expect(await importRows([rowOf('b', '9,90'), rowOf('a')])).toMatchObject({
    inserted: 0,
    changed: 0,
    unchanged: 2,
    closed: 0,
  });
  expect(await changedAt()).toEqual(before);
});

test('a payable that is back in the ERP is open again', async () => {
  await importRows([rowOf('a'), rowOf('b')]);
  await importRows([rowOf('a')]);
  expect(await importRows([rowOf('a'), rowOf('b')])).toMatchObject({ changed: 1, unchanged: 1 });
  expect(await payables()).toMatchObject([{ closed: false }, { closed: false }]);
});

test('a snapshot with a rejected line closes nothing, and keeps the line', async () => {
  await importRows([rowOf('a'), rowOf('b')]);
  const report = await importRows([rowOf('a'), 'x;F1;NF;1/1;31/02/2026;10,10;open']);
  expect(report).toMatchObject({ isComplete: false, closed: 0, unchanged: 1, rejected: 1 });
  expect(report.rejects).toEqual([
    { at: 3, field: 'dueDate', expected: 'expected a calendar date as YYYY-MM-DD' },
  ]);
  expect(await payables()).toMatchObject([{ closed: false }, { closed: false }]);
  const { importId } = report;
  expect(
    await world.database.prisma.erpPayableReject.findMany({ where: { importId } }),
  ).toMatchObject([
    {
      at: 3,
      reasons: ['dueDate: expected a calendar date as YYYY-MM-DD'],
      raw: '["x","F1","NF","1/1","31/02/2026","10,10","open"]',
    },
  ]);
});

test('a snapshot with fewer payables than the ERP announced closes nothing', async () => {
  await importRows([rowOf('a'), rowOf('b')]);
  expect(await importRows([rowOf('a')], { announced: 2 })).toMatchObject({
    isComplete: false,
    closed: 0,
  });
  expect(await importRows([rowOf('a')], { announced: 1 })).toMatchObject({
    isComplete: true,
    closed: 1,
  });
});

test('a delta closes nothing', async () => {
  await importRows([rowOf('a'), rowOf('b')]);
  expect(await importRows([rowOf('c')], { kind: 'delta' })).toMatchObject({
    inserted: 1,
    closed: 0,
  });
  expect(await payables()).toMatchObject([{ closed: false }, { closed: false }, { closed: false }]);
});

test('a key that occurs twice with another content is rejected; an equal line is counted', async () => {
  const report = await importRows([rowOf('a'), rowOf('a', '10,1'), rowOf('a', '11')]);
  expect(report).toMatchObject({ inserted: 1, unchanged: 1, rejected: 1, isComplete: false });
  expect(report.rejects).toMatchObject([{ at: 4, field: 'erpKey' }]);
});

test('the same holds over the batches of one file', async () => {
  const many = Array.from({ length: 1_500 }, (_, index) => rowOf(`k${index}`));
  const report = await importRows([...many, rowOf('k0'), rowOf('k1', '0,01')]);
  expect(report).toMatchObject({ inserted: 1_500, unchanged: 1, rejected: 1 });
  expect(report.rejects).toMatchObject([{ at: 1_503, field: 'erpKey' }]);
});

test('a dry run reports the same and writes nothing', async () => {
  await importRows([rowOf('a'), rowOf('b')]);
  expect(await importRows([rowOf('a', '1'), rowOf('c')], { isDryRun: true })).toMatchObject({
    inserted: 1,
    changed: 1,
    closed: 1,
  });
  expect(await payables()).toEqual([
    { erp_key: 'a', value: '10.10', closed: false },
    { erp_key: 'b', value: '10.10', closed: false },
  ]);
  expect(await world.database.prisma.erpPayableImport.count()).toBe(1);
});

test('the audit log has the import with its counts', async () => {
  const { importId } = await importRows([rowOf('a')]);
  expect(await lastAudit(world)).toMatchObject({
    actor: 'test',
    action: 'payables.import',
    details: { importId: Number(importId), kind: 'snapshot', inserted: 1, isComplete: true },
  });
});

test('the CSV and the SQL of docs/integration.md are taken as they are', async () => {
  const page = await readFile('docs/integration.md', 'utf8');
  const document = page.split('\n## Payables\n')[1] ?? '';
  const blockOf = (language: string) =>
    new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(document)?.[1] ?? '';
  expect(await importText(blockOf('csv'), { announced: 2 })).toMatchObject({
    ...{ inserted: 2, rejected: 0, isComplete: true },
  });
  for (const statement of blockOf('sql').split(';').slice(0, -1)) {
    await world.database.prisma.$executeRawUnsafe(statement);
  }
  expect(await payables()).toHaveLength(2);
});
