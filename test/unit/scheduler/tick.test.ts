import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Planner, startTicker } from '../../../src/core/planner/planner.sql.ts';

type PlannerRun = Awaited<ReturnType<Planner['runOnce']>>;

const MINUTE_MS = 60_000;
const NOON_MS = Date.UTC(2026, 2, 10, 12, 0, 20);

let ticker: ReturnType<typeof startTicker> | undefined;
let ticks: string[];
const timeOfDay = () => new Date().toISOString().slice(11, 19);

beforeEach(() => {
  vi.useFakeTimers({ now: NOON_MS });
  ticks = [];
});
afterEach(async () => {
  await ticker?.stop();
  ticker = undefined;
  vi.useRealTimers();
});

/** A planner that writes down when it ran. */
function plannerOf(outcome: () => Promise<PlannerRun>): Pick<Planner, 'runOnce'> {
  return {
    runOnce() {
      ticks.push(timeOfDay());
      return outcome();
    },
  };
}
const done = () => Promise.resolve<PlannerRun>({ kind: 'done', created: 0, enqueued: 0 });

test('ticks at the start and then on every minute', async () => {
  ticker = startTicker(plannerOf(done));
  await vi.advanceTimersByTimeAsync(3 * MINUTE_MS);
  expect(ticks).toEqual(['12:00:20', '12:01:00', '12:02:00', '12:03:00']);
});

test('a clock that is set back an hour does not stop the ticks for an hour', async () => {
  ticker = startTicker(plannerOf(done));
  await vi.advanceTimersByTimeAsync(2 * MINUTE_MS);
  vi.setSystemTime(Date.now() - 60 * MINUTE_MS);
  ticks = [];
  await vi.advanceTimersByTimeAsync(5 * MINUTE_MS);
  expect(ticks.length).toBeGreaterThanOrEqual(4);
});
