import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { TokenUnusableError } from '../../../src/base/runtime/errors.ts';
import { fileToken } from '../../../src/core/platform/token.ts';
import { worldOfFile } from '../../support/file-world.ts';
import { openPlatform } from '../../support/platform-client.ts';
import { DAY } from '../../support/pull-world.ts';

const world = worldOfFile();

test.each([
  ['an answer that may be better next time spends one', 500, 3, 'retry', 'queued', 1],
  ['the last attempt is the last', 500, 1, 'failed', 'failed', 1],
  ['a refused token spends none: it is no fault of the pull', 401, 3, 'unauthorized', 'queued', 0],
  ['a refused request is not repeated', 400, 3, 'failed', 'failed', 1],
] as const)('%s', async (_, status, attempts, kind, state, spent) => {
  world.sandbox.faults.add({ kind: 'status', status });
  const outcome = await world.attempt(DAY, { retry: { attempts, backoffSeconds: 1 } });
  world.sandbox.faults.clear();
  const where = { id: outcome.pullId };
  const pull = await world.database.prisma.pull.findUniqueOrThrow({ where });
  expect([outcome.kind, pull.state, pull.attempts]).toEqual([kind, state, spent]);
});

test('a token that cannot be read spends none', async () => {
  const token = fileToken(join(tmpdir(), 'conciliation-no-token'));
  const platform = openPlatform('http://127.0.0.1:1', token);
  onTestFinished(() => platform.close());
  const { pullId, ...outcome } = await world.attempt(DAY, { platform });
  expect(outcome).toMatchObject({
    kind: 'unauthorized',
    error: { name: TokenUnusableError.name },
  });
  const pull = await world.database.prisma.pull.findUniqueOrThrow({ where: { id: pullId } });
  expect(pull).toMatchObject({ state: 'queued', attempts: 0 });
});
