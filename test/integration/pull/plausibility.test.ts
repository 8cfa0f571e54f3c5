/** Responses that keep the contract and are not plausible wait for a person. */
import { describe, expect, test } from 'vitest';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import { releasePull } from '../../../src/core/merge/decisions.sql.ts';
import type { PullParts } from '../../../src/core/work/run-pull.ts';
import { previewRelease } from '../../../src/features/review/release-preview.sql.ts';
import { checkAnyDay } from '../../support/days.ts';
import { daysFrom, worldOfEachTest } from '../../support/pull-world.ts';
import { titleText, titleTexts } from '../../support/titles.ts';

const TITLES = 40;

const world = worldOfEachTest();

/** Weeks after the first one. */
const week = (index: number): CivilDate => daysFrom(7 * index);

type Version = Parameters<typeof titleTexts>[1] & { readonly count?: number };
/** A buyer of few titles. */
const SMALL = '11444777000161';

const titles = (date: CivilDate, { count = TITLES, ...version }: Version = {}) =>
  titleTexts(count, { date, value: '1000.00', discount: '1', uid: 'u', ...version });

function pull(date: CivilDate, texts: readonly string[], overrides: Partial<PullParts> = {}) {
  return world.serve(date, texts, { checksPlausibility: true, ...overrides });
}

/** Four ordinary weeks. */
async function ordinaryWeeks() {
  for (const index of [0, 1, 2, 3]) {
    expect(await pull(week(index), titles(week(index)))).toMatchObject({ state: 'merged' });
  }
}

const ofDate = (date: CivilDate) =>
  world.prisma.title.count({ where: { acceptedDate: date, status: 'current' } });

describe('the first response to a date', () => {
  test.each([
    { what: 'doubled', rejects: [] },
    { what: 'doubled and has a reject', rejects: ['{"order":{"uid":"broken"}}'] },
  ])('that is $what is held, and merged as it is after a release', async ({ rejects }) => {
    const date = week(0);
    const texts = titles(date);
    const doubled = [...texts, ...rejects, ...texts];
    const report = await pull(date, doubled);
    expect(report).toMatchObject({
      ...{ state: 'held', holdReason: 'duplicates' },
      ...{ titles: doubled.length, rejected: rejects.length },
    });
    expect(await ofDate(date)).toBe(0);
    await releasePull(world.parts, report.pullId, { by: 'ana', reason: 'asked the platform' });
    expect(await ofDate(date)).toBe(2 * TITLES);
    const kept = await world.prisma.rejectedTitle.count({ where: { date } });
    expect(kept).toBe(rejects.length);
    // The same response again changes nothing and asks for no decision.
    expect(await pull(date, doubled)).toMatchObject({ state: 'unchanged' });
  });

  test('that is doubled is held while another merge is in its closing phase', async () => {
    const date = week(0);
    const texts = titles(date);
    const report = await world.prisma.$transaction(async (other) => {
      await other.$queryRaw`
        SELECT name FROM conciliation.program_lock WHERE name = 'closing' FOR UPDATE`;
      return pull(date, [...texts, ...texts]);
    });
    expect(report).toMatchObject({ state: 'held', holdReason: 'duplicates' });
  });

  test.each<[string, Version, string | null]>([
    ['five times the usual number', { count: 5 * TITLES }, null],
    ['more than five times the usual number', { count: 5 * TITLES + 1 }, 'growth'],
    ['values divided by 100', { value: '10.00' }, 'value_jump'],
    ['values times 100', { value: '100000.00' }, 'value_jump'],
    ['ordinary values', { value: '60.00' }, null],
  ])('with %s is merged or held', async (_, version, holdReason) => {
    await ordinaryWeeks();
    const state = holdReason === null ? 'merged' : 'held';
    expect(await pull(week(4), titles(week(4), version))).toMatchObject({ state, holdReason });
  });

  test.each<[string, (date: CivilDate) => string[]]>([
    ['with a few equal titles', (date) => [...titles(date), ...titles(date).slice(0, 10)]],
    ['where nothing is usual yet', (date) => titles(date, { count: 500, value: '0.01' })],
  ])('%s is merged', async (_, texts) => {
    expect(await pull(week(0), texts(week(0)))).toMatchObject({ state: 'merged' });
  });
});

describe('a later response', () => {
  test('that changes most titles is held, and one that changes half of them is not', async () => {
    const date = week(0);
    await pull(date, titles(date));
    const half = [
      ...titles(date, { discount: '2' }).slice(0, TITLES / 2),
      ...titles(date).slice(TITLES / 2),
    ];
    expect(await pull(date, half)).toMatchObject({ state: 'merged', changed: TITLES / 2 });
    expect(await pull(date, titles(date, { discount: '3' }))).toMatchObject({
      state: 'held',
      holdReason: 'changed_share',
    });
  });

  test.each(['10000.00', '1.00', '0.01'])(
    'that restates each value as %s is held',
    async (value) => {
      const date = week(0);
      await pull(date, titles(date));
      const half = [
        ...titles(date, { count: TITLES / 2, value }),
        ...titles(date).slice(TITLES / 2),
      ];
      const report = await pull(date, titles(date, { value }));
      expect(report).toMatchObject({ state: 'held', holdReason: 'changed_share' });
      expect(await pull(date, half)).toMatchObject({ state: 'merged' });
    },
  );

  test('that lacks one buyer of a group is held, although few titles of the day vanish', async () => {
    const date = week(0);
    const group = titles(date, { count: 200 });
    const small = titles(date, { count: 5, uid: 's', buyer: SMALL });
    await pull(date, [...group, ...small]);
    const held = await pull(date, group);
    expect(held).toMatchObject({ state: 'held', holdReason: 'buyer_withdrawals', withdrawn: 5 });
    // As many withdrawals over the buyers are within the limit.
    expect(await pull(date, [...group.slice(5), ...small])).toMatchObject({ state: 'merged' });
  });
});

describe('the titles of one buyer', () => {
  const GROUP = 200;
  const ofSmall = (date: CivilDate, version: Version = {}) =>
    titles(date, { count: 30, uid: 's', buyer: SMALL, ...version });
  const group = (date: CivilDate, small: Version | null = {}, large: Version = {}) => [
    ...titles(date, { count: GROUP, uid: 'g', ...large }),
    ...(small === null ? [] : ofSmall(date, small)),
  ];
  const held = (holdReason: string, found: number, of: number | null, limit: number) => ({
    state: 'held',
    holdReason,
    holdDetail: { buyer: SMALL, found, of, limit },
  });

  /** Five ordinary weeks, counted by buyer. */
  async function groupWeeks() {
    for (const index of [0, 1, 2, 3, 4]) {
      expect(await pull(week(index), group(week(index)))).toMatchObject({ state: 'merged' });
    }
    await checkAnyDay(world.database);
  }

  test('may lack where a person has released a response without them', async () => {
    await groupWeeks();
    const date = week(5);
    const report = await pull(date, group(date, null));
    expect(report).toMatchObject(held('buyer_missing', 0, 30, 5));
    await releasePull(world.parts, report.pullId, { by: 'ana', reason: 'a holiday there' });
    const restated = group(date, null).with(0, titleText({ date, uid: 'g0', value: '1000.00' }));
    expect(await pull(date, restated)).toMatchObject({ state: 'merged', changed: 1 });
  });

  test('in another writing are those of the same buyer', async () => {
    await groupWeeks();
    const masked = (texts: readonly string[], writing: string) =>
      texts.map((text) => text.replace(SMALL, writing));
    const inTwoWritings = [
      ...masked(group(week(5), { count: 20 }), '11.444.777/0001-61'),
      ...masked(ofSmall(week(5), { count: 10, uid: 'b' }), ' 11444777000161'),
    ];
    const report = await pull(week(5), inTwoWritings);
    expect(report).toMatchObject({ state: 'merged', holdDetail: null });
    await checkAnyDay(world.database);
    const counted = await world.prisma.$queryRaw<object[]>`
      SELECT buyer_identification AS buyer, titles FROM conciliation.day_buyer
      WHERE date = ${week(5)}::date ORDER BY titles`;
    expect(counted).toEqual([
      { buyer: SMALL, titles: 30 },
      { buyer: '90021382000122', titles: GROUP },
    ]);
    const few = masked(group(week(5), { count: 20 }), '11.444.777/0001-61');
    const again = await pull(week(5), few);
    expect(again).toMatchObject(held('buyer_withdrawals', 10, 30, 20));
    const preview = await previewRelease(world.parts, again.pullId, 10);
    expect(preview?.moved).toMatchObject({ count: 10, counts: { withdrawn: 10 } });
    const many = masked(group(week(6), { count: 151 }), '11.444.777/0001-61');
    const grown = await pull(week(6), many);
    expect(grown).toMatchObject(held('growth', 151, 30, 5));
    const moved = (await previewRelease(world.parts, grown.pullId, 200))?.moved.titles ?? [];
    // The titles of the buyer that the limit counts come first.
    expect(moved.findIndex(({ orderUid }) => !orderUid.startsWith('s'))).toBe(151);
  });

  test('in a first response', async () => {
    await groupWeeks();
    const first = (texts: readonly string[]) => pull(week(5), texts);
    expect(await first(group(week(5), null))).toMatchObject(held('buyer_missing', 0, 30, 5));
    expect(await first(group(week(5), { count: 151 }))).toMatchObject(held('growth', 151, 30, 5));
    const doubled = [...group(week(5)), ...ofSmall(week(5))];
    expect(await first(doubled)).toMatchObject(held('duplicates', 30, 60, 25));
    expect(await first(group(week(5), { value: '10.00' }))).toMatchObject(
      held('value_jump', 100, null, 20),
    );
    // A new buyer, fewer titles and other values within the limits are ordinary.
    const other = titles(week(5), { count: 40, uid: 'n', buyer: '06990590000123' });
    const ordinary = [...group(week(5), { count: 1, value: '100.00' }), ...other];
    expect(await first(ordinary)).toMatchObject({ state: 'merged', holdDetail: null });
  });

  test.each([
    { counted: 'by the checks', isChecked: true },
    { counted: 'in the titles', isChecked: false },
  ])('in a later response, with the present titles counted $counted', async ({ isChecked }) => {
    await groupWeeks();
    await pull(week(5), group(week(5)));
    if (isChecked) await checkAnyDay(world.database);
    const again = (texts: readonly string[]) => pull(week(5), texts);
    expect(await again(group(week(5), { discount: '7' }))).toMatchObject(
      held('changed_share', 30, 30, 50),
    );
    expect(await again(group(week(5), { count: 151 }))).toMatchObject(held('growth', 151, 30, 5));
    expect(await again(group(week(5), { count: 23 }))).toMatchObject(
      held('buyer_withdrawals', 7, 30, 20),
    );
    const doubled = [...group(week(5)), ...ofSmall(week(5))];
    expect(await again(doubled)).toMatchObject(held('duplicates', 30, 60, 25));
    const more = group(week(5), {}, { count: GROUP + 5 });
    expect(await again(more)).toMatchObject({ state: 'merged' });
  });

  test('are compared with the present titles where the checks ran on older ones', async () => {
    await groupWeeks();
    await pull(week(5), group(week(5)));
    await checkAnyDay(world.database);
    expect(await pull(week(5), group(week(5), { count: 60 }))).toMatchObject({ state: 'merged' });
    // 25 of 60, and not of the 30 that were checked.
    const changed = [
      ...ofSmall(week(5), { count: 60, discount: '2' }).slice(0, 25),
      ...ofSmall(week(5), { count: 60 }).slice(25),
    ];
    expect(await pull(week(5), [...group(week(5), null), ...changed])).toMatchObject({
      state: 'merged',
      changed: 25,
    });
  });

  test('may lack, or come twice, beside a new buyer of the first response, and are held', async () => {
    const DATE = week(4);
    for (const index of [0, 1, 2, 3])
      await pull(week(index), titles(week(index), { buyer: SMALL }));
    await checkAnyDay(world.database);
    const usual = titles(DATE, { count: 30, buyer: SMALL });
    const other = (count: number) => titles(DATE, { count, uid: 'n' });
    expect(await pull(DATE, other(40))).toMatchObject({
      ...{ state: 'held', holdReason: 'buyer_missing', holdDetail: { buyer: SMALL } },
    });
    expect(await pull(DATE, [...usual, ...usual, ...other(90)])).toMatchObject(
      held('duplicates', 30, 60, 25),
    );
    expect(await pull(DATE, [...titles(DATE, { buyer: SMALL }), ...other(90)])).toMatchObject({
      state: 'merged',
    });
  });
});
