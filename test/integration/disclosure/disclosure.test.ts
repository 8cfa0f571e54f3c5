/**
 * One company, the agents A and B. The period is 31 March to 31 May 2026; 31 May is a Sunday. All values in BRL. Unless
 * stated, the ERP states the payable of a title as open, and stated it last on 20 February.
 *
 * | title      | accepted | due    | value  | in the ERP                           | issued | term | 31 March | 31 May |
 * | ---------- | -------- | ------ | ------ | ------------------------------------ | ------ | ---- | -------- | ------ |
 * | weekend    | 2 March  | 30 May | 100.10 | paid on the business day, 1 June     | 28 Feb | 91   | A        | A      |
 * | passed     | 2 March  | 29 May | 200.20 |                                      | 29 Jan | 120  | A        |        |
 * | overdue    | 2 March  | 29 May | 300.30 | stated as open on 2 June             |        |      | A        | A      |
 * | early      | 2 March  | 30 Jul | 400.40 | paid to A on 31 March                | 1 Feb  |      |          |        |
 * | late       | 2 March  | 30 Mar | 500.50 | paid to A on 1 April                 | 18 Feb | 40   | A        |        |
 * | sometime   | 2 March  | 30 Jul | 600.60 | paid to A, as stated on 10 May       | 1 Mar  | 151  | A        |        |
 * | supplier   | 2 March  | 29 Jun | 800.80 | paid to the supplier on 30 March     | 30 Jan | 150  | A        | A      |
 * | withdrawn  | 2 March  | 30 Jul | 900    | the title is withdrawn later         |        |      |          |        |
 * | own        | 2 March  | 30 Jul | 5000   | the buyer finances it itself         |        |      |          |        |
 * | posted     | 3 March  | 30 Jun | 50.05  | assigned; the item paid on 20 May    | 1 Feb  | 149  | A        |        |
 * | late start | 6 April  | 30 Jul | 700.70 | nothing                              |        |      |          | B      |
 *
 * Owed to A on 31 March: 100.10 + 200.20 + 300.30 + 500.50 + 600.60 + 800.80 + 50.05 = 2552.55, terms of 40 to 151 days.
 * Owed to A on 31 May: 100.10 + 300.30 + 800.80 = 1201.20, terms of 91 to 150 days; to B 700.70; 1901.90 in all.
 *
 * | payable | issued   | due     | in the ERP                     | term | 31 March | 31 May |
 * | ------- | -------- | ------- | ------------------------------ | ---- | -------- | ------ |
 * | c1      | 1 March  | 15 Apr  | paid on 15 April               | 45   | yes      |        |
 * | c2      | 31 March | 31 May  | paid on the business day       | 61   | yes      | yes    |
 * | c3      |          | 1 Dec   | stated first on 1 May          |      |          | yes    |
 * | c4      | 1 April  | 29 May  | stated as open on 2 June       | 58   |          | yes    |
 * | others  | 1 Jan    | 31 Dec  | cancelled, a credit note, in USD, assigned, of A, or to be paid to A |
 */
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import {
  type DisclosureRow,
  readDisclosure,
} from '../../../src/features/disclosure/disclosure.sql.ts';
import { openConsole } from '../../support/console-client.ts';
import {
  AGENT as A,
  THIRD_PARTY as B,
  BUYER,
  type JudgedTitle,
  judgedWorldOfFile,
  type StatedPayable,
  SUPPLIER,
} from '../../support/judged-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';

const { world, judged } = judgedWorldOfFile();
const POSTED_ON = daysFrom(1);
const [BEGINNING, END] = [daysFrom(29), daysFrom(90)];

const TITLES: readonly JudgedTitle[] = [
  { uid: 'weekend', value: '100.10', dueDate: '2026-05-30' },
  { uid: 'passed', value: '200.20', dueDate: '2026-05-29' },
  { uid: 'overdue', value: '300.30', dueDate: '2026-05-29' },
  { uid: 'early', value: '400.40', dueDate: '2026-07-30' },
  { uid: 'late', value: '500.50', dueDate: '2026-03-30' },
  { uid: 'sometime', value: '600.60', dueDate: '2026-07-30' },
  { uid: 'supplier', value: '800.80', dueDate: '2026-06-29' },
  { uid: 'withdrawn', value: '900', dueDate: '2026-07-30' },
  { uid: 'own', value: '5000', dueDate: '2026-07-30', isEarly: true },
];
const POSTED = { uid: 'posted', value: '50.05', dueDate: '2026-06-30' };

const payableOf = (
  { uid, value, dueDate = '' }: JudgedTitle,
  issueDate: string,
  more: Partial<StatedPayable> = {},
): StatedPayable => ({ erpKey: uid, orderUid: uid, openValue: value, dueDate, issueDate, ...more });
const titleOf = (uid: string) => TITLES.find((title) => title.uid === uid) ?? POSTED;

const other = (erpKey: string, more: Partial<StatedPayable>): StatedPayable => ({
  ...{ erpKey, openValue: '70', company: '90.021.382/0001-22' },
  ...{ issueDate: '2026-01-01', dueDate: '2026-12-31', ...more },
});

const UNCHANGED = [
  payableOf(titleOf('weekend'), '2026-02-28'),
  payableOf(titleOf('passed'), '2026-01-29'),
  payableOf(titleOf('overdue'), ''),
];
const changing = (more: (uid: string) => Partial<StatedPayable>) => [
  payableOf(titleOf('early'), '2026-02-01', more('early')),
  payableOf(titleOf('late'), '2026-02-18', more('late')),
  payableOf(titleOf('sometime'), '2026-03-01', more('sometime')),
  payableOf(titleOf('supplier'), '2026-01-30', more('supplier')),
  payableOf(POSTED, '2026-02-01', more('posted')),
];
const COMPARABLE = [
  other('c1', {
    ...{ issueDate: '2026-03-01', dueDate: '2026-04-15', settledOn: '2026-04-15' },
    ...{ openValue: '0', status: 'paid' },
  }),
  other('c2', { issueDate: '2026-03-31', dueDate: '2026-05-31' }),
  other('c3', { issueDate: '', dueDate: '2026-12-01' }),
  other('c4', { issueDate: '2026-04-01', dueDate: '2026-05-29' }),
  other('cancelled', { status: 'cancelled' }),
  other('credit note', { openValue: '-70' }),
  other('dollars', { currency: 'USD' }),
  other('assigned', { settledAs: 'assignment' }),
  other('of the agent', { supplierExternalId: '', supplierTaxId: A }),
  other('to the agent', { payee: A }),
];

beforeAll(async () => {
  const { prisma } = world.database;
  await judged.pull(DAY, TITLES);
  await judged.pull(POSTED_ON, [POSTED]);
  await judged.pull(daysFrom(35), [
    { uid: 'late start', value: '700.70', dueDate: '2026-07-30', agent: B },
  ]);
  await judged.state([...UNCHANGED, ...changing(() => ({}))]);
  await judged.match();
  await judged.release(POSTED_ON);
  await judged.answer(POSTED_ON, 'posted');
  const key = await judged.keyOf('posted', POSTED_ON);
  const paid = { status: 'paid', paidTo: A } as const;
  const changes: Record<string, Partial<StatedPayable>> = {
    early: { ...paid, settledOn: '2026-03-31' },
    late: { ...paid, settledOn: '2026-04-01' },
    sometime: paid,
    supplier: { status: 'paid', paidTo: SUPPLIER, settledOn: '2026-03-30' },
    posted: { status: 'paid', settledAs: 'assignment', settledBy: key },
  };
  await judged.state([
    ...changing((uid) => ({ openValue: '0', ...changes[uid] })),
    {
      ...{ erpKey: 'item', openValue: '0', bookingKey: key, issueDate: POSTED_ON },
      ...{ supplierExternalId: '', supplierTaxId: A, status: 'paid', settledOn: '2026-05-20' },
    },
    ...COMPARABLE,
  ]);
  const remaining = TITLES.filter(({ uid }) => uid !== 'withdrawn');
  await judged.pull(DAY, remaining);
  await judged.match();
  // What the ERP stated earlier. 2 June begins at 03:00 UTC.
  await prisma.$executeRaw`
    UPDATE conciliation.erp_payable
    SET created_at = CASE erp_key WHEN 'c3' THEN '2026-05-01 12:00Z' ELSE '2026-02-20 12:00Z' END::timestamptz,
        changed_at = '2026-05-11 02:59Z',
        stated_at = CASE WHEN erp_key IN ('overdue', 'c4') THEN '2026-06-02 03:00Z' ELSE '2026-02-20 12:00Z' END::timestamptz`;
});

const line = ({ date, liabilities, company, agent, number, value, ...range }: DisclosureRow) =>
  `${date} ${liabilities} ${company ?? 'all'} ${agent ?? 'all'}: ${number} ${value} ` +
  `${range.shortest}-${range.longest} ${range.undated}`;

test('the figures are those that were worked out by hand', async () => {
  const rows = await readDisclosure(world.database.prisma, [BEGINNING, END]);
  expect(rows.map(line)).toEqual([
    '2026-03-31 anticipated all all: 7 2552.55 40-151 1',
    '2026-03-31 comparable all all: 2 null 45-61 0',
    `2026-03-31 anticipated ${BUYER} ${A}: 7 2552.55 40-151 1`,
    `2026-03-31 comparable ${BUYER} all: 2 null 45-61 0`,
    '2026-05-31 anticipated all all: 4 1901.90 91-150 2',
    '2026-05-31 comparable all all: 3 null 58-61 1',
    `2026-05-31 anticipated ${BUYER} ${A}: 3 1201.20 91-150 1`,
    `2026-05-31 anticipated ${BUYER} ${B}: 1 700.70 null-null 1`,
    `2026-05-31 comparable ${BUYER} all: 3 null 58-61 1`,
  ]);
});

test('a complete statement says that what it leaves as it is was still open', async () => {
  const { prisma } = world.database;
  await prisma.$executeRaw`
    INSERT INTO conciliation.erp_payable_import (kind, imported_by, started_at) VALUES ('sql', 'erp', '2026-06-02 03:00Z')`;
  const [row] = await readDisclosure(prisma, [END]);
  expect(row).toMatchObject({ number: 5, value: '2102.10', longest: 150 });
  await prisma.erpPayableImport.deleteMany({ where: { kind: 'sql' } });
});

test('a date without liabilities has the figures over all', async () => {
  const rows = await readDisclosure(world.database.prisma, [daysFrom(-365)]);
  expect(rows.map(line)).toEqual([
    '2025-03-02 anticipated all all: 0 0 null-null 0',
    '2025-03-02 comparable all all: 0 null null-null 0',
  ]);
});

test('the page and its file have the figures of the ends of the last month and of the year before', async () => {
  const now = () => new Date('2026-06-10T12:00:00Z');
  const console = await openConsole(world.database, { now });
  onTestFinished(() => console.close());
  const client = await console.as('viewer', 'vera');
  const { text } = await client.get('/disclosure');
  expect(text).toMatch(/name="beginning" value="2025-12-31"/);
  expect(text).toMatch(/name="end" value="2026-05-31"/);
  expect(text).toContain('1,901.90');
  expect(text).toContain('An acceptance is not a payment to the supplier.');
  // 2 March to 31 May, without the three dates that were pulled.
  expect(text).toContain('88 later dates until the end of the period are not complete.');
  const form = { beginning: BEGINNING, end: END, format: 'csv' };
  const file = (await client.post('/disclosure/file', form)).text.split('\r\n');
  const figures = `2026-05-31,${BUYER},Accepted anticipations,${A},3,1201.20,not known,91,150,1`;
  expect(file).toContain(figures);
  const workbook = await client.post('/disclosure/file', { ...form, format: 'xlsx' });
  const name = 'supplier-finance-note-2026-06-10.xlsx';
  expect(workbook.headers['content-disposition']).toContain(name);
  expect(workbook.bytes.subarray(0, 2).toString()).toBe('PK');
});
