import { beforeEach, expect, test } from 'vitest';
import { slotBefore } from '../../../src/base/config/cron-schedule.ts';
import { type CivilDate, datesBetween } from '../../../src/base/values/business-day.ts';
import { DAY, daysFrom, worldOfFile } from '../../support/pull-world.ts';
import { attemptSweep, type DoneSweep, sweep } from '../../support/sweeps.ts';
import { titlesOf, titleText } from '../../support/titles.ts';
import { expectDerived, NEVER_STALE, openKeys, readAlerts } from './alert-table.ts';

const TODAY = daysFrom(10);
const NOW = new Date(`${TODAY}T15:00:00Z`);
const DATES = datesBetween(DAY, daysFrom(9));

const world = worldOfFile({ now: () => NOW });

beforeEach(async () => {
  world.sandbox.faults.clear();
  await world.prisma.$executeRaw`
    TRUNCATE conciliation.alert, conciliation.message_delivery, conciliation.sweep, conciliation.sweep_difference`;
  for (const date of DATES) setDay(date, ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
  setDay(TODAY, []);
  for (const date of DATES) await world.pull(date);
});

const derive = (raised: number, resolved: number, open?: readonly string[]) =>
  expectDerived(world.database, [raised, resolved], open, {}, NOW);
const expectOpen = async (...keys: string[]) =>
  expect(await openKeys(world.database, NOW)).toEqual(keys);

function setDay(date: CivilDate, uids: readonly string[]): void {
  world.sandbox.setDayTexts(date, titlesOf(uids, { date }));
}

test('more than a fifth of the dates differing is one alert, dates that were never answered aside', async () => {
  for (const date of DATES.slice(0, 2)) setDay(date, ['a']);
  await sweep(world, DAY);
  await derive(0, 0);
  setDay(daysFrom(2), []);
  await sweep(world, DAY);
  await derive(1, 0, [
    `sweep_differs:dates: the sweep since ${DAY} differs from the ledger on 3 of 10 dates`,
  ]);
  await world.prisma.$executeRaw`
    UPDATE conciliation.day SET fold_count = NULL, fold_sum = NULL WHERE date = ${DAY}::date`;
  await sweep(world, DAY);
  await derive(0, 1);
});

test('titles that belong to no date are an alert until a sweep has none', async () => {
  world.sandbox.setDayTexts(TODAY, ['{}', titleText({ date: daysFrom(1, TODAY) })]);
  await sweep(world, DAY);
  await derive(1, 0, [
    `sweep_differs:unplaced: the sweep since ${DAY} had titles that belong to no date: 1 without a readable accepted date, 1 of a date in the future, 0 of a date before ${DAY}, which were not asked for`,
  ]);
  setDay(TODAY, []);
  await sweep(world, DAY);
  await derive(0, 1);
});

test('sweeps that are missing for two slots are an alert, on a ledger that is older than that', async () => {
  // Real time: what the database's clock has written is compared with the slots.
  const hour = 3_600_000;
  const now = new Date();
  const sweepSlotBefore = (at: Date) => slotBefore('0 * * * *', NEVER_STALE.timeZone, at);
  const staleAt = (at: Date, raised: number, resolved: number, open?: readonly string[]) =>
    expectDerived(world.database, [raised, resolved], open, { sweepSlotBefore }, at);
  await staleAt(now, 0, 0);
  const later = new Date(+now + 3 * hour);
  await staleAt(later, 1, 0, [
    'sweep_stale: no sweep has been complete yet: restatements of older dates go unnoticed',
  ]);
  await sweep(world, DAY);
  await staleAt(now, 0, 1);
  await staleAt(later, 1, 0);
  const today = new Date().toISOString().slice(0, 10);
  expect((await readAlerts(world.database)).at(-1)?.message).toContain(
    `no sweep has been complete since ${today}`,
  );
  // A failed one does not count, and its error is named.
  world.sandbox.faults.add({ kind: 'status', status: 400, date: DAY, times: 1 });
  await attemptSweep(world, DAY);
  await staleAt(later, 0, 0);
  expect((await readAlerts(world.database)).at(-1)).toMatchObject({
    open: true,
    message: expect.stringContaining('go unnoticed; the newest one failed (PLATFORM_REQUEST)'),
  });
  await staleAt(now, 0, 1);
  // An error that the program does not know is told at once.
  await world.prisma.$executeRaw`
    UPDATE conciliation.sweep SET error_code = 'DEFECT' WHERE state = 'failed'`;
  await staleAt(now, 1, 0, [expect.stringMatching(/^sweep_stale: /)]);
  await sweep(world, DAY);
  await world.prisma.$executeRaw`
    UPDATE conciliation.checkpoint SET start_date = '2999-01-01'`;
  await staleAt(later, 0, 1);
  await world.prisma.$executeRaw`
    UPDATE conciliation.checkpoint SET start_date = ${DAY}::date`;
});

/** A platform whose two filters say different things of DAY. */
function contradict(inSweeps: readonly string[] | null): void {
  const { faults } = world.sandbox;
  faults.clear();
  if (inSweeps === null) return;
  const texts = titlesOf(inSweeps, { date: DAY });
  const others = DATES.slice(1).flatMap((date) => titlesOf([...'abcdefgh'], { date }));
  const body = `{"titles":[${[...texts, ...others].join()}]}`;
  faults.add({ kind: 'body', body, date: DAY, times: 'forever' });
}

async function pullAndLink(report: DoneSweep): Promise<void> {
  for (const { date } of report.differences) {
    // The body is the answer to both filters.
    world.sandbox.faults.clear();
    const { pullId } = await world.pull(date);
    await world.prisma.$executeRaw`
      UPDATE conciliation.sweep_difference SET pull_id = ${pullId}
      WHERE sweep_id = ${report.sweepId} AND date = ${date}::date`;
  }
}

test('filters that contradict each other twice in a row are an alert of the date until a sweep agrees', async () => {
  contradict(['a', 'b']);
  await pullAndLink(await sweep(world, DAY));
  await expectOpen();

  contradict(['a', 'b', 'c']);
  const second = await sweep(world, DAY);
  // Nothing is proved before the pull has its answer.
  await expectOpen();
  await pullAndLink(second);
  await derive(1, 0, [
    `sweep_differs:filters ${DAY}: two sweeps in a row contradict the pulls of ${DAY} that followed them: by anticipationDate the date has 3 titles, by conciliationDate 8`,
  ]);
  expect((await readAlerts(world.database)).at(-1)?.pull_id).not.toBeNull();

  // A third difference keeps it open, also before its pull has an answer.
  contradict([]);
  await sweep(world, DAY);
  await expectOpen('sweep_differs:filters');
  // A sweep that does not reach the date says nothing of it.
  contradict(null);
  await sweep(world, daysFrom(1));
  await expectOpen('sweep_differs:filters');
  await sweep(world, DAY);
  await derive(0, 1);
});

test('two restatements in a row, each while the answer of the sweep is under way, are no contradiction', async () => {
  const kept = [...'abcdefgh'];
  for (const [inSweep, inPull] of [
    [
      ['x1', ...kept],
      ['x1', 'x2', ...kept],
    ],
    [
      ['x1', 'x2', 'x3', ...kept],
      ['x1', 'x2', 'x3', 'x4', ...kept],
    ],
  ] as const) {
    contradict(inSweep);
    const report = await sweep(world, DAY);
    setDay(DAY, inPull);
    await pullAndLink(report);
    expect(await openKeys(world.database, NOW)).not.toContain('sweep_differs:filters');
  }
});
