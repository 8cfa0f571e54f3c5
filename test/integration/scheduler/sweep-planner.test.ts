import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addDays, type CivilDate, datesBetween } from '../../../src/domain/business-day.ts';
import { MAX_OPEN_SWEEP_PULLS } from '../../../src/domain/plan/sweep-plan.ts';
import { createPull, startAttempt } from '../../../src/ledger/pull-ledger.sql.ts';
import { startSweepAttempt } from '../../../src/sweep/sweep-ledger.sql.ts';
import { createSweep } from '../../support/sweeps.ts';
import {
  CONFIG,
  openSchedulerWorld,
  type SchedulerWorld,
  SLOT,
  YESTERDAY,
} from './scheduler-world.ts';

const DAY_MS = 86_400_000;
/** 03:00 of the Sunday before SLOT. */
const SWEEP_SLOT = new Date('2026-03-08T06:00:00Z');
const SWEEP_DATE = addDays(YESTERDAY, -2);
const daysBack = (days: number) => addDays(SWEEP_DATE, -days);
const at = (atMs: number) => ({ now: () => new Date(atMs) });
/** The whole ledger is reconciled, so that no date is due but for a sweep. */
const config = { ...CONFIG, startDate: daysBack(600), lookbackDays: 0 };

let world: SchedulerWorld;
beforeAll(async () => {
  world = await openSchedulerWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.reset();
  await world.database.prisma.$executeRaw`
    INSERT INTO conciliation.checkpoint (start_date, last_reconciled_date)
    VALUES (${config.startDate}::date, ${YESTERDAY}::date)`;
  await world.database.prisma.$executeRaw`
    INSERT INTO conciliation.day (date, state, fold_count, fold_sum)
    SELECT date, 'reconciled', 0, repeat('0', 32)
    FROM generate_series(${config.startDate}::date, ${YESTERDAY}::date, '1 day') AS d (date)`;
  // Yesterday was pulled for the slot.
  await insertPull({ date: YESTERDAY, state: 'unchanged', origin: 'daily' });
});

function insertPull(pull: {
  date: CivilDate;
  state: string;
  origin?: string;
  minutesAgo?: number;
}) {
  const { date, state, origin = 'manual', minutesAgo = 0 } = pull;
  return world.database.prisma.$queryRaw<[{ id: bigint }]>`
    INSERT INTO conciliation.pull
      (origin, date, state, requested_by, fetch_started_at, created_at, finished_at)
    SELECT ${origin}, ${date}::date, ${state}, 'test', instant, instant, instant
    FROM (SELECT now() - make_interval(mins => ${minutesAgo}::int) AS instant) AS happened
    RETURNING id`;
}

const plan = (atMs = +SLOT) => world.planner({ config, ...at(atMs) }).runOnce();

const outlineOfSweeps = async () =>
  (await world.sweeps()).map(({ from, state, round }) => `${from} ${state} ${round}`);

/** The pulls of origin `sweep`. */
async function sweepPulls() {
  return world.database.prisma.$queryRaw<
    { id: bigint; date: CivilDate; state: string; round: number }[]
  >`
    SELECT id, date::text AS date, state, round FROM conciliation.pull
    WHERE origin = 'sweep' ORDER BY id`;
}
const openSweepPulls = async () => (await sweepPulls()).filter(({ state }) => state === 'queued');

/** Ends the open sweep as a worker would have. */
function endSweep(
  state: 'complete' | 'failed',
  how: { code?: string; overLimit?: boolean; startedAt?: Date } = {},
) {
  const { code = null, overLimit = false, startedAt = SLOT } = how;
  return world.database.prisma.$executeRaw`
    UPDATE conciliation.sweep
    SET state = ${state}, fence = nextval('conciliation.pull_fence_seq'),
        fetch_started_at = ${startedAt}, finished_at = now(), error_code = ${code}, over_limit = ${overLimit},
        response_ended_at = CASE WHEN ${state} = 'complete' THEN now() END
    WHERE state IN ('queued', 'running')`;
}

async function completeSweep(differing: readonly CivilDate[], startedAt = SLOT): Promise<bigint> {
  await endSweep('complete', { startedAt });
  const sweep = (await world.sweeps()).at(-1);
  await world.database.prisma.$executeRaw`
    INSERT INTO conciliation.sweep_difference (sweep_id, date, fold_count, fold_sum)
    SELECT ${sweep?.id}, date, 1, repeat('1', 32) FROM unnest(${differing}::date[]) AS d (date)`;
  return sweep?.id ?? 0n;
}

const readDifferences = () => world.database.prisma.$queryRaw<
  { date: CivilDate; pullId: bigint | null }[]
>`
  SELECT date::text AS date, pull_id AS "pullId" FROM conciliation.sweep_difference ORDER BY sweep_id, date`;

/** Lets time pass for all that has ended. */
async function pass(minutes: number) {
  await world.database.prisma.$executeRaw`
    UPDATE conciliation.sweep SET finished_at = finished_at - make_interval(mins => ${minutes}::int)`;
  await world.database.prisma.$executeRaw`
    UPDATE conciliation.pull SET finished_at = finished_at - make_interval(mins => ${minutes}::int)`;
}

describe('the sweep', () => {
  test('is due once a slot, and its worker is woken', async () => {
    expect(await plan()).toEqual({ kind: 'done', created: 1, enqueued: 1 });
    expect(await world.sweeps()).toMatchObject([
      { from: daysBack(45), state: 'queued', slotAt: SWEEP_SLOT, round: 0 },
    ]);
    expect(await plan()).toEqual({ kind: 'done', created: 0, enqueued: 0 });
    await completeSweep([]);
    expect(await plan()).toEqual({ kind: 'done', created: 0, enqueued: 0 });
    expect(await plan(+SLOT + 4 * DAY_MS)).toMatchObject({ created: expect.any(Number) });
    expect(await outlineOfSweeps()).toEqual([
      `${daysBack(45)} complete 0`,
      `${addDays(daysBack(45), 7)} queued 0`,
    ]);
  });

  test('reaches back to the oldest date that has a title which is not due yet', async () => {
    const setDue = (date: CivilDate, due: CivilDate) => world.database.prisma.$executeRaw`
      UPDATE conciliation.day SET latest_due_date = ${due}::date WHERE date = ${date}::date`;
    await setDue(daysBack(200), addDays(SWEEP_DATE, -1));
    await setDue(daysBack(120), SWEEP_DATE);
    await setDue(daysBack(110), addDays(SWEEP_DATE, 90));
    await plan();
    expect(await outlineOfSweeps()).toEqual([`${daysBack(120)} queued 0`]);
    await world.database.prisma.$executeRaw`DELETE FROM conciliation.sweep`;
    await setDue(daysBack(401), SWEEP_DATE);
    await plan();
    expect(await outlineOfSweeps()).toEqual([`${daysBack(400)} queued 0`]);
  });

  test('is not due where no date was answered, nor where none was over at the slot', async () => {
    await world.database.prisma
      .$executeRaw`UPDATE conciliation.day SET fold_count = NULL, fold_sum = NULL`;
    await plan();
    expect(await world.sweeps()).toEqual([]);
    await world.database.prisma.$executeRaw`
      UPDATE conciliation.day SET fold_count = 0, fold_sum = repeat('0', 32)`;
    const startAt = (date: CivilDate) => world.database.prisma.$executeRaw`
      UPDATE conciliation.checkpoint SET start_date = ${date}::date`;
    await startAt(SWEEP_DATE);
    await plan();
    expect(await world.sweeps()).toEqual([]);
    await startAt(daysBack(1));
    await plan();
    expect(await outlineOfSweeps()).toEqual([`${daysBack(1)} queued 0`]);
  });

  test('waits for one that is open, and is served by one that reaches as far', async () => {
    const ask = (from: CivilDate) => createSweep(world.database, from);
    await ask(daysBack(10));
    await plan();
    expect(await world.sweeps()).toHaveLength(1);
    await completeSweep([]);
    await plan();
    // The other sweep did not reach as far.
    expect(await outlineOfSweeps()).toEqual([
      `${daysBack(10)} complete 0`,
      `${daysBack(45)} queued 0`,
    ]);
    await completeSweep([]);
    const later = new Date(+SLOT + 4 * DAY_MS);
    await ask(daysBack(38));
    await completeSweep([], later);
    await plan(+later);
    expect(await world.sweeps()).toHaveLength(3);
  });

  test('whose attempts are spent is planned again at growing intervals', async () => {
    for (const [round, minutes] of [5, 10, 20, 40, 60, 60].entries()) {
      await plan();
      expect((await outlineOfSweeps()).at(-1)).toBe(`${daysBack(45)} queued ${round}`);
      await endSweep('failed', { code: 'PLATFORM_UNAVAILABLE' });
      await pass(minutes - 1);
      await plan();
      expect(await world.sweeps()).toHaveLength(round + 1);
      await pass(1);
    }
  });

  test.each([{ code: 'PLATFORM_REQUEST' }, { code: 'PLATFORM_UNAVAILABLE', overLimit: true }])(
    'is not planned again for the slot after %o',
    async (how) => {
      await plan();
      await endSweep('failed', how);
      await pass(600);
      await plan();
      expect(await world.sweeps()).toHaveLength(1);
      await plan(+SLOT + 7 * DAY_MS);
      expect(await world.sweeps()).toHaveLength(2);
    },
  );

  test('that runs without a job is taken over', async () => {
    await plan();
    const [{ id } = { id: 0n }] = await world.sweeps();
    await startSweepAttempt(world.database, id);
    world.sweepQueue.jobs.clear();
    const passSince = (minutes: number) => world.database.prisma.$executeRaw`
      UPDATE conciliation.sweep
      SET fetch_started_at = fetch_started_at - make_interval(mins => ${minutes}::int)`;
    expect(await plan()).toMatchObject({ enqueued: 0 });
    await passSince(2);
    expect(await plan()).toMatchObject({ enqueued: 1 });
  });
});

describe('dates that differ', () => {
  test('get pulls, the oldest first and at most 20 open', async () => {
    await plan();
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
    const [{ slotAt } = { slotAt: null }] = await world.database.prisma.$queryRaw<
      { slotAt: boolean }[]
    >`SELECT bool_and(pull.slot_at = sweep.response_ended_at) AS "slotAt"
      FROM conciliation.pull, conciliation.sweep
      WHERE pull.origin = 'sweep' AND sweep.id = ${sweepId}`;
    expect(slotAt).toBe(true);
  });

  test('are served by a pull that waits, and not by one that runs', async () => {
    await plan();
    await completeSweep([daysBack(3), daysBack(2), daysBack(1)]);
    const create = (date: CivilDate) =>
      createPull(world.database, {
        origin: 'manual',
        date,
        requestedBy: 'test',
      });
    const waiting = await create(daysBack(3));
    const running = await create(daysBack(2));
    await startAttempt(world.database, running);
    await plan();
    expect((await openSweepPulls()).map(({ date }) => date)).toEqual([daysBack(2), daysBack(1)]);
    expect((await readDifferences())[0]).toEqual({ date: daysBack(3), pullId: waiting });
    expect((await readDifferences()).map(({ pullId }) => pullId)).not.toContain(running);
  });

  test('get another pull at growing intervals where its attempts are spent', async () => {
    await plan();
    await completeSweep([daysBack(1)]);
    const fail = (code: string) => world.database.prisma.$executeRaw`
      UPDATE conciliation.pull SET state = 'failed', fetch_started_at = clock_timestamp(),
             finished_at = clock_timestamp(), error_code = ${code}
      WHERE state = 'queued'`;
    for (const [round, minutes] of [5, 10, 20].entries()) {
      await plan();
      expect(await openSweepPulls()).toMatchObject([{ date: daysBack(1), round }]);
      await fail('PLATFORM_UNAVAILABLE');
      await pass(minutes - 1);
      await plan();
      expect(await openSweepPulls()).toEqual([]);
      await pass(1);
    }
    await plan();
    const [open] = await openSweepPulls();
    expect(open).toMatchObject({ round: 3 });
    expect(await readDifferences()).toEqual([{ date: daysBack(1), pullId: open?.id }]);
    await fail('PLATFORM_REQUEST');
    await pass(600);
    await plan();
    expect(await openSweepPulls()).toEqual([]);
  });

  test('are left to a newer sweep over them, and to no other', async () => {
    await plan();
    await completeSweep([daysBack(40), daysBack(5)]);
    await createSweep(world.database, daysBack(10));
    await completeSweep([]);
    await plan();
    expect((await sweepPulls()).map(({ date }) => date)).toEqual([daysBack(40)]);
  });
});

describe('where the sweep exceeds a limit', () => {
  /** As if all that there is had happened that much earlier. */
  const passDays = (days: number) => world.database.prisma.$executeRaw`
    UPDATE conciliation.pull SET created_at = created_at - make_interval(days => ${days}::int),
           fetch_started_at = fetch_started_at - make_interval(days => ${days}::int)`;

  async function exceedLimit() {
    await plan();
    await endSweep('failed', { code: 'PLATFORM_CONTRACT', overLimit: true });
  }

  test('each date in reach is pulled once a week, a seventh of them a day', async () => {
    await exceedLimit();
    const pulled = new Map<CivilDate, number>();
    for (let day = 0; day < 14; day++) {
      await plan();
      const open = await openSweepPulls();
      // 47 dates from 45 days before the slot to yesterday.
      expect(open.length).toBeLessThanOrEqual(7);
      for (const { date } of open) pulled.set(date, (pulled.get(date) ?? 0) + 1);
      expect(await plan()).toMatchObject({ created: 0 });
      await world.database.prisma.$executeRaw`
        UPDATE conciliation.pull SET state = 'unchanged', fetch_started_at = now(), finished_at = now()
        WHERE state = 'queued'`;
      await passDays(1);
    }
    const reach = datesBetween(daysBack(45), YESTERDAY);
    expect([...pulled.keys()].sort()).toEqual(reach);
    // Yesterday had been pulled on the first day.
    expect([...pulled.values()].filter((pulls) => pulls === 2)).toHaveLength(reach.length - 1);
    expect(pulled.get(YESTERDAY)).toBe(1);
  });

  test('dates that were pulled within the week, or are open, wait', async () => {
    await exceedLimit();
    for (const date of datesBetween(daysBack(45), daysBack(3))) {
      await insertPull({ date, state: 'merged', minutesAgo: 6 * 24 * 60 });
    }
    await createPull(world.database, {
      origin: 'manual',
      date: daysBack(2),
      requestedBy: 'test',
    });
    await plan();
    expect((await openSweepPulls()).map(({ date }) => date)).toEqual([
      daysBack(1),
      daysBack(0),
      addDays(SWEEP_DATE, 1),
    ]);
  });

  test('it ends with the next sweep that is complete', async () => {
    await exceedLimit();
    const later = +SLOT + 7 * DAY_MS;
    await world.database.prisma.$executeRaw`DELETE FROM conciliation.pull WHERE origin = 'sweep'`;
    await plan(later);
    await completeSweep([]);
    await world.database.prisma.$executeRaw`DELETE FROM conciliation.pull WHERE origin = 'sweep'`;
    await plan(later);
    expect(await sweepPulls()).toEqual([]);
  });
});
