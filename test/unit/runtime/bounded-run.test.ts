import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { boundedRun, OverdueError } from '../../../src/base/runtime/within.ts';

test('callers at the same time share one run', async () => {
  let runs = 0;
  const ask = boundedRun(
    async () => {
      runs += 1;
      await sleep(20);
      return runs;
    },
    { timeoutMs: 1000, keepMs: 0 },
  );
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([1, 1, 1]);
  expect(await ask()).toBe(2);
});

test('an outcome, good or bad, serves for as long as it is kept', async () => {
  let runs = 0;
  const ask = boundedRun(
    async () => {
      runs += 1;
      if (runs === 1) throw new Error('first');
      return runs;
    },
    { timeoutMs: 1000, keepMs: 60 },
  );
  await expect(ask()).rejects.toThrow('first');
  await expect(ask()).rejects.toThrow('first');
  await sleep(80);
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
  await expect(ask()).rejects.toThrow(OverdueError);
  await expect(ask()).rejects.toThrow(OverdueError);
  expect(runs).toBe(1);
  finish('late');
  expect(await ask()).toBe('late');
});
