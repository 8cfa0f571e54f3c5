/**
 * One buyer, the agents A and B. The titles of the first day are posted. All values in BRL:
 *
 * | title       | agent | value | in the ERP                        | A owed | A in ERP | A row | B row |
 * | ----------- | ----- | ----- | --------------------------------- | ------ | -------- | ----- | ----- |
 * | agreed      | A     | 100   | item of 100                       | 100    | 100      |       |       |
 * | value       | A     | 200   | item of 190                       | 200    | 190      | 10    |       |
 * | none        | A     | 300   | the invoice alone                 | 300    | 0        | 300   |       |
 * | paid        | A     | 400   | item, paid to A                   | left   | left     |       |       |
 * | other       | B     | 500   | item of 500 whose payee is A      | 0      | 500      | -500  | 500   |
 * | supplier    | A     | 600   | payable paid to the supplier      | 600    | 0        | 600   |       |
 * | withdrawn   | A     | 700   | item of 700, the title withdrawn  | 0      | 700      | -700  |       |
 * | gone        | A     | 1100  | item missing from a full snapshot | 1100   | 0        | 1100  |       |
 * | released    | A     | 800   | the line is not answered          | 800    | 0        | 800   |       |
 * | failed      | A     | 900   | the ERP could not post            | 900    | 0        | 900   |       |
 * | new         | A     | 1000  | no line yet                       | 1000   | 0        | 1000  |       |
 * | early       | buyer | 5000  | in no figure                      |        |          |       |       |
 * | pair        | A     | 35    | payable of both, 120, payee A     | 35     | 35       |       |       |
 * | pair        | A     | 35    | the same                          | 35     | 85       | -50   |       |
 * | short       | A     | 30    | payable of both, 20, payee A      | 30     | 20       | 10    |       |
 * | short       | A     | 30    | the same                          | 30     | 0        | 30    |       |
 * | strange     | A     | 7     | item of 5, its payee a supplier   | 7      | 0        | 7     |       |
 * | (none)      | A     |       | items of 50 and 10 without title  | 0      | 60       | -60   |       |
 * | sum of A    |       |       |                                   | 5137   | 1690     | 3447  |       |
 *
 * The supplier has the item of 5. Booked for A: 100 + 200 + 300 + 600 + 700 + 1100 + 70 + 60 + 7 = 3137. The ERP's account
 * has 1500, so 1690 - 1500 = 190.
 */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import {
  type BalanceFilter,
  readBalance,
  stateBalances,
} from '../../../src/features/balance/balance.sql.ts';
import { openConsole } from '../../support/console-client.ts';
import { forFile } from '../../support/for-tests.ts';
import {
  AGENT as A,
  THIRD_PARTY as B,
  BUYER,
  type JudgedTitle,
  judgedWorldOfFile,
  type StatedPayable,
  SUPPLIER,
} from '../../support/judged-world.ts';
import { titlesOf } from '../../support/matching-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';

const { world, judged } = judgedWorldOfFile();
const console = forFile(() => openConsole(world.database));
const viewer = forFile(() => console.as('viewer', 'vera'));
const EVERYTHING: BalanceFilter = { company: null, agent: null, reason: null };
const proofOf = (filter: Partial<BalanceFilter> = {}) =>
  readBalance(world.prisma, { ...EVERYTHING, ...filter }, { offset: 0, limit: 1000 });

const BOTH = ['2099-06-30', '2099-07-30'];
const POSTED: readonly JudgedTitle[] = [
  ...titlesOf('agreed 100, value 200, none 300, paid 400, supplier 600, withdrawn 700'),
  { uid: 'other', value: '500', agent: B },
  ...titlesOf('gone 1100, strange 7'),
  ...BOTH.flatMap((due) => titlesOf(`pair 35 due=${due}, short 30 due=${due}`)),
];

const itemOf = async (uid: string, fields: Partial<StatedPayable>): Promise<StatedPayable> => ({
  ...{ erpKey: `item-${uid}`, openValue: '0', supplierExternalId: '', supplierTaxId: A },
  ...{ bookingKey: await judged.keyOf(uid, DAY), ...fields },
});
const supplier = { erpKey: 'payable', openValue: '600', orderUid: 'supplier' };

beforeAll(async () => {
  await judged.pull(DAY, POSTED);
  await judged.pull(daysFrom(1), [{ uid: 'released', value: '800' }]);
  await judged.pull(daysFrom(2), [{ uid: 'failed', value: '900' }]);
  await judged.pull(daysFrom(3), [
    { uid: 'new', value: '1000' },
    { uid: 'early', value: '5000', isEarly: true },
  ]);
  await judged.state([supplier]);
  await judged.match();
  for (const date of [DAY, daysFrom(1), daysFrom(2)]) await judged.release(date);
  await judged.answer(DAY, 'posted');
  await judged.answer(daysFrom(2), 'failed');
  await judged.state([await itemOf('gone', { openValue: '1100' })]);
  await judged.state(
    [
      await itemOf('agreed', { openValue: '100' }),
      await itemOf('value', { openValue: '190' }),
      await itemOf('paid', { status: 'paid', paidTo: A }),
      await itemOf('other', { openValue: '500', payee: A }),
      await itemOf('withdrawn', { openValue: '700' }),
      { ...supplier, openValue: '0', status: 'paid', paidTo: SUPPLIER },
      await itemOf('strange', { openValue: '5', payee: SUPPLIER }),
      { erpKey: 'invoice', openValue: '300', orderUid: 'none' },
      { erpKey: 'pair', openValue: '120', orderUid: 'pair', payee: A },
      { erpKey: 'short', openValue: '20', orderUid: 'short', payee: A },
      { erpKey: 'alone', openValue: '50', payee: A, company: '90.021.382/0001-22' },
      { erpKey: 'alone too', openValue: '10', payee: A, company: '90.021.382/0001-22' },
    ],
    'snapshot',
  );
  const remaining = POSTED.filter(({ uid }) => uid !== 'withdrawn');
  await judged.pull(DAY, remaining);
  await judged.match();
  // Sums of which a part is paid. A run of the matching would end them.
  await world.prisma.$transaction(async (tx) => {
    await tx.$executeRaw`SET LOCAL session_replication_role = replica`;
    const { id: runId } = await tx.matchRun.findFirstOrThrow({ orderBy: { id: 'desc' } });
    const ground = randomUUID();
    for (const erpKey of ['pair', 'short']) {
      const titles = await tx.title.findMany({ where: { orderUid: erpKey } });
      await tx.titleMatch.createMany({
        data: titles.map(({ id: titleId }, erpPart) => ({
          ...{ titleId, erpPart, erpKey, sumId: titleId, rule: 'sum', ruleVersion: 6, runId },
          ...{ titleGround: ground, erpGround: ground, erpValue: '70', madeBy: 'test' },
        })),
      });
    }
  });
  const today = daysFrom(3);
  const stated = { company: '90.021.382/0001-22', agent: A, balance: '1500', asOf: today };
  const older = { ...stated, asOf: daysFrom(2), balance: '7' };
  await stateBalances(world.database, [stated, older], { by: 'erp', today });
});

test('the figures are those that were worked out by hand', async () => {
  const { from, groups, groupSums } = await proofOf();
  expect(from).toBe(DAY);
  const whole = { owed: '5637', in_erp: '1695', difference: '3942', booked: '3637' };
  expect(groupSums).toMatchObject(whole);
  expect(groups).toMatchObject([
    {
      ...{ company: BUYER, agent: A, owed: '5137', inErp: '1690', difference: '3447' },
      ...{ booked: '3137', paid: '400' },
      ...{ balance: '1500', asOf: daysFrom(3), accountDifference: '190' },
    },
    {
      ...{ company: BUYER, agent: B, owed: '500', inErp: '0', difference: '500' },
      ...{ booked: '500', paid: '0', balance: null, accountDifference: null },
    },
    { company: BUYER, agent: SUPPLIER, owed: '0', inErp: '5', difference: '-5', booked: '0' },
  ]);
});

test('every unit of the difference has a title and a reason', async () => {
  const { page, sums, rows } = await proofOf({ agent: A });
  const lines = page.map((row) => `${row.orderUid ?? row.erpKeys} ${row.difference} ${row.reason}`);
  expect(lines.toSorted()).toEqual([
    'alone -50 without_title',
    'alone too -10 without_title',
    'failed 900 failed',
    'gone 1100 gone',
    'new 1000 no_line',
    'none 300 no_item',
    'other -500 other_agent',
    'pair -50 value_differs',
    'released 800 released',
    'short 10 value_differs',
    'short 30 no_item',
    'strange 7 other_agent',
    'supplier 600 paid_to_supplier',
    'value 10 value_differs',
    'withdrawn -700 withdrawn',
  ]);
  expect({ rows, sums }).toEqual({
    rows: 15,
    sums: { owed: '5002', in_erp: '1555', difference: '3447' },
  });
  const ofB = await proofOf({ agent: '11.444.777/0001-61' });
  expect(ofB.page).toMatchObject([{ orderUid: 'other', difference: '500', reason: 'other_agent' }]);
});

test('the page names the titles, and says what it has not compared', async () => {
  const { text } = await viewer.get('/balance');
  expect(text).toContain('The ERP has stated no balance of the account of 11444777000161');
  expect(text).toContain('Title withdrawn, item open');
  const { text: none } = await viewer.get('/balance?agent=11444777000161&reason=gone');
  expect(none).toContain('The filter selects no difference.');
  expect(none).not.toContain('No difference.');
  const { text: unknown } = await viewer.get('/balance?agent=00000000000191');
  expect(unknown).toContain('Nothing was compared');
  expect(unknown).not.toContain('No difference.');
});

test.each([
  ['an agent without a CNPJ', { agent: '123' }, 'agent: expected', 'erp_balance_agent_check'],
  ['a company with none', { company: 'matriz' }, 'company: expected', 'erp_balance_company_check'],
  ['a later day', { asOf: daysFrom(36_500) }, 'asOf: expected', 'as_of: expected'],
])('%s is refused', async (_, fields, problem, byDatabase) => {
  const data = { company: BUYER, agent: A, asOf: DAY, balance: '1', ...fields };
  const stated = stateBalances(world.database, [data], { by: 'erp', today: DAY });
  await expect(stated).rejects.toThrow(problem);
  await expect(world.prisma.erpBalance.create({ data })).rejects.toThrow(byDatabase);
});

test('what is gone is paid where the snapshots of the ERP state open payables alone', async () => {
  await world.prisma.matchRun.updateMany({ data: { statesPaid: false } });
  const { page, groups } = await proofOf({ agent: A });
  expect(page.map(({ orderUid }) => orderUid)).not.toContain('gone');
  expect(groups).toMatchObject([
    { owed: '4037', difference: '2347', booked: '2037', paid: '1500' },
  ]);
});

test('an agent with a CPF is a person: people see the last two digits', async () => {
  await judged.pull(daysFrom(4), [{ uid: 'person', value: '20', agent: '52998224725' }]);
  const reviewer = await console.as('reviewer', 'rita');
  for (const path of ['/balance', '/api/balance', '/api/balance-groups', '/api/disclosure']) {
    const query = path === '/api/disclosure' ? `?end=${daysFrom(4)}` : '';
    for (const person of [viewer, reviewer]) {
      const { text } = await person.get(path + query);
      expect(text, path).toContain('••••25');
      expect(text, path).not.toContain('52998224725');
    }
  }
});
