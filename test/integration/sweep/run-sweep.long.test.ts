import { beforeEach, describe, expect, test } from 'vitest';
import { type CivilDate, datesBetween } from '../../../src/base/values/business-day.ts';
import type { PlatformClient } from '../../../src/core/platform/conciliation-client.ts';
import { runSweep } from '../../../src/features/sweep/sweeps.sql.ts';
import { DAY, daysFrom, worldOfFile } from '../../support/pull-world.ts';
import { attemptSweep, sweep } from '../../support/sweeps.ts';
import { titlesOf, titleText } from '../../support/titles.ts';
import { countWritten } from '../../support/written-rows.ts';

/** Noon of the day after the last of five dates. */
const TODAY = daysFrom(5);
const TOMORROW = daysFrom(1, TODAY);
const FAR_FUTURE = ['2099-12-31', '9999-12-31'] as CivilDate[];
const NOW = new Date(`${TODAY}T15:00:00Z`);
const DATES = datesBetween(DAY, daysFrom(4));
const ALL_AGREE = { datesCompared: 5, undated: 0, future: 0, early: 0, differences: [] };

let now = NOW;
const world = worldOfFile({ now: () => now });

beforeEach(async () => {
  now = NOW;
  world.sandbox.faults.clear();
  for (const date of DATES) setDay(date, [...'abcdefgh']);
  setDay(TODAY, []);
  for (const date of [TOMORROW, ...FAR_FUTURE]) world.sandbox.setDayTexts(date, null);
  for (const date of DATES) await world.pull(date);
});

function setDay(date: CivilDate, uids: readonly string[]): void {
  world.sandbox.setDayTexts(date, titlesOf(uids, { date }));
}

/** The newest row. */
const readSweep = async () => {
  const rows = await world.prisma.$queryRaw<Record<string, unknown>[]>`
    SELECT * FROM conciliation.sweep ORDER BY id DESC LIMIT 1`;
  return rows[0];
};

test('dates that agree leave no row but the one of the sweep', async () => {
  const [report, written] = await countWritten(world.database, () => sweep(world, DAY));
  expect(report).toMatchObject({ ...ALL_AGREE, titles: 40 });
  expect(written).toEqual({ sweep: 1 });
  expect(await readSweep()).toMatchObject({
    state: 'complete',
    http_status: 200,
    titles: 40,
    dates_compared: 5,
    dates_differing: 0,
    error_code: null,
  });
});

describe('dates that differ', () => {
  const [restated, shrunk, emptied, grown] = DATES as [CivilDate, CivilDate, CivilDate, CivilDate];
  beforeEach(() => {
    world.sandbox.setDayTexts(restated, [
      ...titlesOf([...'bcdefgh'], { date: restated }),
      titleText({ uid: 'a', date: restated, discount: '9' }),
    ]);
    setDay(shrunk, [...'abcdefg']);
    setDay(emptied, []);
    // Two copies would cancel each other in an exclusive or.
    setDay(grown, [...'abcdefghii']);
  });

  test('are named, and nothing is changed', async () => {
    const [report, written] = await countWritten(world.database, () => sweep(world, DAY));
    expect(report.datesCompared).toBe(5);
    const found = report.differences.map(
      ({ date, titles, ledgerTitles }) => `${date}: ${titles}, ${ledgerTitles}`,
    );
    expect(found).toEqual([
      ...[`${restated}: 8, 8`, `${shrunk}: 7, 8`, `${emptied}: 0, 8`, `${grown}: 10, 8`],
    ]);
    expect(written).toEqual({ sweep: 1, sweep_difference: 4 });
    expect(await readSweep()).toMatchObject({ dates_differing: 4 });
  });

  test('are compared only from the start of the sweep on', async () => {
    const report = await sweep(world, grown);
    expect(report.differences.map(({ date }) => date)).toEqual([grown]);
    expect(report).toMatchObject({ datesCompared: 2, early: 0 });
  });
});

test('titles that belong to no date that was asked for are counted by reason, and make no day', async () => {
  for (const date of FAR_FUTURE) setDay(date, ['far']);
  const today = titleText({ date: TODAY, uid: 'today' });
  const tomorrow = titleText({ date: TOMORROW, uid: 'tomorrow' });
  const early = titleText({ date: daysFrom(-1), uid: 'early' });
  const unreadable = [
    '{}',
    '17',
    titleText().replace(`"acceptedDate":"${DAY}"`, '"acceptedDate":"2026-02-30"'),
    titleText().replace(`"acceptedDate":"${DAY}"`, `"acceptedDate":20260302`),
    titleText({ uid: 'long', name: 'x'.repeat(1_100_000) }),
  ];
  world.sandbox.setDayTexts(TODAY, [today, tomorrow, early, ...unreadable]);
  const [report, written] = await countWritten(world.database, () => sweep(world, DAY));
  expect(report).toMatchObject({ ...ALL_AGREE, titles: 50, undated: 5, future: 3, early: 1 });
  expect(written).toEqual({ sweep: 1 });
  expect(await readSweep()).toMatchObject({ undated_titles: 5, future_titles: 3, early_titles: 1 });
});

test('a date is compared only if it was over when the request was sent', async () => {
  // 23:59:50 of the last date, and 00:00:20 of the next, in Sao Paulo.
  const beforeMidnight = new Date(`${TODAY}T02:59:50Z`);
  const afterMidnight = new Date(`${TODAY}T03:00:20Z`);
  const lastDate = daysFrom(4);
  setDay(lastDate, ['a']);
  now = beforeMidnight;
  const platform: PlatformClient = {
    ...world.platform,
    async fetchTitles(window, signal) {
      const response = await world.platform.fetchTitles(window, signal);
      now = afterMidnight;
      return response;
    },
  };
  expect(await sweep(world, DAY, { platform })).toMatchObject({ ...ALL_AGREE, datesCompared: 4 });
  expect((await sweep(world, DAY)).differences).toMatchObject([{ date: lastDate }]);
});

describe('a sweep that fails', () => {
  test.each([
    [
      'of a fault of the platform',
      { kind: 'status', status: 500, date: DAY, times: 1 },
      'PLATFORM_UNAVAILABLE',
    ],
    [
      'whose document is cut',
      { kind: 'body', body: '{"titles":[{}', date: DAY, times: 1 },
      'PLATFORM_UNAVAILABLE',
    ],
  ] as const)('compares nothing: an answer %s', async (_, fault, code) => {
    setDay(DAY, ['a']);
    world.sandbox.faults.add(fault);
    expect(await attemptSweep(world, DAY)).toMatchObject({ kind: 'failed' });
    expect(await readSweep()).toMatchObject({
      state: 'failed',
      error_code: code,
      ...(fault.kind === 'status' && { http_status: fault.status }),
      dates_compared: null,
    });
    expect(await attemptSweep(world, DAY)).toMatchObject({ kind: 'done' });
  });

  test('by a refused token or a stop records nothing', async () => {
    const before = await readSweep();
    world.sandbox.faults.add({ kind: 'status', status: 401, date: DAY, times: 1 });
    expect(await attemptSweep(world, DAY)).toMatchObject({ kind: 'unauthorized', httpStatus: 401 });
    const stopped = runSweep(world.parts, { from: DAY, slotAt: NOW }, AbortSignal.abort());
    await expect(stopped).rejects.toMatchObject({ code: 'SHUTDOWN' });
    expect(await readSweep()).toEqual(before);
  });
});
