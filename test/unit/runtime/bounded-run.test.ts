import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { boundedRun, OverdueError } from '../../../src/base/runtime/timing.ts';

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
