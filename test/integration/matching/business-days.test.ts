import { beforeEach, expect, test } from 'vitest';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import {
  addHoliday,
  endHoliday,
  openCalendar,
  readOwnHolidays,
} from '../../../src/features/calendar/own-holidays.ts';
import { isMatchingDue } from '../../../src/features/matching/run-matching.sql.ts';
import { clearMatching, play, type Step } from '../../support/matching-world.ts';
import { worldOfFile } from '../../support/pull-world.ts';

const world = worldOfFile();
beforeEach(async () => {
  await clearMatching(world.database);
  await world.prisma.$executeRaw`TRUNCATE conciliation.holiday`;
  await openCalendar(world.database, 'following');
});

/** Carnival is on Monday 16 and Tuesday 17 February 2026; test/unit/domain/business-day.test.ts has the other holidays. */
const cases: Record<string, readonly Step[]> = {
  'weekly equal values: Saturdays of which the ERP has moved each to the Monday': [
    { titles: 'a 10 due=2026-06-06, b 10 due=2026-06-13, c 10 due=2026-06-20' },
    { load: 'k1 10 due=2026-06-08, k2 10 due=2026-06-15, k3 10 due=2026-06-22' },
    { matches: 'a=k1 exact, b=k2 exact, c=k3 exact', breaks: '' },
  ],
  'weekly equal values over Carnival: from Monday to Ash Wednesday': [
    { titles: 'a 10 due=2026-02-09, b 10 due=2026-02-16, c 10 due=2026-02-23' },
    { load: 'k1 10 due=2026-02-09, k2 10 due=2026-02-18, k3 10 due=2026-02-23' },
    { matches: 'a=k1 exact, b=k2 exact, c=k3 exact' },
  ],
  'a title due on Saturday and one due on Monday both fit two payables of Monday': [
    { titles: 'a 10 due=2026-06-06, b 10 due=2026-06-08' },
    { load: 'k1 10 due=2026-06-08 doc=1, k2 10 due=2026-06-08 doc=2' },
    { matches: '', breaks: 'in_doubt a k1, in_doubt b k1' },
  ],
  'a title due on Saturday and one due on Monday are more than one payable of Monday': [
    { titles: 'a 10 due=2026-06-06, b 10 due=2026-06-08', load: 'k1 10 due=2026-06-08' },
    { matches: '', breaks: 'anticipated_twice a k1, anticipated_twice b k1' },
  ],
  'the title due on Saturday, of which the ERP has the value wrong, has no claim on the payable of Monday':
    [
      { titles: 'a 10 due=2026-06-06, b 10 due=2026-06-08' },
      { load: 'k1 10 due=2026-06-08, k2 11 due=2026-06-06' },
      // Until the value is right, nothing says that the payable of Monday is not that of Saturday.
      { matches: '', breaks: 'anticipated_twice b k1, value_differs a k2' },
      { load: 'k2 10 due=2026-06-06', matches: 'a=k2 exact, b=k1 exact', breaks: '' },
    ],
  'a payable due on Saturday does not have the due date of a title due on Monday': [
    { titles: 'a 10 due=2026-06-08' },
    { load: 'k1 10 due=2026-06-06 doc=1, k2 10 due=2026-06-12 doc=2' },
    { matches: '', breaks: 'in_doubt a k1' },
  ],
  'another value is compared on the own due date and on the business day only': [
    { titles: 'a 10 due=2026-06-06, b 20 due=2026-06-15' },
    { load: 'k1 11 due=2026-06-08 doc=1, k2 21 due=2026-06-13 doc=2' },
    { matches: '', breaks: 'value_differs a k1, missing_in_erp b -' },
  ],
  'equal titles due on Saturday and as many equal payables of Monday are a set': [
    { titles: 'a 10 due=2026-06-06, a 10 due=2026-06-06' },
    { load: 'k1 10 due=2026-06-08, k2 10 due=2026-06-08' },
    { matches: 'a=k1 exact, a=k2 exact' },
  ],
  'a payable of the own due date counts before one of the business day': [
    { titles: 'a 10 due=2026-06-06, b 10 due=2026-06-08' },
    { load: 'k1 10 due=2026-06-06 doc=1, k2 10 due=2026-06-08 doc=2' },
    { matches: 'a=k1 exact, b=k2 exact' },
  ],
  'a paid payable of the business day leaves the title in doubt beside an open one of that day': [
    { titles: 'a 10 due=2026-06-06' },
    { load: 'k1 10 due=2026-06-08 doc=1, k2 10 due=2026-06-08 doc=2 paid' },
    { matches: '', breaks: 'paid_to_supplier a k2' },
  ],
  'a paid payable of the business day does not prevent the match of the own due date': [
    { titles: 'a 10 due=2026-06-06' },
    { load: 'k1 10 due=2026-06-06 doc=1, k2 10 due=2026-06-08 doc=2 paid', matches: 'a=k1 exact' },
  ],
  'payables of one document on the business day are a sum': [
    { titles: 'a 30 due=2026-06-06' },
    { load: 'k1 10 due=2026-06-08 doc=1, k2 20 due=2026-06-08 doc=1' },
    { matches: 'a=k1 sum, a=k2 sum' },
  ],
  'the order and the business day suffice for an unmapped company': [
    { titles: 'a 10 due=2026-06-06' },
    { load: 'k1 10 order=a due=2026-06-08 company=F1, k2 99 company=F2', matches: 'a=k1 order' },
  ],
  'a paid payable of the due date that states no value may be the own one': [
    { titles: 'a 10 due=2027-03-01', load: 'k1 0 due=2027-03-01 paid, k2 10 due=2027-03-03' },
    { matches: '', breaks: 'in_doubt a k2' },
    // The own payable stays open.
    { load: 'k1 10 due=2027-03-01', matches: 'a=k1 exact' },
  ],
  'a paid payable of the business day that states no value may be the own one': [
    { titles: 'a 10 due=2027-03-06', load: 'k1 0 due=2027-03-08 paid, k2 10 due=2027-03-01' },
    { matches: '', breaks: 'in_doubt a k2' },
  ],
  'a paid payable of another day that states no value prevents nothing': [
    { titles: 'a 10 due=2027-03-01', load: 'k1 0 due=2027-03-03 paid, k2 10 due=2027-03-01' },
    { matches: 'a=k2 exact' },
  ],
};
test.each(Object.entries(cases))('%s', (_, steps) => play(world, steps));

test('the preceding business day counts by the rule, and a match is judged by the new one', async () => {
  const titles = 'a 10 due=2026-06-06, b 10 due=2026-06-13';
  const load = 'k1 10 due=2026-06-08, k2 10 due=2026-06-15';
  await play(world, [{ titles, snapshot: load, matches: 'a=k1 exact, b=k2 exact' }]);
  await openCalendar(world.database, 'preceding');
  expect(await isMatchingDue(world.database, 24)).toBe(true);
  await play(world, [
    // Within the tolerance, "a" has one payable and "b" has two.
    { matches: 'a=k1 exact' },
    { snapshot: 'k1 10 due=2026-06-05, k2 10 due=2026-06-12', matches: 'a=k1 exact, b=k2 exact' },
  ]);
  await openCalendar(world.database, 'preceding');
  expect(await isMatchingDue(world.database, 24)).toBe(false);
});

test('a holiday that a person adds and ends counts at once', async () => {
  const { database } = world;
  const titles = 'a 10 due=2026-07-03, b 10 due=2026-07-10, c 10 due=2026-07-17';
  // A Friday. The payable of Monday is 3 days from it and 4 days from the next Friday.
  const load = 'k1 10 due=2026-07-03, k2 10 due=2026-07-13, k3 10 due=2026-07-17';
  await play(world, [{ titles, snapshot: load, matches: 'a=k1 exact, c=k3 exact' }]);
  const date = toCivilDate('2026-07-10');
  await addHoliday(database, date, { by: 'rita', reason: 'Aniversário da cidade' }, 'following');
  expect(await isMatchingDue(database, 24)).toBe(true);
  await play(world, [{ matches: 'a=k1 exact, b=k2 exact, c=k3 exact' }]);
  const [holiday] = await readOwnHolidays(database, 2026);
  await endHoliday(database, holiday?.id ?? 0n, { by: 'rita', reason: 'not ours' }, 'following');
  expect(await isMatchingDue(database, 24)).toBe(true);
});
