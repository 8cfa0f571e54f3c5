import { beforeEach, describe, expect, test, vi } from 'vitest';
import { addDays, datesBetween, toCivilDate } from '../../../src/base/values/business-day.ts';
import { startAttempt } from '../../../src/core/ledger/pull-ledger.sql.ts';
import { readCheckpoint } from '../../../src/core/ledger/pull-requests.sql.ts';
import {
  MAX_OPEN_PULLS,
  planPulls,
  type WakeUpQueue,
} from '../../../src/core/planner/planner.sql.ts';
import { changeSchedule } from '../../../src/features/backfills/backfill-ledger.sql.ts';
import { Prisma } from '../../../src/generated/prisma/client.ts';
import { forFile } from '../../support/for-tests.ts';
import { recordingLogger } from '../../support/logger.ts';
import { clearProviders, providerOf, writeProviders } from '../../support/provider-rows.ts';
import { CONFIG, openSchedulerWorld, QueueInMemory, SLOT, YESTERDAY } from './scheduler-world.ts';

const DAY_MS = 86_400_000;
const daysBefore = (days: number) => addDays(YESTERDAY, -days);
const at = (atMs: number) => ({ now: () => new Date(atMs) });

const world = forFile(openSchedulerWorld);
beforeEach(() => world.reset());

/** Marks dates reconciled, as merges would have. */
async function reconcile(...dates: readonly string[]) {
  await world.prisma.$executeRaw`
    INSERT INTO conciliation.day (date, state) SELECT date, 'reconciled' FROM unnest(${dates}::date[]) AS d (date)
    ON CONFLICT (date) DO UPDATE SET state = 'reconciled'`;
}

test('creates the due pulls, wakes a worker for each, the most urgent first, and then nothing', async () => {
  const planner = world.planner();
  expect(await planner.runOnce()).toEqual({ kind: 'done', created: 10, enqueued: 10 });
  expect(await world.outline()).toEqual([
    'daily 2026-03-10',
    'lookback 2026-03-09',
    'lookback 2026-03-08',
    ...datesBetween(toCivilDate('2026-03-01'), daysBefore(3)).map((date) => `daily ${date}`),
  ]);
  const pulls = await world.pulls();
  expect(pulls.every(({ state }) => state === 'queued')).toBe(true);
  expect(pulls[0]?.slotAt).toEqual(SLOT);
  expect(world.queue.enqueued).toEqual(pulls.map(({ id }) => id));

  expect(await planner.runOnce()).toEqual({ kind: 'done', created: 0, enqueued: 0 });
});

test('a paused schedule plans nothing until a person resumes it, and then what came due meanwhile', async () => {
  const { database, queue, sweepQueue } = world;
  const planner = world.planner();
  await planner.runOnce();
  await world.end('merged');
  const decision = { by: 'user:ana', reason: 'the platform asks for silence' };
  const nextDay = world.planner(at(SLOT.getTime() + DAY_MS));
  queue.enqueued.length = 0;
  sweepQueue.enqueued.length = 0;

  await changeSchedule(database, 'schedule.pause', decision);
  await changeSchedule(database, 'schedule.pause', { by: 'user:rui', reason: 'again' });
  expect((await readCheckpoint(database))?.pause).toMatchObject(decision);
  expect(await nextDay.runOnce()).toEqual({ kind: 'done', created: 0, enqueued: 0 });
  expect([queue.enqueued, sweepQueue.enqueued]).toEqual([[], []]);

  await changeSchedule(database, 'schedule.resume', {
    by: 'user:rui',
    reason: 'the maintenance has ended',
  });
  expect((await readCheckpoint(database))?.pause).toBeNull();
  expect(await nextDay.runOnce()).toEqual({ kind: 'done', created: 11, enqueued: 11 });
  const entries = await database.prisma.auditEntry.findMany({
    where: { action: { startsWith: 'schedule.' } },
    select: { actor: true, action: true, reason: true },
    orderBy: { id: 'asc' },
  });
  expect(entries).toEqual([
    { actor: decision.by, action: 'schedule.pause', reason: decision.reason },
    { actor: 'user:rui', action: 'schedule.resume', reason: 'the maintenance has ended' },
  ]);
});

test("no pull is planned while this clock differs from the database's", async () => {
  const planner = world.planner();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 180_000 });
  const run = await planner.runOnce().finally(() => vi.useRealTimers());
  expect(run).toMatchObject({
    kind: 'failed',
    error: { message: expect.stringMatching(/\d+ s ahead of the clock of the database/) },
  });
  expect(await world.pulls()).toEqual([]);
  expect(await planner.runOnce()).toMatchObject({ kind: 'done', created: 10 });
});

test('the first start of an empty ledger begins with yesterday and remembers it', async () => {
  const planner = world.planner({ config: { ...CONFIG, startDate: null } });
  await planner.runOnce();
  expect(await world.outline()).toEqual(['daily 2026-03-10']);
  expect(await readCheckpoint(world.database)).toEqual({
    startDate: YESTERDAY,
    lastReconciledDate: null,
    pause: null,
  });
  await world.planner({ config: { ...CONFIG, startDate: null }, ...at(+SLOT + DAY_MS) }).runOnce();
  expect((await readCheckpoint(world.database))?.startDate).toBe(YESTERDAY);
});

test('twenty rounds of two planners at once, configured differently: every date once', async () => {
  const processes = [
    { database: world.database, lookbackDays: 0 },
    { database: world.otherDatabase(), lookbackDays: 7 },
  ];
  for (let round = 0; round < 20; round += 1) {
    const now = at(+SLOT + round * DAY_MS);
    const runs = await Promise.all(
      processes.map(({ database, lookbackDays }) => {
        const config = { ...CONFIG, startDate: daysBefore(30), lookbackDays };
        return world.planner({ database, config, queue: new QueueInMemory(), ...now }).runOnce();
      }),
    );
    const created = runs.map((run) => (run.kind === 'done' ? run.created : -1));
    expect(created.some((count) => count > 0)).toBe(true);
    expect(created).toContain(0);
    await world.end('failed');
  }
  const doubled = await world.prisma.$queryRaw`
    SELECT date, slot_at FROM conciliation.pull
    GROUP BY date, slot_at HAVING count(*) > 1`;
  expect(doubled).toEqual([]);
});

test('only the holes are filled', async () => {
  await reconcile(
    ...datesBetween(daysBefore(9), YESTERDAY).filter((date) => date !== daysBefore(5)),
  );
  await world.prisma.$executeRaw`
    INSERT INTO conciliation.checkpoint (start_date, last_reconciled_date)
    VALUES (${CONFIG.startDate}::date, ${daysBefore(6)}::date)`;
  await world.planner().runOnce();
  expect(await world.outline()).toEqual([
    'daily 2026-03-10',
    'lookback 2026-03-09',
    'lookback 2026-03-08',
    'daily 2026-03-05',
  ]);
});

test('a date that failed waits for the next slot, a held one and one with rejects too', async () => {
  const config = { ...CONFIG, startDate: daysBefore(5) };
  await world.planner({ config }).runOnce();
  await world.end('failed');
  const planner = world.planner({ config, ...at(+SLOT + DAY_MS - 1) });
  expect(await planner.runOnce()).toMatchObject({ created: 0 });

  await world.prisma.$executeRaw`
    INSERT INTO conciliation.day (date, state)
    VALUES (${daysBefore(3)}::date, 'held'), (${daysBefore(4)}::date, 'attention'), (${daysBefore(5)}::date, 'failed')`;
  await world.planner({ config, ...at(+SLOT + DAY_MS) }).runOnce();
  const next = (await world.pulls()).filter(({ slotAt }) => Number(slotAt) === +SLOT + DAY_MS);
  expect(next.map(({ from }) => from).sort()).toEqual(
    datesBetween(daysBefore(5), addDays(YESTERDAY, 1)),
  );
});

test('a date is not pulled beside a pull that has not ended, nor after one since the slot', async () => {
  const config = { ...CONFIG, startDate: daysBefore(2) };
  await world.create(YESTERDAY);
  await startAttempt(world.database, await world.create(daysBefore(1)));
  await world.planner({ config }).runOnce();
  expect(await world.outline()).not.toContain('daily 2026-03-10');
  expect(await world.outline()).not.toContain('lookback 2026-03-09');

  await world.end('merged', { from: YESTERDAY });
  await world.end('failed', { from: daysBefore(1) });
  await world.planner({ config }).runOnce();
  expect(await world.outline()).not.toContain('daily 2026-03-10');
  // A failed pull of a person is not an attempt for the slot.
  expect(await world.outline()).toContain('lookback 2026-03-09');
});

test('ten years behind: a portion at a time, and tomorrow does not wait', async () => {
  const config = { ...CONFIG, startDate: toCivilDate('2016-03-01') };
  await world.planner({ config }).runOnce();
  expect(await world.pulls()).toHaveLength(MAX_OPEN_PULLS);
  await world.end('merged', { from: toCivilDate('2016-03-01') });
  await reconcile('2016-03-01');
  await world.planner({ config }).runOnce();
  expect(await world.pulls()).toHaveLength(MAX_OPEN_PULLS + 1);

  await world.planner({ config, ...at(+SLOT + DAY_MS) }).runOnce();
  expect((await world.outline()).slice(MAX_OPEN_PULLS + 1)).toEqual(['daily 2026-03-11']);
  const newest = (await world.pulls()).at(-1)?.id;
  const queue = new QueueInMemory();
  await world.planner({ config, queue, ...at(+SLOT + DAY_MS) }).runOnce();
  expect(queue.enqueued.slice(0, 2)).toContain(newest);
});

test('dates that failed for the slot do not delay those that were not tried', async () => {
  const config = { ...CONFIG, startDate: toCivilDate('2016-03-01') };
  await world.planner({ config }).runOnce();
  await world.end('failed');
  expect(await world.planner({ config }).runOnce()).toMatchObject({ created: MAX_OPEN_PULLS });
  expect(new Set(await world.outline()).size).toBe(2 * MAX_OPEN_PULLS);
});

test.each([
  ['America/Sao_Paulo', '2026-03-10'],
  ['Asia/Tokyo', '2026-03-11'],
])('yesterday is the day before the slot on the calendar of %s', async (timeZone, yesterday) => {
  const evening = new Date('2026-03-12T01:30:00Z');
  const schedule = { slotAt: evening, policy: { ...CONFIG, timeZone }, now: evening };
  await planPulls({ database: world.database, features: [] }, schedule, 1);
  expect((await world.outline())[0]).toBe(`daily ${yesterday}`);
});

/** Minutes until every healthy date of 730 is done, while the oldest dates answer 500 without end. */
async function minutesUntilHealthyAreDone(poisonedDates: number): Promise<number> {
  const { prisma } = world;
  const policy = { ...CONFIG, startDate: daysBefore(729) };
  const isPoisoned = Prisma.sql`date < ${addDays(policy.startDate, poisonedDates)}::date`;
  for (let minute = 0; minute < 24 * 60; minute += 1) {
    const schedule = { slotAt: SLOT, policy, now: SLOT };
    await planPulls({ database: world.database, features: [] }, schedule, 1);
    // A healthy date answers at once. The others spend eight attempts, with the longest waits between them.
    await prisma.$executeRaw`
      UPDATE conciliation.pull SET state = 'merged', fetch_started_at = now()
      WHERE state = 'queued' AND NOT ${isPoisoned}`;
    await prisma.$executeRaw`
      UPDATE conciliation.pull SET state = 'failed', error_code = 'PLATFORM_UNAVAILABLE', finished_at = now()
      WHERE state = 'queued' AND created_at <= now() - interval '63.5 minutes'`;
    const healthy = await prisma.pull.count({ where: { state: 'merged' } });
    if (healthy === 730 - poisonedDates) return minute;
    await prisma.$executeRaw`
      UPDATE conciliation.pull SET created_at = created_at - interval '1 minute',
             finished_at = finished_at - interval '1 minute' WHERE ${isPoisoned}`;
  }
  return Number.POSITIVE_INFINITY;
}

test.each([
  [0, 0.2],
  [100, 2],
  [300, 6],
])(
  '%i of 730 dates that fail without end delay the others by hours at most',
  async (poisonedDates, hours) => {
    expect(await minutesUntilHealthyAreDone(poisonedDates)).toBeLessThanOrEqual(hours * 60);
  },
);

test('a pull without a job gets one, and no pull gets a second one', async () => {
  const planner = world.planner();
  await planner.runOnce();
  const [lost] = world.queue.enqueued;
  world.queue.jobs.delete(lost ?? 0n);
  expect(await planner.runOnce()).toMatchObject({ created: 0, enqueued: 1 });
  world.queue.jobs.clear();
  expect(await planner.runOnce()).toMatchObject({ created: 0, enqueued: 10 });
});

test('a pull that is to be tried again later is left alone until then', async () => {
  const planner = world.planner({ config: { ...CONFIG, startDate: YESTERDAY } });
  await world.prisma.$executeRaw`
    INSERT INTO conciliation.pull (origin, date, slot_at, requested_by, next_attempt_at)
    VALUES ('daily', ${YESTERDAY}::date, ${SLOT}, 'scheduler', now() + interval '1 hour')`;
  expect(await planner.runOnce()).toMatchObject({ created: 0, enqueued: 0 });
  await world.prisma.$executeRaw`UPDATE conciliation.pull SET next_attempt_at = now()`;
  expect(await planner.runOnce()).toMatchObject({ created: 0, enqueued: 1 });
});

/** Lets time pass for every pull: as if all of it had happened that much earlier. */
async function passMinutes(minutes: number) {
  await world.prisma.$executeRaw`
    UPDATE conciliation.pull
    SET created_at = created_at - make_interval(mins => ${minutes}),
        fetch_started_at = fetch_started_at - make_interval(mins => ${minutes})`;
}

test('a running pull without a job is taken over after two minutes', async () => {
  const planner = world.planner({ config: { ...CONFIG, startDate: YESTERDAY } });
  await planner.runOnce();
  const [id = 0n] = world.queue.enqueued;
  await startAttempt(world.database, id);
  world.queue.jobs.clear();
  expect(await planner.runOnce()).toMatchObject({ enqueued: 0 });
  await passMinutes(2);
  expect(await planner.runOnce()).toMatchObject({ enqueued: 1 });

  // A pull with a job belongs to a worker for any duration.
  await passMinutes(600);
  expect(await planner.runOnce()).toMatchObject({ enqueued: 0 });
});

test('a pull under way in a terminal is left to it, and found if the terminal dies', async () => {
  const planner = world.planner({ config: { ...CONFIG, startDate: addDays(YESTERDAY, 1) } });
  const id = await world.create(YESTERDAY, 'command line');
  expect(await planner.runOnce()).toMatchObject({ enqueued: 0 });
  await passMinutes(2);
  expect(await planner.runOnce()).toMatchObject({ enqueued: 1 });

  world.queue.jobs.clear();
  await startAttempt(world.database, id);
  await passMinutes(10);
  expect(await planner.runOnce()).toMatchObject({ enqueued: 0 });
  await passMinutes(5);
  expect(await planner.runOnce()).toMatchObject({ enqueued: 1 });
});

describe('pulls whose attempts are spent', () => {
  /** As a worker ends a pull whose last attempt has met an error. */
  const fail = (errorCode: string) => world.prisma.$executeRaw`
    UPDATE conciliation.pull SET state = 'failed', fetch_started_at = now(), finished_at = now(),
           error_code = ${errorCode}
    WHERE state IN ('queued', 'running')`;
  /** Lets time pass for every pull that has ended. */
  const passSince = (minutes: number) => world.prisma.$executeRaw`
    UPDATE conciliation.pull SET finished_at = finished_at - make_interval(mins => ${minutes}::int)`;
  const rounds = async () => {
    const rows = await world.prisma.$queryRaw<{ line: string }[]>`
      SELECT origin || ' ' || date || ' ' || round AS line FROM conciliation.pull
      WHERE state = 'queued' ORDER BY id`;
    return rows.map(({ line }) => line);
  };
  const config = { ...CONFIG, startDate: daysBefore(3) };
  const DUE = [
    'daily 2026-03-10',
    'lookback 2026-03-09',
    'lookback 2026-03-08',
    'daily 2026-03-07',
  ];

  test('are planned again after 5, 10, 20, 40 and then 60 minutes, for as long as they are due', async () => {
    const planner = world.planner({ config });
    for (const [round, minutes] of [5, 10, 20, 40, 60, 60, 60].entries()) {
      await planner.runOnce();
      expect(await rounds()).toEqual(DUE.map((line) => `${line} ${round}`));
      await fail('PLATFORM_UNAVAILABLE');
      await passSince(minutes - 1);
      await planner.runOnce();
      expect(await rounds()).toEqual([]);
      await passSince(1);
    }
    await planner.runOnce();
    await world.end('merged', { from: YESTERDAY });
    await fail('PLATFORM_CONTRACT');
    await passSince(60);
    await planner.runOnce();
    expect(await rounds()).toEqual(DUE.slice(1).map((line) => `${line} 8`));
  });

  test.each(['PLATFORM_REQUEST', 'CONFIG_INVALID', 'ATTEMPT_ABANDONED'])(
    'are not those that ended with %s',
    async (errorCode) => {
      await world.planner({ config }).runOnce();
      await fail(errorCode);
      await passSince(600);
      await world.planner({ config }).runOnce();
      expect(await rounds()).toEqual([]);
    },
  );
});

test('an unavailable queue loses nothing: the next run enqueues the pulls that this one created', async () => {
  const away: WakeUpQueue = {
    enqueue: () => Promise.reject(new Error('the queue is not available')),
    jobsOf: async () => new Set<bigint>(),
  };
  const run = await world.planner({ queue: away }).runOnce();
  expect(run).toMatchObject({ kind: 'failed', error: { message: 'the queue is not available' } });
  expect(await world.planner().runOnce()).toEqual({ kind: 'done', created: 0, enqueued: 10 });
});

test('runs that fail count as a fault of the process until one succeeds', async () => {
  let isAway = true;
  const queue: WakeUpQueue = {
    enqueue: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve()),
    jobsOf: async () => new Set<bigint>(),
  };
  const { log, logger } = recordingLogger('info');
  const patient = world.planner({ queue });
  const failing = world.planner({ queue, logger, failingMs: 0 });
  expect(failing.isFailing()).toBe(false);
  for (const planner of [patient, failing]) await planner.runOnce();
  expect(patient.isFailing()).toBe(false);
  expect([failing.isFailing(), failing.lastDoneAt()]).toEqual([true, null]);
  expect(log).toMatchObject([
    { msg: expect.stringMatching(/^planning failed/), err: { type: 'Error' } },
  ]);
  isAway = false;
  await failing.runOnce();
  expect([failing.isFailing(), failing.lastDoneAt()]).toEqual([false, expect.any(Date)]);
});

describe('providers to be pushed', () => {
  const asked: number[] = [];
  const pushQueue: WakeUpQueue = {
    async enqueue(_id, delayMs = 0) {
      asked.push(delayMs);
    },
    jobsOf: async () => new Set(),
  };
  beforeEach(async () => {
    asked.length = 0;
    await clearProviders(world.database);
  });
  const write = (count: number) =>
    writeProviders(
      world.database,
      Array.from({ length: count }, (_, number) => providerOf(number)),
    );

  test('wake their worker at once where the batch is full, and in time where it is not', async () => {
    const planner = world.planner({ pushQueue });
    await planner.runOnce();
    expect(asked).toEqual([]);
    await write(99);
    await planner.runOnce();
    expect(asked).toEqual([expect.any(Number)]);
    expect(asked[0]).toBeGreaterThan(0);
    expect(asked[0]).toBeLessThanOrEqual(60_000);
    await write(100);
    await planner.runOnce();
    expect(asked.slice(1)).toEqual([0]);
  });

  test('wake no worker before the tick that precedes the next attempt', async () => {
    await write(100);
    const failed = (seconds: number) => world.prisma.$executeRaw`
      INSERT INTO conciliation.provider_batch (external_ids, finished_at, error_code, next_attempt_at)
      VALUES ('{F000001}', now(), 'PLATFORM_UNAVAILABLE', now() + make_interval(secs => ${seconds}::float8))`;
    await failed(600);
    const planner = world.planner({ pushQueue });
    await planner.runOnce();
    expect(asked).toEqual([]);
    await failed(30);
    await planner.runOnce();
    expect(asked).toEqual([expect.any(Number)]);
  });
});

test('a held pull whose staged rows a crash has emptied is superseded, and its date is planned again', async () => {
  const hold = async (origin: string, days: number, staged: string | null) => {
    const date = daysBefore(days);
    await world.prisma.$executeRaw`
      WITH held AS (
        INSERT INTO conciliation.pull (origin, date, requested_by, state, fence, titles, withdrawn)
        VALUES (${origin}, ${date}::date, 'test', 'held', nextval('conciliation.pull_fence_seq'), 5, 5)
        RETURNING id, fence
      )
      INSERT INTO conciliation.day (date, state, held_pull_id) SELECT ${date}::date, 'held', id FROM held`;
    if (staged !== null) await world.prisma.$executeRawUnsafe(staged);
  };
  const fence = "currval('conciliation.pull_fence_seq')";
  const base = `INSERT INTO conciliation.staged_base (fence, known, base_changed_at) VALUES (${fence}, 5, now())`;
  const reject = `INSERT INTO conciliation.staged_reject (fence, ordinal, reasons, raw, raw_bytes, raw_hash)
                  VALUES (${fence}, 0, '{}', '{}', 2, gen_random_uuid())`;
  await hold('lookback', 20, base);
  await hold('lookback', 21, reject);
  await hold('lookback', 22, null);
  await hold('repair', 23, null);
  await world.planner({ config: { ...CONFIG, startDate: YESTERDAY } }).runOnce();
  const pulls = await world.pulls();
  // No person waits for the new pulls, which get their jobs at once.
  const queued = pulls.filter(({ state }) => state === 'queued').map(({ id }) => id);
  expect([...world.queue.enqueued].sort()).toEqual(queued.sort());
  const ofDate = (days: number) =>
    pulls
      .filter(({ from }) => from === daysBefore(days))
      .map(({ origin, state }) => [origin, state]);
  expect([20, 21, 22, 23].map(ofDate)).toEqual([
    [['lookback', 'held']],
    [['lookback', 'held']],
    [
      ['lookback', 'superseded'],
      ['daily', 'queued'],
    ],
    [
      ['repair', 'superseded'],
      ['repair', 'queued'],
    ],
  ]);
  const days = await world.prisma.$queryRaw`
    SELECT state, held_pull_id IS NOT NULL AS "isHeld" FROM conciliation.day
    WHERE date = ${daysBefore(22)}::date OR date = ${daysBefore(20)}::date ORDER BY date`;
  expect(days).toEqual([
    { state: 'pending', isHeld: false },
    { state: 'held', isHeld: true },
  ]);
});
