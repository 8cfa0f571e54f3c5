import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loop } from '../../../src/base/runtime/timing.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
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
