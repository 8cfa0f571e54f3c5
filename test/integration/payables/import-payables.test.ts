import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { InputError } from '../../../src/base/runtime/errors.ts';
import { checkPayables } from '../../../src/features/matching/payables/payable.ts';
import {
  addPayables,
  beginImport,
  endImport,
  IMPORT_KINDS,
  type ImportKind,
  importPayableFile,
} from '../../../src/features/matching/payables/payable-import.sql.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { lockWaits } from '../../support/lock-waits.ts';
import { clearMatching } from '../../support/matching-world.ts';
import { lastAudit } from '../../support/pages-world.ts';
import { importPayables, type PayableFields } from '../../support/payables.ts';
import { worldOfFile } from '../../support/pull-world.ts';

const world = worldOfFile();
const folder = forFile(openFolder);
beforeEach(() => clearMatching(world.database));

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

const COUNTS = 'inserted changed unchanged outdated downgraded incomparable rejected closed'.split(
  ' ',
);
/** The counts of a report that are not zero, and whether the import is complete. */
function countsOf(report: object): string {
  const numbers: Readonly<Record<string, unknown>> = { ...report };
  const texts = COUNTS.flatMap((name) => (numbers[name] ? `${numbers[name]} ${name}` : []));
  return [...texts, ...(numbers['isComplete'] === true ? ['complete'] : [])].join(', ');
}

/** The payables as "key value", with the status of those that are not open. */
async function payables(): Promise<string> {
  const rows = await world.prisma.$queryRaw<{ text: string }[]>`
    SELECT concat_ws(' ', erp_key, open_value, nullif(status, 'open'),
                     CASE WHEN closed_at IS NOT NULL THEN 'closed' END) AS text
    FROM conciliation.erp_payable ORDER BY erp_key`;
  return rows.map(({ text }) => text).join(', ');
}
const changedAt = () => world.prisma.$queryRaw<unknown[]>`
  SELECT erp_key, changed_at::text FROM conciliation.erp_payable ORDER BY erp_key`;

test('a snapshot inserts, changes and closes; the same snapshot again changes nothing', async () => {
  const first = await importRows([rowOf('a'), rowOf('b'), rowOf('c')]);
  expect(countsOf(first)).toBe('3 inserted, complete');
  const second = await importRows([rowOf('a'), rowOf('b', '9,90')]);
  expect(countsOf(second)).toBe('1 changed, 1 unchanged, 1 closed, complete');
  expect(await payables()).toBe('a 10.10, b 9.90, c 10.10 closed');
  const before = await changedAt();
  const again = await importRows([rowOf('b', '9,90'), rowOf('a')]);
  expect(countsOf(again)).toBe('2 unchanged, complete');
  expect(await changedAt()).toEqual(before);
});

test('a payable that is back in the ERP is open again', async () => {
  await importRows([rowOf('a'), rowOf('b')]);
  await importRows([rowOf('a')]);
  const again = await importRows([rowOf('a'), rowOf('b')]);
  expect(countsOf(again)).toBe('1 changed, 1 unchanged, complete');
  expect(await payables()).toBe('a 10.10, b 10.10');
});

test('a snapshot with a rejected line closes nothing, and keeps the line', async () => {
  await importRows([rowOf('a'), rowOf('b')]);
  const report = await importRows([rowOf('a'), 'x;F1;NF;1/1;31/02/2026;10,10;open']);
  expect(countsOf(report)).toBe('1 unchanged, 1 rejected');
  expect(report.rejects).toEqual([
    { at: 3, field: 'dueDate', expected: expect.stringContaining('such as 31/03/2026') },
  ]);
  expect(await payables()).toBe('a 10.10, b 10.10');
  const { importId } = report;
  expect(await world.prisma.erpPayableReject.findMany({ where: { importId } })).toMatchObject([
    {
      at: 3,
      reasons: [expect.stringMatching(/^dueDate: expected a calendar date such as/)],
      raw: '["x","F1","NF","1/1","31/02/2026","10,10","open"]',
    },
  ]);
});

test('a snapshot with fewer payables than the ERP announced closes nothing', async () => {
  await importRows([rowOf('a'), rowOf('b')]);
  const fewer = await importRows([rowOf('a')], { announced: 2 });
  expect(countsOf(fewer)).toBe('1 unchanged');
  const whole = await importRows([rowOf('a')], { announced: 1 });
  expect(countsOf(whole)).toBe('1 unchanged, 1 closed, complete');
});

test('a delta closes nothing', async () => {
  await importRows([rowOf('a'), rowOf('b')]);
  const delta = await importRows([rowOf('c')], { kind: 'delta' });
  expect(countsOf(delta)).toBe('1 inserted, complete');
  expect(await payables()).toBe('a 10.10, b 10.10, c 10.10');
});

test('a key that occurs twice with another content is rejected; an equal line is counted', async () => {
  const report = await importRows([rowOf('a'), rowOf('a', '10,1'), rowOf('a', '11')]);
  expect(countsOf(report)).toBe('1 inserted, 1 unchanged, 1 rejected');
  expect(report.rejects).toMatchObject([{ at: 4, field: 'erpKey' }]);
});

test('the same holds over the batches of one file', async () => {
  const many = Array.from({ length: 1_500 }, (_, index) => rowOf(`k${index}`));
  const report = await importRows([...many, rowOf('k0'), rowOf('k1', '0,01')]);
  expect(countsOf(report)).toBe('1500 inserted, 1 unchanged, 1 rejected');
  expect(report.rejects).toMatchObject([{ at: 1_503, field: 'erpKey' }]);
});

test('a dry run reports the same and writes nothing', async () => {
  await importRows([rowOf('a'), rowOf('b')]);
  const dry = await importRows([rowOf('a', '1'), rowOf('c')], { isDryRun: true });
  expect(countsOf(dry)).toBe('1 inserted, 1 changed, 1 closed, complete');
  expect(await payables()).toBe('a 10.10, b 10.10');
  expect(await world.prisma.erpPayableImport.count()).toBe(1);
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
  const report = await importText(blockOf('csv'), { announced: 2 });
  expect(countsOf(report)).toBe('2 inserted, complete');
  for (const statement of blockOf('sql').split(';').slice(0, -1)) {
    await world.prisma.$executeRawUnsafe(statement);
  }
  expect((await payables()).split(', ')).toHaveLength(2);
});

const open = (erpKey: string, openValue: string) => ({ erpKey, openValue });
const begin = (kind: ImportKind = 'snapshot') => beginImport(world.prisma, { kind, by: 'test' });
const add = (importId: bigint, payables: readonly PayableFields[]) => {
  const rows = payables.map((payable) => ({
    ...{ supplierExternalId: 'P-1', dueDate: '2026-06-30' },
    ...payable,
  }));
  return world.prisma.$transaction((tx) => addPayables(tx, importId, [...checkPayables(rows)]));
};
const end = (importId: bigint, announced: number | null) =>
  world.prisma.$transaction((tx) => endImport(tx, importId, { by: 'test', announced }));

test('a snapshot does not undo a delta that began after it', async () => {
  await importPayables(world.database, [open('k1', '10'), open('k2', '20')]);
  const snapshot = await begin();
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '10', status: 'paid' }]);
  await add(snapshot, [open('k1', '10'), open('k2', '20')]);
  expect(countsOf(await end(snapshot, null))).toBe('1 unchanged, 1 outdated, complete');
  expect(await payables()).toBe('k1 10 paid, k2 20');
});

test('a snapshot without a payable closes nothing, unless the ERP states that there is none', async () => {
  await importPayables(world.database, [open('k1', '10')]);
  expect(countsOf(await end(await begin(), null))).toBe('');
  expect(countsOf(await end(await begin(), 0))).toBe('1 closed, complete');
});

test.each(IMPORT_KINDS)(
  'a %s that began before a complete snapshot opens nothing',
  async (kind) => {
    await importPayables(world.database, [open('k1', '10')]);
    const outdated = await begin(kind);
    await add(outdated, [open('k2', '20')]);
    const snapshot = await begin();
    await add(snapshot, [open('k3', '30')]);
    expect(countsOf(await end(snapshot, 1))).toBe('1 inserted, 2 closed, complete');
    const late = [open('k1', '10'), open('k4', '40')];
    await expect(add(outdated, late)).rejects.toThrow(InputError);
    await expect(end(outdated, null)).rejects.toThrow(InputError);
    expect(await payables()).toBe('k1 10 closed, k2 20 closed, k3 30');
  },
);

test('a snapshot neither replaces nor closes what the ERP wrote by SQL after its start', async () => {
  await importPayables(world.database, [open('k1', '10'), open('k2', '20'), open('k3', '30')]);
  const snapshot = await begin();
  await world.prisma.$executeRaw`
    UPDATE conciliation.erp_payable SET open_value = open_value + 1 WHERE erp_key IN ('k1', 'k2')`;
  await add(snapshot, [open('k1', '10'), open('k3', '30')]);
  expect(countsOf(await end(snapshot, null))).toBe('1 unchanged, 1 outdated, complete');
  expect(await payables()).toBe('k1 11, k2 21, k3 30');
});

test('SQL after the start of a snapshot, in an older transaction, is not replaced by the snapshot', async () => {
  await importPayables(world.database, [open('k1', '10')]);
  const snapshot = await world.prisma.$transaction(async (tx) => {
    await tx.$queryRaw`SELECT now()::text`;
    const begun = await begin();
    await tx.$executeRaw`UPDATE conciliation.erp_payable SET open_value = 11`;
    return begun;
  });
  expect(countsOf(await add(snapshot, [open('k1', '10')]))).toBe('1 outdated');
  expect(await payables()).toBe('k1 11');
});

test('a repeated request of an import does not undo SQL that came between', async () => {
  const snapshot = await begin();
  const batch = [open('k1', '10')];
  await add(snapshot, batch);
  await world.prisma.$executeRaw`UPDATE conciliation.erp_payable SET open_value = 11`;
  expect(countsOf(await add(snapshot, batch))).toBe('1 outdated');
  expect(await payables()).toBe('k1 11');
});

test('a payable counts as of the start of the import that stated or closed it', async () => {
  /** The payables that count as of the start of the newest import. */
  const asOfStart = async () => {
    const rows = await world.prisma.$queryRaw<{ key: string }[]>`
      SELECT erp_key AS key FROM conciliation.erp_payable AS payable
      JOIN conciliation.erp_payable_import AS import ON payable.stated_at = import.started_at
      WHERE import.id = (SELECT max(id) FROM conciliation.erp_payable_import) ORDER BY erp_key`;
    return rows.map(({ key }) => key);
  };
  await importPayables(world.database, [open('k1', '10'), open('k2', '20')]);
  const snapshot = await begin();
  await add(snapshot, [open('k1', '10')]);
  expect(await asOfStart()).toEqual(['k1']);
  expect(countsOf(await end(snapshot, 1))).toBe('1 unchanged, 1 closed, complete');
  expect(await asOfStart()).toEqual(['k1', 'k2']);
});

const stateK = (fields: Partial<PayableFields>, kind: ImportKind = 'delta') =>
  importPayables(world.database, [{ erpKey: 'k', openValue: '100.00', ...fields }], kind);
test('a late repetition of a delta changes nothing and is counted', async () => {
  await stateK({ openValue: '100.00', version: '9' });
  await stateK({ openValue: '40.00', version: '10' });
  const late = await stateK({ openValue: '100.00', version: '9' });
  expect(countsOf(late)).toBe('1 outdated, complete');
  expect(await payables()).toBe('k 40.00');
  expect(await world.prisma.erpPayable.findFirst()).toMatchObject({ version: '10' });
});

test('a later snapshot replaces a newer version, and names the payable', async () => {
  await stateK({ openValue: '40.00', version: '2' });
  const snapshot = await begin();
  const report = await add(snapshot, [{ erpKey: 'k', openValue: '100.00', version: '1' }]);
  expect(report.downgradedKeys).toEqual(['k']);
  expect(countsOf(await end(snapshot, 1))).toBe('1 changed, 1 downgraded, complete');
  expect(await payables()).toBe('k 100.00');
  expect(await world.prisma.erpPayable.findFirst()).toMatchObject({ version: '1' });
  expect(await lastAudit(world)).toMatchObject({
    details: { changed: 1, downgraded: 1, incomparable: 0, outdated: 0 },
  });
});

test.each([
  ['9', '10', true],
  ['+7', '007', false],
  ['2026-03-09', '2026-03-10', true],
  ['2026-03-10T09:00:00-03:00', '2026-03-10T11:30:00Z', false],
  ['2026-03-10T09:00-0300', '2026-03-10T12:00:00.001Z', true],
  ['2026-03-10 09:00:00', '2026-03-10T10:00', true],
  // Where the order is unknown, the later import is taken.
  ['2026-03-09', '2026-03-10T10:00:00', null],
  ['2026-03-10T09:00:00', '2026-03-10T10:00:00Z', null],
  ['2026-02-30', '2026-03-10', null],
  ['v1', 'v2', null],
  ['1', '2026-03-10', null],
  ['1.9', '1.10', null],
  [undefined, '2', null],
])('version %s after %s: older %s', async (version, present, isOlder) => {
  await stateK({ openValue: '40.00', version: present });
  const late = { openValue: '100.00', ...(version !== undefined && { version }) };
  const counts = isOlder === null ? '1 changed, 1 incomparable' : '1 changed';
  expect(countsOf(await stateK(late))).toBe(`${isOlder ? '1 outdated' : counts}, complete`);
  expect(await payables()).toBe(isOlder === true ? 'k 40.00' : 'k 100.00');
});

test.each([
  ['2', '1'],
  ['1', '2'],
])('two deltas at once leave the newer version: %s before %s', async (first, second) => {
  const versionOf = (version: string) => [
    { erpKey: 'k', openValue: `${version}.00`, version, supplierExternalId: 'P-1' },
  ];
  const [a, b] = [await begin('delta'), await begin('delta')];
  let waiting: Promise<unknown> = Promise.resolve();
  await world.prisma.$transaction(async (tx) => {
    await addPayables(tx, a, [...checkPayables(versionOf(first))]);
    // It reads no row of `k`, and waits for the key.
    waiting = add(b, versionOf(second));
    await lockWaits(world.database);
  });
  await waiting;
  expect(await payables()).toBe('k 2.00');
});
