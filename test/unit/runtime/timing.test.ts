import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { StagingUnavailableError } from '../../../src/base/runtime/errors.ts';
import { boundedRun, loop, OverdueError } from '../../../src/base/runtime/timing.ts';
import { recordingLogger } from '../../support/logger.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('callers at the same time share one run, whose outcome, good or bad, serves for as long as it is kept', async () => {
  let runs = 0;
  const ask = boundedRun(
    async () => {
      runs += 1;
      if (runs === 1) throw new Error('first');
      return runs;
    },
    { timeoutMs: 1000, keepMs: 60 },
  );
  const outcomes = await Promise.allSettled([ask(), ask()]);
  expect(outcomes).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  await vi.advanceTimersByTimeAsync(59);
  await expect(ask()).rejects.toThrow('first');
  await vi.advanceTimersByTimeAsync(1);
  expect(await ask()).toBe(2);
  expect(await ask()).toBe(2);
});

test('a run that hangs does not block callers, is not started twice, and is used when it ends', async () => {
  let runs = 0;
  let finish = (_value: string) => {};
  const ask = boundedRun(
    () => {
      runs += 1;
      return new Promise<string>((resolve) => {
        finish = resolve;
      });
    },
    { timeoutMs: 30, keepMs: 1000 },
  );
  for (let times = 0; times < 2; times += 1) {
    const overdue = expect(ask()).rejects.toThrow(OverdueError);
    await vi.advanceTimersByTimeAsync(30);
    await overdue;
  }
  expect(runs).toBe(1);
  finish('late');
  expect(await ask()).toBe('late');
});

/** Runs that end when the test says so. */
function heldRuns() {
  const ends: (() => void)[] = [];
  const run = () => new Promise<void>((resolve) => ends.push(resolve));
  const endLast = async () => {
    ends.at(-1)?.();
    await vi.advanceTimersByTimeAsync(0);
  };
  return { run, endLast, count: () => ends.length };
}

test('runs at once and after each interval, but never beside a run that is under way', async () => {
  const runs = heldRuns();
  const { stop } = loop({ everyMs: 1_000, run: runs.run });
  expect(runs.count()).toBe(1);
  await vi.advanceTimersByTimeAsync(3_500);
  expect(runs.count()).toBe(1);
  await runs.endLast();
  expect(runs.count()).toBe(1);
  await vi.advanceTimersByTimeAsync(500);
  expect(runs.count()).toBe(2);
  await runs.endLast();
  await stop();
});

test('one run follows the run under way, after any number of notifications', async () => {
  const runs = heldRuns();
  const { notify, stop } = loop({ run: runs.run });
  expect(runs.count()).toBe(0);
  notify();
  expect(runs.count()).toBe(1);
  notify();
  notify();
  await runs.endLast();
  expect(runs.count()).toBe(2);
  await runs.endLast();
  expect(runs.count()).toBe(2);
  await stop();
});

test('stop waits for the run under way, and no other run begins', async () => {
  const runs = heldRuns();
  const { notify, stop } = loop({ everyMs: 1_000, run: runs.run });
  notify();
  let isStopped = false;
  const stopped = stop().then(() => {
    isStopped = true;
  });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(isStopped).toBe(false);
  await runs.endLast();
  await stopped;
  notify();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(runs.count()).toBe(1);
});

test('an outage of the database is told once until a run succeeds, and any other error each time', async () => {
  const [away, defect] = [new StagingUnavailableError('away'), new Error('a defect')];
  const failures = [away, away, null, away, defect, defect];
  const { log, logger } = recordingLogger('info');
  const run = async () => {
    const failure = failures.shift() ?? null;
    if (failure !== null) throw failure;
  };
  const { stop } = loop({ everyMs: 1_000, run, failure: { logger, message: 'failed' } });
  await vi.advanceTimersByTimeAsync(6_500);
  await stop();
  expect(log.map(({ level }) => level)).toEqual([40, 40, 50, 50]);
});
