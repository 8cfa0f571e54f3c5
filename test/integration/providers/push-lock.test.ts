import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PushLock, tryPushLock } from '../../../src/providers/push-lock.sql.ts';
import { StagingUnavailableError } from '../../../src/runtime/errors.ts';
import { openPullWorld, type PullWorld } from '../../support/pull-world.ts';

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());

const ask = (lock: PushLock | null) =>
  world.database.prisma.$transaction(async (tx) => lock?.assertHeld(tx));

test('the right to push is one process’s until it gives it back', async () => {
  const lock = await tryPushLock(world.database);
  await ask(lock);
  expect(await tryPushLock(world.database)).toBeNull();
  await lock?.release();
  const next = await tryPushLock(world.database);
  await ask(next);
  await next?.release();
});

test('a process that lost its session has lost the right, also without a notification', async () => {
  const lock = await tryPushLock(world.database);
  const { rows } = await world.database.pool.query(`
    SELECT pg_terminate_backend(pid, 60000) AS ended FROM pg_stat_activity
    WHERE datname = current_database() AND state = 'idle in transaction' AND query LIKE '%program_lock%'`);
  expect(rows).toEqual([{ ended: true }]);
  const answer = await ask(lock).catch((error: unknown) => error);
  await lock?.release();
  expect(answer).toBeInstanceOf(StagingUnavailableError);
});
