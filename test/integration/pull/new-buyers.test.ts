/** The limits of each buyer where the weekday had one buyer, and the first response has another one. */
import { expect, test } from 'vitest';
import { checkDays } from '../../../src/checks/check-day.sql.ts';
import type { CivilDate } from '../../../src/domain/business-day.ts';
import { ANY_DAY_RULES } from '../../support/check-rules.ts';
import { worldOfEachTest } from '../../support/file-world.ts';
import { daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const KNOWN = '90021382000122';
const NEW = '11444777000161';
const DATE = daysFrom(28);

const world = worldOfEachTest();

const titlesOf = (buyer: string, date: CivilDate, count: number) =>
  Array.from({ length: count }, (_, index) =>
    titleText({ date, uid: `${buyer} ${index}` }).replace(KNOWN, buyer),
  );

function pull(date: CivilDate, texts: readonly string[]) {
  world.sandbox.setDayTexts(date, texts);
  return world.pull(date, { checksPlausibility: true });
}

async function usualWeeks() {
  for (const days of [0, 7, 14, 21]) {
    await pull(daysFrom(days), titlesOf(KNOWN, daysFrom(days), 40));
  }
  await checkDays(world.database, ANY_DAY_RULES);
}

test('a response with a new buyer in place of the usual one is held', async () => {
  await usualWeeks();
  expect(await pull(DATE, titlesOf(NEW, DATE, 40))).toMatchObject({
    state: 'held',
    holdReason: 'buyer_missing',
    holdDetail: { buyer: KNOWN },
  });
});

test('a response with the titles of the usual buyer twice beside a new buyer is held', async () => {
  await usualWeeks();
  const usual = titlesOf(KNOWN, DATE, 30);
  const texts = [...usual, ...usual, ...titlesOf(NEW, DATE, 90)];
  expect(await pull(DATE, texts)).toMatchObject({
    state: 'held',
    holdReason: 'duplicates',
    holdDetail: { buyer: KNOWN, found: 30, of: 60 },
  });
});

test('a new buyer beside the usual one is ordinary', async () => {
  await usualWeeks();
  const texts = [...titlesOf(KNOWN, DATE, 40), ...titlesOf(NEW, DATE, 90)];
  expect(await pull(DATE, texts)).toMatchObject({ state: 'merged' });
});
