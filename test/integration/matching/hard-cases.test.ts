import { beforeEach, expect, test } from 'vitest';
import { worldOfFile } from '../../support/file-world.ts';
import { clearMatching, play, type Step } from '../../support/matching-world.ts';

const world = worldOfFile();
beforeEach(() => clearMatching(world.database));

const HEAD_OFFICE = '44555666000181';
const BRANCHES = 'k1 10 code= tax=44555666000262, k2 99 code= tax=44555666000343';

const cases: Record<string, readonly Step[]> = {
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
  "a person's match without its title or payable stays, and is a break": [
    { titles: 'a 10, b 20', load: 'k1 11, k2 21 code=P-9' },
    { person: 'a=k1' },
    { person: 'b=k2' },
    { titles: 'b 20', load: 'k2 21 code=P-9 cancelled' },
    { matches: 'a=k1 person, b=k2 person', breaks: 'match_lost b k2, match_lost a k1' },
  ],
};
test.each(Object.entries(cases))('%s', (_, steps) => play(world, steps));

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
  expect(await world.database.prisma.title.count({ where })).toBe(1);
});
