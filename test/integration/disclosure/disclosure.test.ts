/**
 * The agents A, B and others. The period is 31 March to 31 May 2026; 31 May is a Sunday. All values in BRL. Unless
 * stated, the company is one, the ERP states the payable of a title as open, and stated it last on 20 February; what it
 * states later, it states on 31 May. Each fact of the definition in docs/matching.md has a title or a payable that only
 * this fact counts or leaves out.
 *
 * | title      | accepted | due    | value  | in the ERP                           | issued | term | 31 March | 31 May |
 * | ---------- | -------- | ------ | ------ | ------------------------------------ | ------ | ---- | -------- | ------ |
 * | before     | 1 March  | 29 May | 15     | nothing, the date is before bookings |        |      | E        |        |
 * | weekend    | 2 March  | 30 May | 100.10 | paid on the business day, 1 June     | 28 Feb | 91   | A        | A      |
 * | passed     | 2 March  | 29 May | 200.20 |                                      | 29 Jan | 120  | A        |        |
 * | overdue    | 2 March  | 29 May | 300.30 | stated as open on 31 May             |        |      | A        | A      |
 * | alone      | 2 March  | 29 May | 30.03  | nothing                              |        |      | A        |        |
 * | two        | 2 March  | 30 Jun | 60.60  | two payables                         |        | 29–180 | A      | A      |
 * | early      | 2 March  | 30 Jul | 400.40 | paid to A on 31 March                | 1 Feb  |      |          |        |
 * | late       | 2 March  | 30 Mar | 500.50 | paid to A on 1 April                 | 18 Feb | 40   | A        |        |
 * | sometime   | 2 March  | 30 Jul | 600.60 | paid to A, as stated on 31 May       | 1 Mar  | 151  | A        |        |
 * | supplier   | 2 March  | 29 Jun | 800.80 | paid to the supplier on 30 March     | 30 Jan | 150  | A        | A      |
 * | parts      | 2 March  | 30 Jun | 70.70  | paid to A on 31 March and 1 April    | 1 Feb  | 149  | A        |        |
 * | shared     | 2 March  | 30 Jun | 30.30  | to A on 31 March, to the supplier on 1 April | 1 Feb |  |          |        |
 * | shared too | 2 March  | 30 Jun | 23.23  | the same, as stated on 31 May and 5 June | 1 Feb | 149 | A      |        |
 * | settled    | 2 March  | 29 May | 13.13  | open, and settled by a payment to the supplier | 29 Jan | 120 | A |      |
 * | by payment | 2 March  | 30 Jun | 16.16  | open, and settled by a payment to A  | 1 Feb  | 149  | A        |        |
 * | nothing left | 2 March | 30 Jun | 17.17 | open with nothing left, paid to A    | 1 Feb  | 149  | A        |        |
 * | offset     | 2 March  | 30 Jun | 14.14  | offset, the receiver is A            | 1 Feb  | 149  | A        | A      |
 * | withdrawn  | 2 March  | 30 Jul | 900    | the title is withdrawn later         |        |      |          |        |
 * | own        | 2 March  | 30 Jul | 5000   | the buyer finances it itself         |        |      |          |        |
 * | posted     | 3 March  | 30 Jun | 50.05  | assigned; the item paid on 20 May    | 1 Feb  | 149  | A        |        |
 * | undone     | 3 March  | 31 Dec | 5      | posted, and withdrawn later          |        |      |          |        |
 * | late start | 6 April  | 30 Jul | 700.70 |                                      | 1 Apr  | 120  |          | B      |
 *
 * Owed to A on 31 March: 2797.71 for 15 titles, to E 15; 2812.71 in all.
 * Owed to A on 31 May: 100.10 + 300.30 + 60.60 + 800.80 + 14.14 = 1275.94; to B 700.70; 1976.64 in all.
 *
 * | payable   | issued   | due     | in the ERP                     | term | 31 March | 31 May |
 * | --------- | -------- | ------- | ------------------------------ | ---- | -------- | ------ |
 * | c1        | 1 March  | 15 Apr  | paid on 15 April               | 45   | yes      |        |
 * | c2        | 31 March | 31 May  | paid on the business day       | 61   | yes      | yes    |
 * | c3        |          | 1 Dec   | stated first on 31 May         |      |          | yes    |
 * | c4        | 1 April  | 29 May  | stated as open on 31 May       | 58   |          | yes    |
 * | c5        | 1 April  | 29 May  | stated as open on 30 May       | 58   |          |        |
 * | c6        | 1 March  | 15 Apr  | paid on 30 April, 70 left      | 45   | yes      |        |
 * | c7        | 1 March  | 15 Apr  | open, paid on 30 April         | 45   | yes      |        |
 * | c8        | 31 March | 1 June  | gone on 31 May                 | 62   | yes      |        |
 * | c9        | 31 March | 1 June  | open, nothing left on 31 May   | 62   | yes      |        |
 * | c10       | 13 Feb   | 30 Mar  | paid                           | 45   |          |        |
 * | c11       | 31 March | 31 May  | paid, as stated on 5 June      | 61   | yes      | yes    |
 * | c12       | 1 April  |         | open                           |      |          | yes    |
 * | c13 to c15 | 1 April | 31 May  | open, of three companies       | 60   |          | yes    |
 * | no agents | 1 April  | 31 May  | of the agent of a withdrawn title, and of the buyer | 60 | | yes |
 * | others    | 1 Jan    | 31 Dec  | cancelled, credit notes, in USD, assigned now or before, that a line made, settled or is posted on, of an agent, or to be paid to one |
 */
import { randomUUID } from 'node:crypto';
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
const [BRANCH_OF_A, BRANCH_OF_B] = ['11222333000262', '11444777000242'];
/** The agents of a date before bookings, of a withdrawn title, and of a posted line without a title. */
const [EARLIER, FORMER, POSTED_AGENT] = ['33444555000181', '44555666000181', '90400888000142'];
const OTHER_COMPANY = '00000000000191';

/** The day before in the time zone of the program. */
const [LATE_30_MAY, LATE_31_MAY] = ['2026-05-31 02:59Z', '2026-06-01 02:59Z'];

const TITLES: readonly JudgedTitle[] = [
  { uid: 'weekend', value: '100.10', dueDate: '2026-05-30' },
  { uid: 'passed', value: '200.20', dueDate: '2026-05-29' },
  { uid: 'overdue', value: '300.30', dueDate: '2026-05-29' },
  { uid: 'alone', value: '30.03', dueDate: '2026-05-29' },
  { uid: 'two', value: '60.60', dueDate: '2026-06-30' },
  { uid: 'early', value: '400.40', dueDate: '2026-07-30' },
  { uid: 'late', value: '500.50', dueDate: '2026-03-30' },
  { uid: 'sometime', value: '600.60', dueDate: '2026-07-30' },
  { uid: 'supplier', value: '800.80', dueDate: '2026-06-29' },
  { uid: 'parts', value: '70.70', dueDate: '2026-06-30' },
  { uid: 'shared', value: '30.30', dueDate: '2026-06-30' },
  { uid: 'shared too', value: '23.23', dueDate: '2026-06-30' },
  { uid: 'settled', value: '13.13', dueDate: '2026-05-29' },
  { uid: 'by payment', value: '16.16', dueDate: '2026-06-30' },
  { uid: 'nothing left', value: '17.17', dueDate: '2026-06-30' },
  { uid: 'offset', value: '14.14', dueDate: '2026-06-30' },
  { uid: 'withdrawn', value: '900', dueDate: '2026-07-30', agent: FORMER },
  { uid: 'own', value: '5000', dueDate: '2026-07-30', isEarly: true },
];
const POSTED = { uid: 'posted', value: '50.05', dueDate: '2026-06-30' };
const UNDONE = { uid: 'undone', value: '5', dueDate: '2026-12-31', agent: POSTED_AGENT };
const LATE_START = { uid: 'late start', value: '700.70', dueDate: '2026-07-30', agent: B };

const PAID = { openValue: '0', status: 'paid' } as const;
const toA = (settledOn = '') => ({ ...PAID, paidTo: A, settledOn });
const toSupplier = (settledOn = '') => ({ ...PAID, paidTo: SUPPLIER, settledOn });
type Invoice = readonly [
  key: string,
  issued: string,
  later?: Partial<StatedPayable>,
  part?: string,
];
/** The payables of titles, and what the ERP states of them later. A letter at the end parts those of one title. */
const invoices = (bookingKey: string): readonly Invoice[] => [
  ['weekend', '2026-02-28'],
  ['passed', '2026-01-29'],
  ['overdue', ''],
  ['two a', '2026-01-01', {}, '20.20'],
  ['two b', '2026-06-01', {}, '40.40'],
  ['early', '2026-02-01', toA('2026-03-31')],
  ['late', '2026-02-18', toA('2026-04-01')],
  ['sometime', '2026-03-01', toA()],
  ['supplier', '2026-01-30', toSupplier('2026-03-30')],
  ['parts a', '2026-02-01', toA('2026-03-31'), '30.20'],
  ['parts b', '2026-02-01', toA('2026-04-01'), '40.50'],
  ['shared a', '2026-02-01', toA('2026-03-31'), '10.10'],
  ['shared b', '2026-02-01', toSupplier('2026-04-01'), '20.20'],
  ['shared too a', '2026-02-01', toA(), '11.11'],
  ['shared too b', '2026-02-01', toSupplier(), '12.12'],
  ['settled', '2026-01-29', { settledAs: 'payment', paidTo: SUPPLIER }],
  ['by payment', '2026-02-01', { settledAs: 'payment', paidTo: A }],
  ['nothing left', '2026-02-01', { openValue: '0', paidTo: A }],
  ['offset', '2026-02-01', { ...toA('2026-03-31'), settledAs: 'offset' }],
  ['posted', '2026-02-01', { ...PAID, settledAs: 'assignment', settledBy: bookingKey }],
  ['late start', '2026-04-01'],
];
const orderOf = (erpKey: string) => erpKey.replace(/ [ab]$/, '');
const payableOf = ([erpKey, issueDate, later, part]: Invoice, isLater: boolean): StatedPayable => {
  const orderUid = orderOf(erpKey);
  const title = [...TITLES, POSTED, LATE_START].find(({ uid }) => uid === orderUid);
  const { value = '', dueDate = '' } = title ?? {};
  return { erpKey, orderUid, openValue: part ?? value, dueDate, issueDate, ...(isLater && later) };
};

const other = (erpKey: string, more: Partial<StatedPayable>): StatedPayable => ({
  ...{ erpKey, openValue: '70', company: '90.021.382/0001-22' },
  ...{ issueDate: '2026-01-01', dueDate: '2026-12-31', ...more },
});
const dated = (issueDate: string, dueDate: string) => ({ issueDate, dueDate });
const IN_MARCH = dated('2026-03-01', '2026-04-15');
const ON_SUNDAY = dated('2026-03-31', '2026-05-31');
const ON_MONDAY = dated('2026-03-31', '2026-06-01');
const IN_APRIL = dated('2026-04-01', '2026-05-31');
const ON_FRIDAY = dated('2026-04-01', '2026-05-29');
const WAS_ASSIGNED = other('was assigned', {});
const OF_UNDONE = ['2', '3'].map((openValue) =>
  other(`of undone ${openValue}`, { openValue, orderUid: UNDONE.uid }),
);
const comparable = (bookingKey: string) => [
  other('c1', { ...IN_MARCH, ...PAID, settledOn: '2026-04-15' }),
  other('c2', ON_SUNDAY),
  other('c3', dated('', '2026-12-01')),
  other('c4', ON_FRIDAY),
  other('c5', ON_FRIDAY),
  other('c6', { ...IN_MARCH, status: 'paid', settledOn: '2026-04-30' }),
  other('c7', { ...IN_MARCH, settledAs: 'payment', settledOn: '2026-04-30' }),
  other('c8', ON_MONDAY),
  other('c9', { ...ON_MONDAY, openValue: '0' }),
  other('c10', { ...dated('2026-02-13', '2026-03-30'), ...PAID }),
  other('c11', { ...ON_SUNDAY, ...PAID }),
  other('c12', dated('2026-04-01', '')),
  other('c13', { ...IN_APRIL, company: '02' }),
  other('c14', { ...IN_APRIL, company: '44.555.666/0001-81' }),
  other('c15', { ...IN_APRIL, company: '' }),
  other('of a former agent', { ...IN_APRIL, supplierExternalId: '', supplierTaxId: FORMER }),
  other('of the buyer', { ...IN_APRIL, supplierExternalId: '', supplierTaxId: BUYER }),
  other('cancelled', { status: 'cancelled' }),
  other('credit note', { openValue: '-70' }),
  other('used credit note', { openValue: '0', totalValue: '-70' }),
  other('dollars', { currency: 'USD' }),
  other('assigned', { settledAs: 'assignment' }),
  WAS_ASSIGNED,
  other('settled by a line', { ...PAID, settledBy: bookingKey, settledOn: '2026-06-30' }),
  other('of a line', { bookingKey: `2026-01-02:${'0'.repeat(32)}:1:1` }),
  ...[BRANCH_OF_A, EARLIER, POSTED_AGENT].map((supplierTaxId) =>
    other(`of the agent ${supplierTaxId}`, { supplierExternalId: '', supplierTaxId }),
  ),
  other('to the agent', { payee: BRANCH_OF_B }),
];

beforeAll(async () => {
  const { prisma } = world;
  await judged.pull(daysFrom(-1), [
    { uid: 'before', value: '15', dueDate: '2026-05-29', agent: EARLIER },
  ]);
  await judged.pull(DAY, TITLES);
  await judged.pull(POSTED_ON, [POSTED, UNDONE]);
  await judged.pull(daysFrom(35), [LATE_START]);
  await judged.state([
    ...invoices('').map((invoice) => payableOf(invoice, false)),
    { ...WAS_ASSIGNED, settledAs: 'assignment' },
    ...OF_UNDONE,
  ]);
  await judged.match();
  await judged.release(POSTED_ON);
  await judged.answer(POSTED_ON, 'posted');
  const key = await judged.keyOf('posted', POSTED_ON);
  await judged.state([
    ...invoices(key).map((invoice) => payableOf(invoice, true)),
    {
      ...{ erpKey: 'item', openValue: '0', bookingKey: key, issueDate: '2026-06-20' },
      ...{ supplierExternalId: '', supplierTaxId: A, status: 'paid', settledOn: '2026-05-20' },
    },
    ...comparable(key),
  ]);
  const remaining = TITLES.filter(({ uid }) => uid !== 'withdrawn');
  await judged.pull(DAY, remaining);
  await judged.pull(POSTED_ON, [POSTED]);
  await judged.match();
  await prisma.$transaction(async (tx) => {
    // For this transaction: the rows are written as they are.
    await tx.$executeRaw`SET LOCAL session_replication_role = replica`;
    // Sums, which a run of the matching would end once a part of them is paid.
    const ground = randomUUID();
    const { id: runId } = await tx.matchRun.findFirstOrThrow();
    for (const [index, [erpKey]] of invoices(key)
      .filter((invoice) => invoice[3])
      .entries()) {
      const where = { orderUid: orderOf(erpKey), status: 'current' };
      const { id: titleId } = await tx.title.findFirstOrThrow({ where });
      await tx.titleMatch.create({
        data: {
          ...{ titleId, titlePart: index % 2, erpKey, sumId: titleId, rule: 'sum', ruleVersion: 6 },
          ...{ titleGround: ground, erpGround: ground, erpValue: '1', madeBy: 'test', runId },
        },
      });
    }
    await tx.$executeRaw`
      UPDATE conciliation.title SET buyer_is_financial = NULL WHERE order_uid = 'weekend'`;
    // What the ERP stated earlier.
    await tx.$executeRaw`
      UPDATE conciliation.erp_payable
      SET created_at = CASE erp_key WHEN 'c3' THEN ${LATE_31_MAY} ELSE '2026-02-20 12:00Z' END::timestamptz,
          changed_at = CASE WHEN erp_key IN ('shared too b', 'c11') THEN '2026-06-05 12:00Z'
                            ELSE ${LATE_31_MAY} END::timestamptz,
          stated_at = CASE WHEN erp_key IN ('overdue', 'settled', 'c4') THEN ${LATE_31_MAY}
                           WHEN erp_key = 'c5' THEN ${LATE_30_MAY}
                           ELSE '2026-02-20 12:00Z' END::timestamptz,
          closed_at = CASE erp_key WHEN 'c8' THEN ${LATE_31_MAY}::timestamptz END`;
  });
  await prisma.companyBuyer.create({
    data: { company: '02', buyer: OTHER_COMPANY, confirmedBy: 'rita', reason: 'list of branches' },
  });
});

const line = ({ date, liabilities, company, agent, number, value, ...range }: DisclosureRow) =>
  `${date} ${liabilities} ${company ?? 'all'} ${agent ?? 'all'}: ${number} ${value} ` +
  `${range.shortest}-${range.longest} ${range.undated}`;

test('the figures are those that were worked out by hand', async () => {
  const rows = await readDisclosure(world.prisma, [BEGINNING, END, END]);
  expect(rows.map(line)).toEqual([
    '2026-03-31 anticipated all all: 16 2812.71 29-180 3',
    '2026-03-31 comparable all all: 7 null 45-62 0',
    `2026-03-31 anticipated ${BUYER} ${A}: 15 2797.71 29-180 2`,
    `2026-03-31 anticipated ${BUYER} ${EARLIER}: 1 15 null-null 1`,
    `2026-03-31 comparable ${BUYER} all: 7 null 45-62 0`,
    '2026-05-31 anticipated all all: 6 1976.64 29-180 1',
    '2026-05-31 comparable all all: 10 null 58-61 2',
    `2026-05-31 comparable ${OTHER_COMPANY} all: 1 null 60-60 0`,
    '2026-05-31 comparable 44555666000181 all: 1 null 60-60 0',
    `2026-05-31 anticipated ${BUYER} ${A}: 5 1275.94 29-180 1`,
    `2026-05-31 anticipated ${BUYER} ${B}: 1 700.70 120-120 0`,
    `2026-05-31 comparable ${BUYER} all: 8 null 58-61 2`,
  ]);
});

test('a complete statement says that what it leaves as it is was still open', async () => {
  const { prisma } = world;
  await prisma.$executeRaw`
    INSERT INTO conciliation.erp_payable_import (kind, imported_by, started_at) VALUES ('sql', 'erp', '2026-06-02 03:00Z')`;
  const [row] = await readDisclosure(prisma, [END]);
  expect(row).toMatchObject({ number: 7, value: '2176.84', longest: 180 });
  await prisma.erpPayableImport.deleteMany({ where: { kind: 'sql' } });
});

test('a date without liabilities has the figures over all', async () => {
  const rows = await readDisclosure(world.prisma, [daysFrom(-365)]);
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
  expect(text).toContain('1,976.64');
  expect(text).toContain('An acceptance is not a payment to the supplier.');
  // 2 March to 31 May, without the three dates that were pulled.
  expect(text).toContain('88 later dates until the end of the period are not complete.');
  const form = { beginning: BEGINNING, end: END, format: 'csv' };
  const file = (await client.post('/disclosure/file', form)).text.split('\r\n');
  const figures = `2026-05-31,${BUYER},Accepted anticipations,${A},5,1275.94,not known,29,180,1`;
  expect(file).toContain(figures);
  const workbook = await client.post('/disclosure/file', { ...form, format: 'xlsx' });
  const name = 'supplier-finance-note-2026-06-10.xlsx';
  expect(workbook.headers['content-disposition']).toContain(name);
  expect(workbook.bytes.subarray(0, 2).toString()).toBe('PK');
});

test('a payable without a company is of none of two buyers, and an invoice that is gone is not paid', async () => {
  const { prisma } = world;
  await prisma.$transaction(async (tx) => {
    await tx.$executeRaw`SET LOCAL session_replication_role = replica`;
    const data = { buyerIdentification: OTHER_COMPANY };
    await tx.title.updateMany({ where: { orderUid: 'late start' }, data });
    const closed = { closedAt: new Date(LATE_31_MAY) };
    await tx.erpPayable.updateMany({ where: { erpKey: 'weekend' }, data: closed });
    await tx.matchRun.updateMany({ data: { statesPaid: false } });
  });
  expect((await readDisclosure(prisma, [END])).map(line)).toEqual(
    expect.arrayContaining([
      '2026-05-31 comparable  all: 1 null 60-60 0',
      `2026-05-31 anticipated ${BUYER} ${A}: 5 1275.94 29-180 1`,
    ]),
  );
});
