import { beforeEach, describe, expect, test } from 'vitest';
import { addDays, type CivilDate, datesBetween } from '../../../src/base/values/business-day.ts';
import { startAttempt } from '../../../src/core/ledger/pull-ledger.sql.ts';
import { ONLY_JOB } from '../../../src/core/work/job-queue.ts';
import { MAX_OPEN_SWEEP_PULLS, readDueSweep } from '../../../src/features/sweep/sweeps.sql.ts';
import { forFile } from '../../support/for-tests.ts';
import { CONFIG, openSchedulerWorld, SLOT, YESTERDAY } from './scheduler-world.ts';

const DAY_MS = 86_400_000;
/** 03:00 of the Sunday before SLOT. */
const SWEEP_SLOT = new Date('2026-03-08T06:00:00Z');
const SWEEP_DATE = addDays(YESTERDAY, -2);
const daysBack = (days: number) => addDays(SWEEP_DATE, -days);
const at = (atMs: number) => ({ now: () => new Date(atMs) });
/** The whole ledger is reconciled, so that no date is due but for a sweep. */
const config = { ...CONFIG, startDate: daysBack(600), lookbackDays: 0 };

const world = forFile(openSchedulerWorld);
beforeEach(async () => {
  await world.reset();
  await world.prisma.$executeRaw`
    INSERT INTO conciliation.checkpoint (start_date, last_reconciled_date)
    VALUES (${config.startDate}::date, ${YESTERDAY}::date)`;
  await world.prisma.$executeRaw`
    INSERT INTO conciliation.day (date, state, fold_count, fold_sum)
    SELECT date, 'reconciled', 0, repeat('0', 32)
    FROM generate_series(${config.startDate}::date, ${YESTERDAY}::date, '1 day') AS d (date)`;
  // Yesterday was pulled for the slot.
  await world.prisma.$executeRaw`
    INSERT INTO conciliation.pull (origin, date, state, requested_by, fetch_started_at, finished_at)
    VALUES ('daily', ${YESTERDAY}::date, 'unchanged', 'test', now(), now())`;
});

const plan = (atMs = +SLOT) => world.planner({ config, ...at(atMs) }).runOnce();

const readDue = (atMs = +SWEEP_SLOT) =>
  readDueSweep(world.database, new Date(atMs), config.timeZone);

const sweepPulls = () =>
  world.prisma.pull.findMany({ where: { origin: 'sweep' }, orderBy: { id: 'asc' } });
const openSweepPulls = async () => (await sweepPulls()).filter(({ state }) => state === 'queued');

/** Records a sweep as a worker would have. */
async function completeSweep(
  differing: readonly CivilDate[],
  { fromDate = daysBack(45), startedAt = SLOT } = {},
): Promise<bigint> {
  const data = { fromDate, startedAt, slotAt: SWEEP_SLOT, state: 'complete', responseBytes: 0 };
  const { id } = await world.prisma.sweep.create({ data });
  await world.prisma.$executeRaw`
    INSERT INTO conciliation.sweep_difference (sweep_id, date, fold_count, fold_sum)
    SELECT ${id}, date, 1, repeat('1', 32) FROM unnest(${differing}::date[]) AS d (date)`;
  return id;
}

const readDifferences = () =>
  world.prisma.sweepDifference.findMany({
    orderBy: [{ sweepId: 'asc' }, { date: 'asc' }],
    select: { date: true, pullId: true },
  });

describe('the sweep', () => {
  test('is due once a slot, and its worker is woken', async () => {
    expect(await plan()).toEqual({ kind: 'done', created: 0, enqueued: 0 });
    expect(world.sweepQueue.enqueued).toEqual([ONLY_JOB]);
    expect(await readDue()).toEqual({ from: daysBack(45), slotAt: SWEEP_SLOT, delayMs: 0 });
    // A job that waits keeps its time.
    await plan();
    expect(world.sweepQueue.enqueued).toEqual([ONLY_JOB]);
    world.sweepQueue.jobs.clear();
    await completeSweep([]);
    await plan();
    expect(world.sweepQueue.enqueued).toEqual([ONLY_JOB]);
    await plan(+SLOT + 4 * DAY_MS);
    expect(world.sweepQueue.enqueued).toEqual([ONLY_JOB, ONLY_JOB]);
    expect(await readDue(+SWEEP_SLOT + 7 * DAY_MS)).toMatchObject({
      from: addDays(daysBack(45), 7),
    });
  });

  test('reaches back to the oldest date that has a title which is not due yet', async () => {
    const setDue = (date: CivilDate, due: CivilDate) => world.prisma.$executeRaw`
      UPDATE conciliation.day SET latest_due_date = ${due}::date WHERE date = ${date}::date`;
    await setDue(daysBack(200), addDays(SWEEP_DATE, -1));
    await setDue(daysBack(120), SWEEP_DATE);
    await setDue(daysBack(110), addDays(SWEEP_DATE, 90));
    expect(await readDue()).toMatchObject({ from: daysBack(120) });
    await setDue(daysBack(401), SWEEP_DATE);
    expect(await readDue()).toMatchObject({ from: daysBack(400) });
  });

  test('is not due where no date was answered, nor where none was over at the slot', async () => {
    await world.prisma.$executeRaw`UPDATE conciliation.day SET fold_count = NULL, fold_sum = NULL`;
    expect(await readDue()).toBeNull();
    await world.prisma.$executeRaw`
      UPDATE conciliation.day SET fold_count = 0, fold_sum = repeat('0', 32)`;
    const startAt = (date: CivilDate) => world.prisma.$executeRaw`
      UPDATE conciliation.checkpoint SET start_date = ${date}::date`;
    await startAt(SWEEP_DATE);
    expect(await readDue()).toBeNull();
    await startAt(daysBack(1));
    expect(await readDue()).toMatchObject({ from: daysBack(1) });
  });
});

describe('dates that differ', () => {
  test('get pulls, the oldest first and at most 20 open', async () => {
    const dates = datesBetween(daysBack(30), daysBack(1));
    const sweepId = await completeSweep(dates);
    expect(await plan()).toMatchObject({ created: MAX_OPEN_SWEEP_PULLS });
    expect((await sweepPulls()).map(({ date }) => date)).toEqual(dates.slice(0, 20));
    expect(await plan()).toMatchObject({ created: 0 });
    await world.end('merged', { from: daysBack(30) });
    await world.end('failed', { from: daysBack(29) });
    expect(await plan()).toMatchObject({ created: 2 });
    expect((await openSweepPulls()).map(({ date }) => date)).toEqual(dates.slice(2, 22));
    const planned = (await readDifferences()).filter(({ pullId }) => pullId !== null);
    expect(planned.map(({ date }) => date)).toEqual(dates.slice(0, 22));
    const where = { id: sweepId };
    const { finishedAt } = await world.prisma.sweep.findUniqueOrThrow({ where });
    expect((await sweepPulls()).map(({ slotAt }) => slotAt)).toEqual(Array(22).fill(finishedAt));
  });

  test('are served by a pull that waits, and not by one that runs', async () => {
    await completeSweep([daysBack(3), daysBack(2), daysBack(1)]);
    const waiting = await world.create(daysBack(3));
    const running = await world.create(daysBack(2));
    await startAttempt(world.database, running);
    await plan();
    expect((await openSweepPulls()).map(({ date }) => date)).toEqual([daysBack(2), daysBack(1)]);
    expect((await readDifferences())[0]).toMatchObject({ date: daysBack(3), pullId: waiting });
    expect((await readDifferences()).map(({ pullId }) => pullId)).not.toContain(running);
  });

  test('are left to a newer sweep over them, and to no other', async () => {
    await completeSweep([daysBack(40), daysBack(5)]);
    const later = new Date(+SLOT + 1);
    await completeSweep([], { fromDate: daysBack(10), startedAt: later });
    await plan();
    expect((await sweepPulls()).map(({ date }) => date)).toEqual([daysBack(40)]);
  });
});
