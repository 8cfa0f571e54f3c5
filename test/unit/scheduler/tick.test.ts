import { expect, onTestFinished, test, vi } from 'vitest';
import { startTicker } from '../../../src/core/planner/planner.sql.ts';

const MINUTE_MS = 60_000;

test('ticks at the start and on every minute, also in the hour after a clock was set back by an hour', async () => {
  vi.useFakeTimers({ now: Date.UTC(2026, 2, 10, 12, 0, 20) });
  let ticks: string[] = [];
  const ticker = startTicker({
    async runOnce() {
      ticks.push(new Date().toISOString().slice(11, 19));
      return { kind: 'done', created: 0, enqueued: 0 };
    },
  });
  onTestFinished(async () => {
    await ticker.stop();
    vi.useRealTimers();
  });
  await vi.advanceTimersByTimeAsync(3 * MINUTE_MS);
  expect(ticks).toEqual(['12:00:20', '12:01:00', '12:02:00', '12:03:00']);
  vi.setSystemTime(Date.now() - 60 * MINUTE_MS);
  ticks = [];
  await vi.advanceTimersByTimeAsync(5 * MINUTE_MS);
  expect(ticks.length).toBeGreaterThanOrEqual(4);
});
