import { expect, test } from 'vitest';
import { StagingUnavailableError } from '../../../src/base/runtime/errors.ts';
import { tryPushLock } from '../../../src/features/providers/push-lock.sql.ts';
import { worldOfFile } from '../../support/file-world.ts';

const world = worldOfFile();

test('a process that lost its session has lost the right, also without a notification', async () => {
  const lock = await tryPushLock(world.database);
  const { rows } = await world.database.pool.query(`
    SELECT pg_terminate_backend(pid, 60000) AS ended FROM pg_stat_activity
    WHERE datname = current_database() AND state = 'idle in transaction' AND query LIKE '%program_lock%'`);
  expect(rows).toEqual([{ ended: true }]);
  const asking = world.database.prisma.$transaction(async (tx) => lock?.assertHeld(tx));
  await expect(asking.finally(() => lock?.release())).rejects.toBeInstanceOf(
    StagingUnavailableError,
  );
});
