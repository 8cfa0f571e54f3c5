import { expect, onTestFinished, test, vi } from 'vitest';
import { providerOf, readBatches, writeProviders } from '../../support/provider-rows.ts';
import { pushWorldOfFile } from '../../support/push-world.ts';

const world = pushWorldOfFile({ timeoutMs: 3_600_000 });

test('a process that waits for the platform keeps the right to push, and one that was stopped has lost it', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  await writeProviders(world.database, [providerOf(1)]);
  world.sandbox.faults.add({ kind: 'stall', afterBytes: 1 });
  const pushing = world.push().catch((error: unknown) => error);
  await expect.poll(() => world.requests()).toBe(1);
  // Longer than any renewal makes it, so that a renewal shows and no wait of the test ends it.
  const { prisma } = world;
  const lengthen = () => prisma.$executeRaw`
    UPDATE conciliation.provider_batch SET next_attempt_at = clock_timestamp() + interval '1 day'`;
  await lengthen();
  const isRenewed = async () => {
    vi.advanceTimersByTime(15_000);
    const [batch] = await prisma.$queryRaw<{ isShorter: boolean }[]>`
      SELECT next_attempt_at < clock_timestamp() + interval '1 hour' AS "isShorter" FROM conciliation.provider_batch`;
    return batch?.isShorter;
  };
  await expect.poll(isRenewed).toBe(true);
  await lengthen();
  expect(await world.push()).toMatchObject({ kind: 'busy' });

  await world.forgetRequest();
  vi.advanceTimersByTime(15_000);
  expect(await pushing).toMatchObject({
    code: 'STAGING_UNAVAILABLE',
    message: 'another process may push now',
  });
  expect(await readBatches(world.database)).toMatchObject([{ status: null, errorCode: null }]);
  expect(await world.push()).toMatchObject({ kind: 'done', synced: 1 });
});
