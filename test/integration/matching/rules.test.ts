/** The rules: sums, payables that are not open, orders, suppliers and companies. */
import { beforeEach, describe, expect, test } from 'vitest';
import { readTitleMatches } from '../../../src/features/matching/break-list.sql.ts';
import { undoMatch } from '../../../src/features/matching/match-decisions.sql.ts';
import { readErpStages } from '../../../src/features/review/months/month-seal.sql.ts';
import {
  addBooking,
  clearMatching,
  match,
  play,
  type Step,
  TITLE_AGENT,
  TITLE_BUYER,
} from '../../support/matching-world.ts';
import { DAY, worldOfFile } from '../../support/pull-world.ts';

const world = worldOfFile();
beforeEach(() => clearMatching(world.database));

type Cases = Record<string, readonly Step[]>;

/** Rows that no sum has, each with another value. */
const noise = (count: number, more = '') =>
  Array.from({ length: count }, (_, index) => `n${index} ${1000 + 2 ** index}${more}`).join(', ');
const PARTS = 'k1 60 order=a, k2 40 order=a';
const SUM = 'a=k1 sum, a=k2 sum';

const sums: Cases = {
  'payables of one document are a sum; payables that share nothing are not': [
    { titles: 'a 100', load: 'k1 60 doc=NF-1, k2 40 doc=NF-2', matches: '' },
    // Another payable shares a document with one of the two.
    { load: 'k3 7 doc=NF-1', matches: '' },
    // Leading zeros of a document do not count.
    { load: 'k3 7 doc=NF-1 cancelled, k1 60 doc=0071, k2 40 doc=71', matches: SUM },
  ],
  'two combinations, or a payable without the order that fits alone, leave the title without a match':
    [
      { titles: 'a 100', load: `${PARTS}, k3 40`, matches: '' },
      { load: 'k3 100 due=2026-07-02', matches: '' },
    ],
  'more candidates than the limit leave no sum': [
    { titles: 'a 100', load: `${PARTS}, ${noise(11)}`, matches: '' },
    { load: 'n10 5 cancelled', matches: SUM },
  ],
  'a payable of a sum that has more titles than the limit leaves no sum': [
    { titles: `a 100, ${noise(12)}`, load: PARTS, matches: '' },
    { titles: `a 100, ${noise(11)}`, matches: SUM },
  ],
  'a payable without code whose tax identifier has more titles than the limit is no item of a sum':
    [
      { titles: `a 100, ${noise(12, ' code=P-2')}` },
      // The titles of both codes are candidates of this payable, and one title is a candidate of the others.
      { load: 'k1 60 order=a code= tax=52998224725' },
      { load: 'k2 40 order=a, k3 7 order=a', matches: '' },
      { titles: `a 100, ${noise(11, ' code=P-2')}`, matches: SUM },
    ],
  'a payable that fits another title alone is no item of a sum': [
    { titles: 'a 100, u1 40 due=2026-07-02, u2 40 due=2026-07-02' },
    { load: `${PARTS}, k3 7 order=a`, matches: '' },
    { titles: 'a 100', matches: SUM },
  ],
  'a title that fits another payable alone is no item of a sum': [
    { titles: 'a 60, a 40, a 7' },
    { load: 'k1 100, o1 40 due=2026-07-02, o2 40 due=2026-07-02', matches: '' },
    { load: 'o1 5 due=2026-07-02, o2 5 due=2026-07-02', matches: 'a=k1 sum, a=k1 sum' },
  ],
  'a sum of six items is not matched': [
    {
      titles: 'a 63',
      load: [1, 2, 4, 8, 16, 32].map((part) => `k${part} ${part} order=a`).join(', '),
    },
    { matches: '' },
  ],
};
test.each(Object.entries(sums))('%s', (_, steps) => play(world, steps));

test('a title is matched with the payables of its order that add up to its value', async () => {
  // A credit note is an item with a negative value.
  const load = 'k1 60.5 order=a, k2 49.5 order=a, k3 -10 order=a';
  await play(world, [{ titles: 'a 100.00', load }]);
  expect(await match(world.database)).toMatchObject({ matched: 1 });
  await play(world, [{ matches: 'a=k1 sum, a=k2 sum, a=k3 sum' }]);
  expect(await match(world.database)).toMatchObject({ matched: 0, reopened: 0 });
  const { sum } = await readErpStages(world.database, { from: DAY, to: DAY });
  expect(sum).toMatchObject({ titles: 1, agreed: 1 });
  // One payable is paid, which ends nothing. One changes, and the whole sum ends.
  const paid = { load: 'k1 60.5 order=a paid', matches: 'a=k1 sum, a=k2 sum, a=k3 sum' };
  await play(world, [paid, { load: 'k2 51 order=a' }]);
  expect(await match(world.database)).toMatchObject({ matched: 0, reopened: 1 });
  await play(world, [{ matches: '' }]);
});

test('titles of one order are matched with the payable of their sum, and undone together', async () => {
  await play(world, [{ titles: 'a 30, a 31', load: 'k1 61' }]);
  expect(await match(world.database)).toMatchObject({ matched: 1 });
  await play(world, [{ matches: 'a=k1 sum, a=k1 sum' }]);
  const [title] = await world.prisma.title.findMany({ where: { status: 'current' } });
  const [row] = await readTitleMatches(world.database, title?.id ?? 0n);
  expect(row).toMatchObject({ rule: 'sum', payable: { erpKey: 'k1' } });
  expect(row?.otherTitles).toHaveLength(1);
  const decision = { by: 'rita', reason: 'wrong documents' };
  await undoMatch(world.database, row?.id ?? 0n, decision);
  await play(world, [{ matches: '' }]);
});

const NEAR = 'near 10 due=2026-07-04';
const NEXT_PART = 'k2 10 order=a part=2/3 due=2026-07-31';

const keeping: Cases = {
  'the instalment of the title is paid, the next one open': [
    { titles: 'a 10', load: `exact 10 order=a part=1/3 paid, ${NEXT_PART}`, matches: '' },
  ],
  'the instalment of the title is cancelled, the next one open': [
    { titles: 'a 10', load: `exact 10 order=a part=1/3 cancelled, ${NEXT_PART}`, matches: '' },
  ],
  'a delivery of the same value is due within the tolerance, and that of the title is paid': [
    { titles: 'a 10', load: `exact 10 paid, ${NEAR}`, matches: '' },
    // The ERP takes the payment back.
    { load: 'exact 10', matches: 'a=exact exact' },
  ],
  'the payable of the title has vanished from a snapshot': [
    { titles: 'a 10', snapshot: `exact 10, ${NEAR}` },
    { snapshot: NEAR, matches: '' },
  ],
  'one of two invoices of a day is paid, and stated with its value': [
    { titles: 'a 10', load: 'k1 10 paid, exact 10', matches: '' },
  ],
  'one of two invoices of a day is paid, and stated with the order and no value': [
    { titles: 'a 10', load: 'k1 0 order=a paid, exact 10', matches: '' },
  ],
  'the whole value of a paid payable counts where nothing is left': [
    { titles: 'a 10', load: 'k1 0 paid, exact 10' },
    { set: { erpKey: 'k1', totalValue: '10.00' }, matches: '' },
  ],
  'the value of a sum is paid in one payable': [
    { titles: 'a 10', load: `${NEAR} paid, 4 4 order=a, 6 6 order=a`, matches: '' },
    { load: 'near 11 due=2026-07-04 paid', matches: 'a=4 sum, a=6 sum' },
  ],
};
test.each(Object.entries(keeping))(
  'a payable that is not open keeps the pair of another one from being matched %s',
  (_, steps) => play(world, steps),
);

const again = 'near 10 due=2026-07-04 doc=71 part=1';
/** Another instalment, another document, or no document at all is no invoice that was entered again. */
const others = ['doc=00071 part=2', 'doc=72 part=1', 'doc= part=1'];
const uncounted: Cases = {
  'where it fits less well': [
    { titles: 'a 10, b 20', load: `${NEAR} paid, exact 10` },
    { load: 'k1 20 due=2026-07-03 paid, k2 20 due=2026-07-02' },
    { matches: 'a=exact exact, b=k2 tolerance' },
    // As near as the open payable.
    { clear: true, load: 'k1 20 due=2026-06-28 paid, k2 20 due=2026-07-02', matches: '' },
  ],
  'where it is cancelled, and the same document was entered again': [
    { titles: 'a 10', snapshot: `exact 10 doc=00071 part=1, ${again}` },
    { load: 'exact 10 doc=00071 part=1 cancelled', matches: 'a=near tolerance' },
    ...others.flatMap((other): Step[] => [
      { clear: true, snapshot: `exact 10 ${other}, ${again}` },
      { load: `exact 10 ${other} cancelled`, matches: '' },
    ]),
  ],
  'where it is vanished, and the same document was entered again': [
    { titles: 'a 10', snapshot: `exact 10 doc=00071 part=1, ${again}` },
    { snapshot: again, matches: 'a=near tolerance' },
    ...others.flatMap((other): Step[] => [
      { clear: true, snapshot: `exact 10 ${other}, ${again}` },
      { snapshot: again, matches: '' },
    ]),
  ],
  'where it is the payable of another title': [
    { titles: 'a 10', load: 'exact 10', matches: 'a=exact exact' },
    // Three days before and after the due date of the second title.
    { titles: 'a 10, b 10 due=2026-07-03', load: 'exact 10 paid, near 10 due=2026-07-06' },
    { matches: 'a=exact exact, b=near tolerance' },
  ],
};
describe('a payable that is not open does not count', () => {
  test.each(Object.entries(uncounted))('%s', (_, steps) => play(world, steps));

  test('where it is due outside the tolerance, in years of weekly deliveries', async () => {
    await play(world, [{ titles: 'a 10', load: 'exact 10' }]);
    await world.prisma.$executeRaw`
      INSERT INTO conciliation.erp_payable (erp_key, supplier_external_id, due_date, open_value, status)
      SELECT 'week ' || week, 'P-1', DATE '2026-06-30' - 7 * week, 10, CASE WHEN week % 2 = 0 THEN 'paid' ELSE 'open' END
      FROM generate_series(1, 2000) AS week`;
    await play(world, [{ matches: 'a=exact exact' }]);
  });

  test.each([
    ['another order', 'z', 'a=near tolerance'],
    ['the order of the title', 'a', ''],
  ])('where a booking of %s has it', async (_, order, matches) => {
    await play(world, [{ titles: 'a 10', load: `booked 10 paid, ${NEAR}` }]);
    await addBooking(world.database, order, 'booked');
    await play(world, [{ matches }]);
  });
});

const byOrder: Cases = {
  'accepts the supplier by code, tax identifier or CNPJ root, and no other one': [
    { titles: 'a 10', load: 'exact 10 order=a code=P-9', matches: '' },
    { load: 'exact 10 order=a code=P-9 tax=529.982.247-25', matches: 'a=exact order' },
  ],
  'accepts a due date within the tolerance, or none': [
    { titles: 'a 10', load: 'exact 10 order=a due=2026-07-05', matches: 'a=exact order' },
    { clear: true, load: 'exact 10 order=a due=2026-07-06', matches: '' },
    { clear: true, load: 'exact 10 order=a due=', matches: 'a=exact order' },
  ],
  'an order by a typing error at another supplier leaves the exact payable': [
    { titles: 'a 10', load: 'typed 10 order=a due=2026-11-30 code=P-9, exact 10' },
    { matches: 'a=exact exact' },
  ],
  ...Object.fromEntries(
    ['open', 'paid', 'cancelled'].map((status): [string, Step[]] => [
      `an order on another due date leaves the title in doubt beside an exact payable that is ${status}`,
      [
        { titles: 'a 10', load: `${NEAR} order=a, exact 10 ${status}`, matches: '' },
        { load: `exact 9 ${status}`, matches: 'a=near order' },
      ],
    ]),
  ),
  'a second payable of the order that was paid leaves the title in doubt': [
    { titles: 'a 10', load: 'exact 10 order=a, k2 10 order=a due= paid', matches: '' },
  ],
  'blank orders are no order': [
    { titles: [{ uid: '  ', value: '10' }], load: 'exact 10 code= tax=52998224725' },
    {
      set: { erpKey: 'exact', orderUid: '', supplierExternalId: 'P-9', dueDate: null },
      matches: '',
    },
  ],
};
test.each(Object.entries(byOrder))('the rule order %s', (_, steps) => play(world, steps));

const HEAD_OFFICE = '44555666000181';
const BRANCHES = 'k1 10 code= tax=44555666000262, k2 99 code= tax=44555666000343';

const hardCases: Cases = {
  'only payables in BRL, or without a currency, are matched': [
    { titles: 'a 10, b 20', load: 'k1 10, k2 20', set: { erpKey: 'k1', currency: 'USD' } },
    { set: { erpKey: 'k2', currency: 'BRL' }, matches: 'b=k2 exact' },
    // A match ends where the currency turns out to be another.
    { set: { erpKey: 'k2', currency: 'EUR' }, matches: '' },
  ],
  'blanks around the order and the code of a title do not count': [
    { titles: [{ uid: 'a   ', value: '10' }], load: 'k1 10 order=a', matches: 'a   =k1 order' },
  ],
  'a partial payment keeps the match; a greater value ends the match': [
    { titles: 'a 100', load: 'k1 100 order=a', matches: 'a=k1 order' },
    { load: 'k1 40 order=a', matches: 'a=k1 order', breaks: 'paid_in_part a k1' },
    { load: 'k1 140 order=a', matches: '', breaks: 'value_differs a k1' },
  ],
  'a paid payable of the order is paid to the supplier, also where the ERP states what is left of it':
    [
      { titles: 'a 10, b 20 due=2026-07-30, c 30 due=2026-08-30' },
      { load: 'k1 0 order=a paid' },
      // Another instalment of the order.
      { load: 'k2 0.00 order=b paid due=2026-06-30, k4 0.00 order=b paid due=2026-05-30' },
      // Nothing tells what was paid.
      { load: 'k3 0 paid due=2026-08-30' },
      { matches: '', breaks: 'paid_to_supplier a k1, missing_in_erp c -, missing_in_erp b -' },
    ],
  'instalments of one order are told apart by their due dates': [
    { titles: 'a 50, a 50 due=2026-07-30' },
    { load: 'k1 50 order=a part=1/2, k2 50 order=a part=2/2 due=2026-07-30' },
    { matches: 'a=k1 order, a=k2 order' },
  ],
  'instalments that the platform has as one title are a break of the value': [
    { titles: 'a 100', load: 'k1 50 order=a, k2 50 order=a due=2026-07-30' },
    { matches: '', breaks: 'value_differs a k1' },
  ],
  'of equal values on one due date, the ERP has the value of one order wrong': [
    { titles: 'a 10, b 10', load: 'k1 10 order=a, k2 11 order=b' },
    { matches: 'a=k1 order', breaks: 'value_differs b k2' },
    { load: 'k2 10 order=b', matches: 'a=k1 order, b=k2 order', breaks: '' },
  ],
  'of equal values of one order every three days, the ERP has one wrong': [
    { titles: 'a 10 due=2026-06-08, a 10 due=2026-06-11, a 10 due=2026-06-15' },
    { load: 'k1 10 due=2026-06-08, k2 11 due=2026-06-11, k3 10 due=2026-06-15' },
    { matches: 'a=k1 exact, a=k3 exact', breaks: 'value_differs a k2' },
  ],
  'the payable of an equal title that is as near as another value is anticipated twice': [
    { titles: 'a 10, b 10', load: 'k1 10 order=a, k2 11' },
    { matches: 'a=k1 order', breaks: 'anticipated_twice b k1' },
    { load: 'k2 11 order=none', matches: 'a=k1 order' },
    { breaks: 'anticipated_twice b k1, missing_on_platform - k2' },
  ],
  'two titles that only one payable fits, beside one of another value, are anticipated twice': [
    { titles: 'a 10, b 10', load: 'k1 10, k2 11' },
    { matches: '', breaks: 'anticipated_twice a k1, anticipated_twice b k1' },
  ],
  'a payable of another due date waits while the supplier has a free one of the own due date, whatever its value':
    [
      { titles: 'a 10', load: 'k1 10 due=2026-07-02, k2 7', matches: '' },
      // That of another order, and one that a title has, are not free.
      { load: 'k2 7 order=other', matches: 'a=k1 tolerance' },
      { load: 'k2 7', matches: '' },
      { titles: 'a 10, b 7', matches: 'a=k1 tolerance, b=k2 exact' },
    ],
  'a credit note alone is matched with no title': [
    { titles: 'a 10', load: 'k1 -10 order=a', matches: '', breaks: 'value_differs a k1' },
  ],
  'a payable that names another order is left to the title of that order': [
    { titles: 'a 10', load: 'k1 10 order=later' },
    { matches: '', breaks: 'in_doubt a k1, missing_on_platform - k1' },
    { titles: 'a 10, later 10', load: 'k2 10 order=a', matches: 'a=k2 order, later=k1 order' },
  ],
  'copies that arrive after the match of the first one are matched, whatever their keys': [
    { titles: 'a 10', load: 'k9 10', matches: 'a=k9 exact' },
    { titles: 'a 10, a 10, a 10', load: 'k10 10, k8 10' },
    { matches: 'a=k10 exact, a=k8 exact, a=k9 exact' },
  ],
  'copies that differ in the scale of a value only are a set': [
    { titles: 'a 1000, a 1000.00', load: 'k1 1000.0, k2 1000' },
    { matches: 'a=k1 exact, a=k2 exact' },
  ],
  'another branch of the company counts as the supplier only if the branch is unambiguous': [
    { titles: `a 10 tax=${HEAD_OFFICE}`, load: 'k1 10 code= tax=44555666000262' },
    { matches: 'a=k1 exact' },
    // The ERP has two branches, so the branch counts, and the title is a break.
    { clear: true, load: BRANCHES, matches: '', breaks: 'in_doubt a k1' },
  ],
  'the match of a person leaves a branch in doubt': [
    { titles: `a 10 tax=${HEAD_OFFICE}, b 10 tax=${HEAD_OFFICE}`, load: BRANCHES },
    { person: 'b=k2', matches: 'b=k2 person' },
  ],
  'leading zeros of a document do not hide a duplicate': [
    { titles: 'a 10', load: 'k1 10 doc=00123, k2 10 doc=123' },
    { matches: '', breaks: 'duplicated_in_erp a k1' },
  ],
  "a person's match ends with its title, and with its payable": [
    { titles: 'a 10, b 20, c 30', load: 'k1 11, k2 21 code=P-9, k3 31 doc=3' },
    { person: 'a=k1' },
    { person: 'b=k2' },
    { person: 'c=k3', matches: 'a=k1 person, b=k2 person, c=k3 person' },
    // The document of k3 is entered again.
    { titles: 'b 20, c 30', load: 'k2 21 code=P-9 cancelled, k3 31 doc=3 cancelled, k4 30 doc=3' },
    { matches: 'c=k4 exact' },
  ],
};
test.each(Object.entries(hardCases))('%s', (_, steps) => play(world, steps));

test.each([
  ['', ' tax=52998224725'],
  ['  ', ' tax=52998224725'],
  [' P-1 ', ''],
])('blanks are no code of the supplier, and do not change one: "%s"', async (code, tax) => {
  const titles = [
    { uid: 'a', value: '10', code },
    { uid: 'b', value: '20', code },
  ];
  const load = `k1 10${tax}, k2 21${tax}`;
  await play(world, [{ titles, load, matches: 'a=k1 exact', breaks: 'value_differs b k2' }]);
});

test.each([
  ['1234567890', '01234567890', true],
  ['0000000000191', '00.000.000/0001-91', true],
  ['\u00a044.555.666/0001-81', HEAD_OFFICE, true],
  // An alphanumeric CNPJ is compared in upper case.
  ['12abc34501de35', '12.ABC.345/01DE-35', true],
  // The title may mean the CPF or the CNPJ.
  ['191', '00000000191', false],
  ['191', '00000000000191', false],
  ['00000000191', '00000000000191', false],
  // The mask says CPF.
  ['000.000.001-91', '00000000000191', false],
  // Wrong check digits: a text, which has no CNPJ root.
  ['44555666000180', HEAD_OFFICE, false],
])('a title of %s and a payable of %s have one supplier: %s', async (title, payable, isOne) => {
  await play(world, [
    { titles: `a 10 tax=${title}`, load: `k1 10 code= tax=${payable}` },
    { matches: isOne ? 'a=k1 exact' : '' },
  ]);
  const where = { providerExternalId: null, providerIdentification: title };
  expect(await world.prisma.title.count({ where })).toBe(1);
});

const OTHER_BUYER = '44555666000181';
const BRANCH = '90021382000203';
const CNPJS = (
  '10345678000160 11345678000122 12345678000195 13345678000158 14345678000110 ' +
  '15345678000183 16345678000146 17345678000109 18345678000171 19345678000134'
).split(' ');
const twoBuyers = `a 10, b 20 buyer=${OTHER_BUYER}`;
const sumOf = (company: string) =>
  ['60', '40'].map((value, at) => `k${at + 1} ${value} doc=NF-1 company=${company}`).join(', ');

const companies: Cases = {
  'that are CNPJs divide equal titles of ten buyers': [
    {
      titles: CNPJS.map((buyer, at) => ({ uid: `t${at}`, value: '10', buyer })),
      load: CNPJS.map((company, at) => `k${at} 10 company=${company}`).join(', '),
      matches: CNPJS.map((_, at) => `t${at}=k${at} exact`).join(', '),
    },
  ],
  'are compared with a buyer that has lost its zeros': [
    { titles: `a 10 buyer=191, b 10 buyer=${OTHER_BUYER}` },
    { load: 'k1 10 company=00.000.000/0001-91', matches: 'a=k1 exact' },
  ],
  'of another CNPJ root are never matched, not even by the order': [
    { titles: 'a 10', load: 'k1 10 order=a company=44.555.666/0001-81', matches: '' },
    { load: 'k1 10 order=a company=90.021.382/0001-22', matches: 'a=k1 order' },
  ],
  'that are another branch are not matched where both sides name both branches': [
    // A contract names the head office for its branches.
    { titles: 'a 10', load: `k1 10 company=${BRANCH}`, matches: 'a=k1 exact' },
    { clear: true, titles: `a 10, b 20 buyer=${BRANCH}` },
    { load: `k1 10 company=${BRANCH}, k2 99 company=${TITLE_BUYER}`, matches: '' },
  ],
  'with a code match the only buyer, and no title of several buyers until a person maps the code': [
    { titles: 'a 10', load: 'k1 10 company=02', matches: 'a=k1 exact' },
    { clear: true, titles: `a 10, b 10 buyer=${OTHER_BUYER}` },
    { load: 'k1 10 company=02', matches: '' },
    { company: `02=${OTHER_BUYER}`, matches: 'b=k1 exact' },
  ],
  'with a code beside another company match nothing by supplier, value and due date': [
    // The second one was paid long ago: the ERP has this company too.
    { titles: 'a 10', load: 'k1 10 company=02, k2 99 company=01 paid due=2026-01-30', matches: '' },
    { company: `02=${TITLE_BUYER}`, matches: 'a=k1 exact' },
  ],
  'that stand for several buyers match the titles of each': [
    { titles: twoBuyers, load: 'k1 10 company=02, k2 20 company=02' },
    { company: `02=${TITLE_BUYER}`, matches: 'a=k1 exact' },
    { company: `02=${OTHER_BUYER}`, matches: 'a=k1 exact, b=k2 exact' },
  ],
  ...Object.fromEntries(
    [
      ['a code', '02'],
      ['no company', ''],
      ['14 characters with wrong check digits', '90021382000123'],
    ].map(([what, of]): [string, Step[]] => [
      `among several: ${what} is matched with order, supplier, value and due date`,
      [
        { titles: `a 10, b 20, c 30 buyer=${OTHER_BUYER}` },
        { load: `k1 10 order=a company=${of}, k2 20 order=b due=2026-07-01 company=${of}` },
        { load: `k3 30 company=${of}`, matches: 'a=k1 order' },
      ],
    ]),
  ),
  'of an unknown payable leave an equal payable of the buyer in doubt': [
    { titles: twoBuyers, load: `k1 10 company=${TITLE_BUYER}, k2 10 company=02`, matches: '' },
    { company: `02=${OTHER_BUYER}`, matches: 'a=k1 exact' },
  ],
  'of a sum are those of its titles': [
    { titles: `a 100, b 20 buyer=${OTHER_BUYER}`, load: sumOf(OTHER_BUYER), matches: '' },
    { load: sumOf('02'), matches: '' },
    { company: `02=${TITLE_BUYER}`, matches: 'a=k1 sum, a=k2 sum' },
  ],
};
describe('companies', () => {
  test.each(Object.entries(companies))('%s', (_, steps) => play(world, steps));

  test('with a code end the match of another buyer when a person maps the code', async () => {
    await play(world, [
      { titles: 'a 10', load: 'k1 10 company=02', matches: 'a=k1 exact' },
      { company: `02=${OTHER_BUYER}`, matches: '' },
    ]);
    const { endReason } = await world.prisma.titleMatch.findFirstOrThrow();
    expect(endReason).toBe('the company is another buyer');
  });
});

const ofAgent: Cases = {
  'are no candidates: the supplier is the agent': [
    { titles: 'a 10', load: `k1 10 order=a tax=${TITLE_AGENT}`, matches: '' },
    { load: `k1 10 order=a tax=${OTHER_BUYER}`, matches: 'a=k1 order' },
  ],
  'are no candidates: the supplier is a branch of the agent': [
    { titles: 'a 10', load: 'k1 10 order=a tax=11222333000262', matches: '' },
  ],
  'are no candidates and no alternatives where a posting has made them': [
    { titles: 'a 10', load: 'k1 10, k2 10' },
    { set: { erpKey: 'k2', bookingKey: `2026-03-02:${'0'.repeat(32)}:1:1` } },
    { matches: 'a=k1 exact' },
  ],
};
describe('payables of the financial agent', () => {
  test.each(Object.entries(ofAgent))('%s', (_, steps) => play(world, steps));

  test('are no candidates where the supplier is the administrator of the agent, as a person has confirmed', async () => {
    const { partyEquivalent } = world.prisma;
    await partyEquivalent.create({
      data: { taxId: TITLE_AGENT, sameAs: OTHER_BUYER, confirmedBy: 'rita', reason: 'contract' },
    });
    await play(world, [{ titles: 'a 10', load: 'k1 10 order=a tax=44555666000262', matches: '' }]);
    await partyEquivalent.updateMany({ data: { endedAt: new Date(), endedBy: 'rita' } });
    await play(world, [{ matches: 'a=k1 order' }]);
  });
});
