import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { undoMatch } from '../../src/matching/match-decisions.sql.ts';
import { runMatching } from '../../src/matching/run-matching.sql.ts';
import { importPayableFile } from '../../src/payables/import-payables.ts';
import { checkPayables } from '../../src/payables/payable-file.ts';
import { addPayables, beginImport, endImport, type ImportKind } from '../../src/payables/payable-import.sql.ts';
import { match, pullTitles } from '../support/matching-world.ts';
import { importPayables } from '../support/payables.ts';
import { openPullWorld, type PullWorld } from '../support/pull-world.ts';

let world: PullWorld;
beforeEach(async () => {
  world = await openPullWorld();
});
afterEach(() => world.close());
const open = () => world.database.prisma.erpPayable.findMany({ where: { closedAt: null }, orderBy: { erpKey: 'asc' }, select: { erpKey: true, status: true, openValue: true, orderUid: true, document: true, dueDate: true } });
const file = async (text: string | Buffer, kind: ImportKind = 'snapshot', announced: number | null = null) => {
  const folder = await mkdtemp(join(tmpdir(), 'attack-'));
  const path = join(folder, 'p.csv');
  await writeFile(path, text);
  return importPayableFile(world.database, path, { kind, actor: 't', announced, isDryRun: false, signal: new AbortController().signal });
};

test('a snapshot with the header alone closes everything', async () => {
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '10' }, { erpKey: 'k2', openValue: '10' }], 'snapshot');
  console.log(await file('erpKey;openValue;supplierExternalId\r\n'));
  expect(await open()).toHaveLength(2);
});
test('hostile CSV', async () => {
  const report = await file(
    Buffer.from(
      '\uFEFFerpKey;openValue;supplierExternalId;document;dueDate\r\n' +
        'a;1e400;P-1;x;\r\n' + 'b;-0;P-1;x;\r\n' + 'c;-0,00;P-1;x;\r\n' + 'd;1.234;P-1;x;\r\n' + 'd2;1,234;P-1;x;\r\n' + 'e;1\u00a0234,50;P-1;x;\r\n' + 'f;10;P-1;nul\u0000nul;\r\n' +
        'g;10;P-1;"=cmd|\'/c calc\'!A1";31/02/2026\r\n' + 'h;10;P-1;=1+1;29/02/2028\r\n' + 'i;٣;P-1;x;\r\n' + 'j;10;P-1;"quote;\r\n' + 'k;10;P-1;x;\r\n' ,
    ), 'delta');
  console.log(JSON.stringify({ ...report, importId: 0 }));
  console.log(await open());
});
test('1.234 in Brazil', async () => {
  console.log((await file('erpKey;openValue;supplierExternalId\na;1.234;P\nb;1.234.567;P\nc;1,234;P\nd;1,234,567;P\ne;0.123;P', 'delta')).rejects, await open());
});
test('10 MB line', async () => {
  await expect(file(`erpKey;openValue;supplierExternalId\na;1;${'x'.repeat(10_000_000)}\n`)).rejects.toThrow(/longer/);
});
test('JSON: NUL and lone surrogates', async () => {
  for (const erpKey of ['a\u0000b', 'a\ud800b', '\udc00', 'é'.repeat(255), '\u{1F600}'.repeat(255)]) {
    const done = await world.database.prisma.$transaction(async (tx) => {
      const id = await beginImport(tx, { kind: 'delta', by: 't' });
      return addPayables(tx, id, [...checkPayables([{ erpKey, openValue: '1', supplierExternalId: 'P' }, { erpKey: 'x', openValue: '-0', supplierExternalId: 'P', [`f${erpKey}`]: erpKey }, { erpKey: 'y', openValue: 1e400, supplierExternalId: 'P' }])]);
    }).catch((e) => e);
    console.log(erpKey.length, done instanceof Error ? String(done) : JSON.stringify(done));
    expect(done).not.toBeInstanceOf(Error);
  }
});
test('an older snapshot does not overwrite a later delta', async () => {
  const { prisma } = world.database;
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '10' }], 'snapshot');
  const snapshot = await beginImport(prisma, { kind: 'snapshot', by: 'erp' });
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '10', status: 'paid' }], 'delta');
  await prisma.$transaction((tx) => addPayables(tx, snapshot, [...checkPayables([{ erpKey: 'k1', openValue: '10', supplierExternalId: 'P-1', dueDate: '2026-06-30' }])]));
  await prisma.$transaction((tx) => endImport(tx, snapshot, { by: 'erp', announced: null }));
  expect(await open()).toMatchObject([{ erpKey: 'k1', status: 'paid' }]);
});
test('a person named matching', async () => {
  await pullTitles(world, [{ uid: 'a', value: '10' }]);
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '10' }]);
  await runMatching(world.database, { by: 'matching' });
  const { id } = await world.database.prisma.titleMatch.findFirstOrThrow();
  await undoMatch(world.database, id, { by: 'matching', reason: 'wrong' });
  expect(await match(world.database)).toMatchObject({ matched: 0 });
});
test('announced count with the keys of an ended import rewritten', async () => {
  const { prisma } = world.database;
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '10' }, { erpKey: 'k2', openValue: '10' }], 'snapshot');
  // The same payable twice, announced 2: is the snapshot complete, is k2 closed?
  const id = await beginImport(prisma, { kind: 'snapshot', by: 'erp' });
  const k1 = { erpKey: 'k1', openValue: '10', supplierExternalId: 'P-1', dueDate: '2026-06-30' };
  await prisma.$transaction((tx) => addPayables(tx, id, [...checkPayables([k1, k1])]));
  console.log(await prisma.$transaction((tx) => endImport(tx, id, { by: 'erp', announced: 2 })));
  // A delta takes one of the snapshot's rows before it ends: arrived is one less.
  const second = await beginImport(prisma, { kind: 'snapshot', by: 'erp' });
  await prisma.$transaction((tx) => addPayables(tx, second, [...checkPayables([k1])]));
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '11' }]);
  console.log(await prisma.$transaction((tx) => endImport(tx, second, { by: 'erp', announced: 1 })));
});
