import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { isStuck, startWatchdog } from '../../../src/queue/watchdog.ts';

const limitMs = 1000;
const stuck = { oldestDueAgeMs: 1001, sinceProgressMs: 1001, isBlocked: false };

test.each([
  [stuck, true],
  [{ ...stuck, oldestDueAgeMs: 0 }, false],
  [{ ...stuck, sinceProgressMs: 1000 }, false],
  [{ ...stuck, isBlocked: true }, false],
] as const)('%o is stuck: %s', (state, expected) => {
  expect(isStuck(state, limitMs)).toBe(expected);
});

async function stuckWithin(ms: number, options: { progress?: boolean; fails?: boolean }) {
  let calls = 0;
  const watchdog = startWatchdog({
    read: () =>
      options.fails === true
        ? Promise.reject(new Error('away'))
        : Promise.resolve({ oldestDueAgeMs: 1e9, isBlocked: false }),
    onStuck: () => {
      calls += 1;
    },
    logger: pino({ level: 'silent' }),
    limitMs: 60,
    checkIntervalMs: 10,
  });
  const until = performance.now() + ms;
  while (performance.now() < until) {
    if (options.progress === true) watchdog.progress();
    await sleep(5);
  }
  watchdog.stop();
  return calls;
}

test('it calls once when nothing moves', async () => {
  expect(await stuckWithin(400, {})).toBe(1);
});

test('it logs nothing while work progresses, and while the database is unavailable', async () => {
  expect(await stuckWithin(200, { progress: true })).toBe(0);
  expect(await stuckWithin(200, { fails: true })).toBe(0);
});
