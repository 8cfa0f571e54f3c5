import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY, openPullWorld, type PullWorld } from '../../support/pull-world.ts';

let world: PullWorld;
beforeAll(async () => {
  world = await openPullWorld();
});
afterAll(() => world.close());

async function attemptAnswered(status: number, attempts = 3) {
  world.sandbox.faults.add({ kind: 'status', status });
  const { pullId, kind } = await world.attempt(DAY, {
    retry: { attempts, backoffSeconds: 1 },
  });
  world.sandbox.faults.clear();
  const pull = await world.database.prisma.pull.findUniqueOrThrow({ where: { id: pullId } });
  return { kind, state: pull.state, attempts: pull.attempts };
}

test('an answer that may be better next time spends an attempt, and the pull waits for the next', async () => {
  expect(await attemptAnswered(500)).toEqual({ kind: 'retry', state: 'queued', attempts: 1 });
});

test('the last attempt is the last', async () => {
  expect(await attemptAnswered(500, 1)).toEqual({ kind: 'failed', state: 'failed', attempts: 1 });
});

test('a refused token spends none: it is no fault of the pull', async () => {
  expect(await attemptAnswered(401)).toEqual({
    kind: 'unauthorized',
    state: 'queued',
    attempts: 0,
  });
});

test('a refused request is not repeated', async () => {
  expect(await attemptAnswered(400)).toEqual({ kind: 'failed', state: 'failed', attempts: 1 });
});
