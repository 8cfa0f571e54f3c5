/** The end of the service, and the recovery of the work that it left. */
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { openQueues } from '../../../src/core/work/job-queue.ts';
import { forTest } from '../../support/for-tests.ts';
import { lockWaits } from '../../support/lock-waits.ts';
import { logger } from '../../support/logger.ts';
import { daysFrom, TODAY } from '../../support/pull-world.ts';
import { errorsOf } from '../../support/service-process.ts';
import { dueSince, eventually, openServiceWorld, readPulls } from '../../support/service-world.ts';

const MERGING = daysFrom(-2, TODAY);
const STALLED = daysFrom(-1, TODAY);

const world = forTest(() => openServiceWorld({ environment: dueSince(MERGING) }));

test('SIGTERM: a merge ends, a fetch is given up and handed back, exit 0', async () => {
  const service = world.spawn({ overrides: null });
  // One date waits for the lock that every merge takes last; the answer for the other has begun and does not end.
  const closing = new Client({ connectionString: world.databaseUrl });
  await closing.connect();
  await closing.query('BEGIN');
  await closing.query("SELECT FROM conciliation.program_lock WHERE name = 'closing' FOR UPDATE");
  world.sandbox.faults.add({ kind: 'stall', afterBytes: 1_000, date: STALLED });
  await eventually(async () => {
    expect(await readPulls(world)).toMatchObject([{ state: 'running' }, { state: 'running' }]);
    expect(world.sandbox.requests).toMatchObject([{ status: 200 }, { status: 200 }]);
  });
  await lockWaits(world.database);
  service.send('SIGTERM');
  // Before the grace of a merge is over, after which the merge is given up, too.
  await eventually(async () =>
    expect(await readPulls(world)).toEqual([
      { date: MERGING, state: 'running', attempts: 1 },
      { date: STALLED, state: 'queued', attempts: 0 },
    ]),
  );
  await closing.end();
  expect(await service.ended).toEqual({ exit: 0, signal: null, text: '' });
  expect(await readPulls(world)).toEqual([
    { date: MERGING, state: 'merged', attempts: 1 },
    { date: STALLED, state: 'queued', attempts: 0 },
  ]);
  expect(service.log.at(-1)?.msg).toBe('service stopped');
  expect(errorsOf(service)).toEqual([]);
  expect(service.logged('database connection lost')).toEqual([]);

  // Handed back, so that the next process need not wait until a lock expires.
  const { databaseUrl } = world;
  const queues = await openQueues({ redisUrl: null, databaseUrl, logger });
  const counts = await queues.pull.counts();
  await queues.close();
  expect(counts).toMatchObject({ waiting: 1, active: 0 });
  const next = world.spawn({ overrides: null });
  await expectBothPulled();
  next.send('SIGTERM');
  expect(await next.ended).toEqual({ exit: 0, signal: null, text: '' });
  expect(errorsOf(next)).toEqual([]);
});

test('each role does its own part, and together they are the service', async () => {
  const scheduler = await world.start({ overrides: null, roles: ['scheduler'] });
  await eventually(async () => expect(await readPulls(world)).toHaveLength(2));
  const console = await world.start({ overrides: null, roles: ['console'] });
  const answer = await fetch(`${console.consoleUrl()}/readyz`);
  expect(answer.status).toBe(200);
  // The scheduler has a check of its own.
  expect(await answer.json()).toEqual({
    status: 'ready',
    checks: ['database', 'queue', 'clock'].map((name) => ({ ...{ name, ok: true, reason: null } })),
  });
  expect(scheduler.logged('console listening')).toEqual([]);
  expect(world.sandbox.requests).toEqual([]);
  expect(await readPulls(world)).toMatchObject([{ state: 'queued' }, { state: 'queued' }]);

  const worker = await world.start({ overrides: null, roles: ['worker'] });
  await expectBothPulled();
  for (const process of [scheduler, console, worker]) {
    process.send('SIGTERM');
    expect(await process.ended).toEqual({ exit: 0, signal: null, text: '' });
    expect(errorsOf(process)).toEqual([]);
  }
});

async function expectBothPulled(): Promise<void> {
  await eventually(async () =>
    expect(await readPulls(world)).toEqual([
      { date: MERGING, state: 'merged', attempts: 1 },
      { date: STALLED, state: 'merged', attempts: 1 },
    ]),
  );
}
