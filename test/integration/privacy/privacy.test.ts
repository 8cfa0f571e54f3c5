/** Erasures of parties, what later responses write of them, and the removal of old pulls. */
import { beforeEach, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { removeOld } from '../../../src/features/privacy/retention.sql.ts';
import { erase, findAlterations, repairDay } from '../../support/days.ts';
import { lockWaits } from '../../support/lock-waits.ts';
import { listMatches, match, payablesOf, pullTitles } from '../../support/matching-world.ts';
import { importPayables } from '../../support/payables.ts';
import { clientOfFile, daysFrom, freshDays, TODAY, worldOfFile } from '../../support/pull-world.ts';
import { type TitleFields, titleText } from '../../support/titles.ts';

/** The provider of `titleText`, whose number in the ERP is P-1. */
const TAX_ID = '52998224725';
const ACCOUNT = '7654321';

const world = worldOfFile();
const owner = clientOfFile(() => world.databaseUrl);
const blocker = clientOfFile(() => world.databaseUrl);

const nextDay = freshDays();
let date: CivilDate;
beforeEach(() => {
  date = nextDay();
});

const pull = (...texts: string[]) => world.serve(date, texts);

const title = (uid: string, more: TitleFields = {}) =>
  titleText({ date, uid, discount: '1', ...more });

async function readTitles() {
  const { rows } = await owner.query(`
    SELECT provider_identification AS provider, provider_account AS account,
    erased_at IS NOT NULL AS erased, anticipated_due_date::text AS due
    FROM conciliation.title WHERE accepted_date = '${date}' ORDER BY order_uid, id`);
  return rows;
}

/** A title of other parties, with undocumented fields. */
const ofOthers = (uid: string, more = '') =>
  title(uid, { taxId: '11144477735', code: 'P-9', more });

test('a running merge is waited for, and its rows are erased', async () => {
  // The last lock that a merge takes.
  await blocker.query(
    "BEGIN; SELECT FROM conciliation.program_lock WHERE name = 'closing' FOR UPDATE",
  );
  const pulling = pull(title('a'));
  await lockWaits(world.database);
  const erasing = erase(world.database, { taxId: TAX_ID });
  await Promise.race([lockWaits(world.database, 2), erasing.catch(() => undefined)]);
  await blocker.query('COMMIT');
  await pulling;
  expect((await erasing).counts).toMatchObject({ titles: 1, partyAccounts: 1 });
  const { pseudonym } = await erasing;
  expect(await readTitles()).toMatchObject([{ provider: pseudonym, account: null, erased: true }]);
});

test('titles of the party are written without the party, new or restated, and so are revisions', async () => {
  await pull(title('a'), title('b'));
  const erased = { account: null, erased: true };
  expect(await readTitles()).toMatchObject([erased, erased]);
  expect(await world.prisma.partyAccount.count({ where: { account: ACCOUNT } })).toBe(0);
  const report = await pull(title('a', { discount: '2' }), title('b'), title('c'));
  expect(report).toMatchObject({ changed: 1, inserted: 1, unchanged: 1 });
  expect(await readTitles()).toMatchObject([erased, erased, erased]);
  const revisions = await world.prisma.titleRevision.findMany({
    where: { pullId: report.pullId },
    select: { before: true, after: true },
  });
  const [before, after] = [1, 2].map((value) => ({ platform_discounted_value: value }));
  expect(revisions).toEqual([{ before, after }]);
});

test('undocumented fields of other parties are not stored if they name the party', async () => {
  await pull(
    ofOthers('a', ',"guarantor":{"cpf":"529.982.247-25"}'),
    ofOthers('b', `,"note":{"cpf":"${TAX_ID}","text":"\\u0000"}`),
    ofOthers('c', `,"cpf\\u0000":{"text":"a \\"quoted\\" text","cpf":"529.982.247-25"}`),
    ofOthers('d', `,"ids":[${TAX_ID}]`),
    ofOthers('e', `,"ids":[${TAX_ID},1e999]`),
    ofOthers('f', `,"note":"cpf\\n${TAX_ID}\\u0000"`),
    ofOthers('g', ',"note":"another","installments":1,"at":"2026-03-02T10:11:12.131Z"'),
  );
  const titles = await world.prisma.title.findMany({
    where: { acceptedDate: date },
    orderBy: { orderUid: 'asc' },
  });
  const written = { providerExternalId: 'P-9', erasedAt: null };
  const kept = { note: 'another', installments: 1, at: '2026-03-02T10:11:12.131Z' };
  expect(titles).toMatchObject([
    ...Array(6).fill({ ...written, extra: null }),
    { ...written, orderUid: 'g', extra: kept },
  ]);
});

test('values outside of the interface are not stored if they name the party', async () => {
  await pull(ofOthers('a').replace('"INDIVIDUAL"', `"CPF 529.982.247-25/1"`));
  const { rows } = await owner.query(`
    SELECT value FROM conciliation.drift WHERE path = 'titles[].financialAgent.type'`);
  expect(rows).toEqual([{ value: expect.stringMatching(/^erased-\d+$/) }]);
});

test('a title that goes to another party is that party’s again', async () => {
  await pull(title('a'));
  await pull(title('a', { taxId: '11144477735', account: '999' }));
  expect(await readTitles()).toMatchObject([
    { provider: '11144477735', account: '999', erased: false },
  ]);
});

test.each([
  ['529.982.247-25'],
  ['CPF 529.982.247-25 of another supplier'],
  [String.raw`\\ 52998224725\n`],
])('rejected titles are kept without their text: %s', async (text) => {
  await pull(title('a'), `{"acceptedDate":"${date}","provider":{"identification":"${text}"}}`);
  const rejects = await world.prisma.rejectedTitle.findMany({ where: { date } });
  expect(rejects).toMatchObject([{ raw: '' }]);
});

test('a tax identifier without its leading zeros is that of the erased party', async () => {
  const short = (uid: string) => title(uid, { taxId: '1234567890' });
  await pull(short('a'));
  await erase(world.database, { taxId: '01234567890' });
  await pull(short('a'), short('b'));
  const erased = { account: null, erased: true };
  expect(await readTitles()).toMatchObject([erased, erased]);
});

test('an erasure asks about titles whose number may be the party, and finds every other writing', async () => {
  const BANK = '00000000000191';
  const withProvider = (uid: string, taxId: string) => title(uid, { taxId, code: `P-${uid}` });
  await pull(
    withProvider('a', '00.000.000/0001-91'),
    withProvider('b', '0000000000191'),
    withProvider('c', '191'),
    withProvider('d', '00000000191'),
    withProvider('e', '00000000000272'),
  );
  const eraseBank = (undecided?: 'erase' | 'keep', taxId = BANK) =>
    erase(world.database, { taxId }, { undecided });
  const erased = async () =>
    (await readTitles()).map(({ erased: isErased }, place) => (isErased ? 'abcde'[place] : ''));
  const asked = await eraseBank().catch((error: unknown) => error);
  expect(String(asked)).toMatch(/titles have a number that is this tax identifier or/);
  expect(String(asked)).not.toContain('191');
  expect((await erased()).join('')).toBe('');
  const { counts } = await eraseBank('keep');
  expect([counts.titles, (await erased()).join('')]).toEqual([2, 'ab']);
  // Titles of the same writings that arrive later are treated alike.
  date = nextDay();
  await pull(withProvider('a', ' 000000000191'), withProvider('c', '0191'));
  expect((await erased()).join('')).toBe('a');
  await eraseBank('erase');
  expect((await erased()).join('')).toBe('ab');
  await expect(eraseBank(undefined, '52998224725')).resolves.toBeDefined();
});

test('an erasure reaches the payables of the ERP and their rejects, and the match lasts', async () => {
  const { database } = world;
  const taxId = '39053344705';
  await pullTitles(world, [{ uid: 'own', value: '10', taxId, code: 'P-3' }]);
  const payables =
    `k1 10 code=P-3 tax=${taxId}, k2 20 code=P-2 payee=${taxId}, k3 none code=P-3 tax=${taxId}, ` +
    `k4 30 code=P-2 tax=11222333000181, k5 50 code=P-2 to=${taxId}`;
  await importPayables(database, payablesOf(payables));
  await match(database);
  const [before] = await database.prisma.$queryRaw<[{ statedAt: string }]>`
    SELECT max(stated_at)::text AS "statedAt" FROM conciliation.erp_payable`;
  const { pseudonym, counts } = await erase(database, { taxId });
  expect(counts).toMatchObject({ payables: 3, payableRejects: 1 });
  const none = { supplierTaxId: null, payee: null, paidTo: null };
  expect(
    await database.prisma.erpPayable.findMany({
      select: { supplierExternalId: true, supplierTaxId: true, payee: true, paidTo: true },
      orderBy: { erpKey: 'asc' },
    }),
  ).toEqual([
    { ...none, supplierExternalId: pseudonym },
    { ...none, supplierExternalId: 'P-2' },
    { ...none, supplierExternalId: 'P-2', supplierTaxId: '11222333000181' },
    { ...none, supplierExternalId: 'P-2' },
  ]);
  // An erasure states nothing about the payables.
  const [{ isKept }] = await database.prisma.$queryRaw<[{ isKept: boolean }]>`
    SELECT max(stated_at) <= ${before.statedAt}::timestamptz + interval '1 microsecond' AS "isKept"
    FROM conciliation.erp_payable`;
  expect(isKept).toBe(true);
  expect(await database.prisma.erpPayableReject.findMany()).toMatchObject([{ raw: '' }]);
  await match(database);
  expect(await listMatches(database)).toEqual(['own=k1 exact']);
});

test('a title that was altered before the erasure is found after it and repaired, without the personal data', async () => {
  const { database } = world;
  const taxId = '24681357928';
  await pull(title('a', { taxId, code: 'P-4' }), title('b', { taxId, code: 'P-4' }));
  await database.pool.query(`
    UPDATE conciliation.title SET anticipated_due_date = '2026-07-01' WHERE order_uid = 'a' AND accepted_date = '${date}'`);
  const { pseudonym } = await erase(database, { taxId });
  const { alterations } = await repairDay(world, date);
  expect(alterations).toMatchObject([{ problem: 'titles' }, { problem: 'day' }]);
  const erased = { due: '2026-06-30', provider: pseudonym, account: null, erased: true };
  expect(await readTitles()).toMatchObject([erased, erased]);
  expect(await findAlterations(database, date)).toEqual([]);
});

test('pulls that changed a title stay, and the newest one, in batches smaller than the rest', async () => {
  const { prisma } = world;
  for (const discount of ['1', '1', '2', '2', '2', '2']) await pull(title('a', { discount }));
  await prisma.$executeRaw`
    UPDATE conciliation.pull SET finished_at = finished_at - interval '1 year' WHERE date = ${date}::date`;
  const { pulls } = await removeOld(world.database, {
    ...{ before: daysFrom(-30, TODAY), timeZone: 'America/Sao_Paulo', by: 'test', batchSize: 2 },
    signal: new AbortController().signal,
  });
  expect(pulls).toBe(3);
  const kept = await prisma.pull.findMany({ where: { date }, orderBy: { id: 'asc' } });
  expect(kept.map(({ state }) => state)).toEqual(['merged', 'merged', 'unchanged']);
});
