import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { pushWorldOfFile } from '../../support/file-world.ts';
import { providerOf, readBatches, writeProviders } from '../../support/provider-rows.ts';

const world = pushWorldOfFile({ timeoutMs: 3_600_000 });

test('a process that waits for the platform keeps the right to push, and one that was stopped has lost it', async () => {
  await writeProviders(world.database, [providerOf(1)]);
  world.sandbox.faults.add({ kind: 'stall', afterBytes: 1 });
  const pushing = world.push().catch((error: unknown) => error);
  await expect.poll(() => world.requests()).toBe(1);
  await sleep(75_000);
  expect(await world.push()).toMatchObject({ kind: 'busy' });

  await world.forgetRequest();
  expect(await pushing).toMatchObject({
    code: 'STAGING_UNAVAILABLE',
    message: 'another process may push now',
  });
  expect(await readBatches(world.database)).toMatchObject([{ status: null, errorCode: null }]);
  expect(await world.push()).toMatchObject({ kind: 'done', synced: 1 });
});
