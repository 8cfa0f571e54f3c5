import { beforeEach, expect, test } from 'vitest';
import { addDays, datesBetween, toCivilDate } from '../../../src/base/values/business-day.ts';
import { startAttempt } from '../../../src/core/ledger/pull-ledger.sql.ts';
import { PULL_STATES } from '../../../src/core/ledger/states.ts';
import {
  cancelBackfill,
  createBackfill,
  readBackfillProgress,
  readBackfills,
} from '../../../src/features/backfills/backfill-ledger.sql.ts';
import { forFile } from '../../support/for-tests.ts';
import {
  CONFIG,
  openSchedulerWorld,
  QueueInMemory,
  type SchedulerWorld,
  YESTERDAY,
} from './scheduler-world.ts';

const TODAY = addDays(YESTERDAY, 1);
const range = { from: toCivilDate('2025-06-01'), to: toCivilDate('2025-06-05') };
const day = (days: number) => addDays(range.from, days);

const world = forFile(openSchedulerWorld);
beforeEach(() => world.reset());

const create = (concurrency = 2) =>
  createBackfill(world.database, { range, concurrency, by: 'operator' }, TODAY);
/** A planner whose schedules have nothing to do. */
const planner = (parts: Parameters<SchedulerWorld['planner']>[0] = {}) =>
  world.planner({ config: { ...CONFIG, startDate: TODAY }, ...parts });
const plan = () => planner().runOnce();
const progress = (id: bigint) => readBackfillProgress(world.database, id);

test('pulls its range from the oldest date on, a few at a time, and is done', async () => {
  const id = await create();
  for (let round = 0; round < 3; round += 1) {
    await plan();
    expect(await plan()).toMatchObject({ created: 0 });
    await world.end('merged');
  }
  await plan();
  expect(await world.outline()).toEqual(
    datesBetween(range.from, range.to).map((date) => `backfill ${date}`),
  );
  expect(await progress(id)).toMatchObject({
    ...range,
    state: 'done',
    concurrency: 2,
    requestedBy: 'operator',
    total: 5,
    done: 5,
    failed: 0,
    held: 0,
    open: 0,
    finishedAt: expect.any(Date),
  });
});

test('counts failed, held, running and remaining dates', async () => {
  const id = await create(4);
  await planner({ config: { ...CONFIG, startDate: TODAY, maxOpenBackfillPulls: 4 } }).runOnce();
  await world.end('merged', { from: day(0) });
  await world.end('failed', { from: day(1) });
  await world.prisma.$executeRaw`
    UPDATE conciliation.pull SET state = 'held', titles = 7 WHERE date = ${day(2)}::date`;
  expect(await progress(id)).toMatchObject({
    state: 'running',
    total: 5,
    done: 1,
    failed: 1,
    held: 1,
    open: 1,
    titles: 7,
    finishedAt: null,
  });
});

test.each(PULL_STATES)('with a last pull that is %s: done, or another pull', async (state) => {
  const id = await create(5);
  const all = planner({ config: { ...CONFIG, startDate: TODAY, maxOpenBackfillPulls: 5 } });
  await all.runOnce();
  await world.prisma.$executeRaw`
    UPDATE conciliation.pull SET state = CASE WHEN date = ${range.to}::date THEN ${state} ELSE 'failed' END`;
  expect(await all.runOnce()).toMatchObject({ created: state === 'cancelled' ? 1 : 0 });
  const isDone = !['queued', 'running', 'cancelled'].includes(state);
  expect((await progress(id))?.state).toBe(isDone ? 'done' : 'running');
});

test('cancelling ends waiting pulls, lets running ones end, and creates none', async () => {
  const id = await create(3);
  await plan();
  const [running] = await world.pulls();
  const attempt = await startAttempt(world.database, running?.id ?? 0n);
  await cancelBackfill(world.database, id, 'operator');
  expect((await world.pulls()).map(({ state }) => state)).toEqual([
    'running',
    'cancelled',
    'cancelled',
  ]);

  // The attempt ends badly and its pull comes back: it is not tried again.
  await world.prisma.$executeRaw`
    UPDATE conciliation.pull SET state = 'queued', next_attempt_at = now() WHERE id = ${attempt.pullId}`;
  world.queue.jobs.clear();
  expect(await plan()).toMatchObject({ created: 0, enqueued: 0 });
  expect((await world.pulls()).every(({ state }) => state === 'cancelled')).toBe(true);
  expect(await progress(id)).toMatchObject({ state: 'cancelled', open: 0 });
});

test('all backfills together leave a worker free, and the oldest goes first', async () => {
  await create(2);
  await create(2);
  await plan();
  const owners = await world.prisma.$queryRaw`
    SELECT backfill.concurrency, count(*)::int AS pulls
    FROM conciliation.pull JOIN conciliation.backfill ON backfill.id = backfill_id
    GROUP BY backfill.id ORDER BY backfill.id`;
  expect(owners).toEqual([
    { concurrency: 2, pulls: 2 },
    { concurrency: 2, pulls: 1 },
  ]);
});

test('a backfill takes nothing from the schedules and comes after them', async () => {
  await create();
  await world.planner().runOnce();
  const outline = await world.outline();
  expect(outline).toContain('daily 2026-03-10');
  expect(outline.slice(-2)).toEqual([`backfill ${day(0)}`, `backfill ${day(1)}`]);
  expect(world.queue.enqueued).toEqual((await world.pulls()).map(({ id }) => id));
});

test('planners and a cancellation at once: no date twice, and nothing left waiting', async () => {
  const databases = [world.database, world.otherDatabase()];
  for (let round = 0; round < 6; round += 1) {
    const id = await create(2);
    const plans = () =>
      databases.map((database) => planner({ database, queue: new QueueInMemory() }).runOnce());
    await Promise.all([...plans(), ...plans()]);
    expect(await progress(id)).toMatchObject({ open: 2 });
    await world.end('merged');
    await Promise.all([...plans(), cancelBackfill(world.database, id, 'operator')]);
    expect(await progress(id)).toMatchObject({ state: 'cancelled', open: 0, done: 2 });
  }
  const doubled = await world.prisma.$queryRaw`
    SELECT date, backfill_id FROM conciliation.pull WHERE state = 'merged'
    GROUP BY date, backfill_id HAVING count(*) > 1`;
  expect(doubled).toEqual([]);
});

test('invalid requests are refused with a reason', async () => {
  const refuse = (work: Promise<unknown>, message: string) =>
    expect(work).rejects.toMatchObject({ name: 'InputError', message });
  await refuse(cancelBackfill(world.database, 404n, 'operator'), 'There is no such backfill.');
  const id = await create();
  await cancelBackfill(world.database, id, 'operator');
  await refuse(cancelBackfill(world.database, id, 'operator'), 'The backfill is cancelled.');
  expect(await progress(404n)).toBeNull();
});

test('the requests are in the audit log; the newest backfill is listed first', async () => {
  const first = await create();
  await cancelBackfill(world.database, first, 'second operator');
  const second = await create();
  const entries = await world.prisma.$queryRaw`
    SELECT actor, action, details->>'backfillId' AS id, details->>'from' AS "from"
    FROM conciliation.audit_entry
    WHERE (details->>'backfillId')::bigint >= ${first} ORDER BY audit_entry.id`;
  expect(entries).toEqual([
    { actor: 'operator', action: 'backfill.create', id: String(first), from: range.from },
    { actor: 'second operator', action: 'backfill.cancel', id: String(first), from: range.from },
    { actor: 'operator', action: 'backfill.create', id: String(second), from: range.from },
  ]);
  const listed = (await readBackfills(world.prisma, { offset: 0, limit: 9 })).map(({ id }) => id);
  expect(listed).toEqual([Number(second), Number(first)]);
});
