/** A process that does nothing keeps the right to push for a minute, and one that works for as long as it does. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, type TestContext, test } from 'vitest';
import { tryPushLock } from '../../../src/features/providers/push-lock.sql.ts';
import { environmentOf, startCommand } from '../../support/child-command.ts';
import { providerOf, writeProviders } from '../../support/provider-rows.ts';
import { openPullWorld } from '../../support/pull-world.ts';

/** Longer than PostgreSQL lets a transaction be idle. */
const HELD_MS = 75_000;

/** A command that has the right to push and waits for the platform, and the number of its requests. */
async function startHolder({ onTestFinished }: TestContext) {
  const world = await openPullWorld();
  onTestFinished(() => world.close());
  await writeProviders(world.database, [providerOf(1)]);
  let requests = 0;
  const platform = createServer(() => {
    requests += 1;
  });
  platform.listen(0, '127.0.0.1');
  await once(platform, 'listening');
  onTestFinished(async () => {
    platform.closeAllConnections();
    platform.close();
  });
  const holder = startCommand(['providers', 'push'], {
    ...environmentOf(world),
    PLATFORM_BASE_URL: `http://127.0.0.1:${(platform.address() as AddressInfo).port}`,
    PLATFORM_TIMEOUT_SECONDS: '3600',
  });
  onTestFinished(async () => {
    holder.kill('SIGKILL');
    await holder.ended;
  });
  await expect.poll(() => requests).toBe(1);
  return { world, holder };
}

test.concurrent('a process that waits for the platform keeps the right', async (context) => {
  const { world } = await startHolder(context);
  await sleep(HELD_MS);
  expect(await tryPushLock(world.database)).toBeNull();
});

test.concurrent('a process that was stopped loses the right, and records nothing when it wakes', async (context) => {
  const { world, holder } = await startHolder(context);
  holder.kill('SIGSTOP');
  const take = async () => {
    const lock = await tryPushLock(world.database);
    await lock?.release();
    return lock !== null;
  };
  expect(await take()).toBe(false);
  await expect.poll(take, { interval: 1_000 }).toBe(true);

  holder.kill('SIGCONT');
  const { exit, stderr } = await holder.ended;
  expect(exit).not.toBe(0);
  expect(stderr).toContain('the session that held the right to push is gone');
  const [batch] = await world.database.prisma.$queryRaw<unknown[]>`
    SELECT finished_at FROM conciliation.provider_batch`;
  expect(batch).toEqual({ finished_at: null });
});
