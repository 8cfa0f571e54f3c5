import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { addDays, toCivilDate } from '../../../src/domain/business-day.ts';
import { dayWindow } from '../../../src/domain/pull-plan.ts';
import { SharedLoads } from '../../../src/pull/shared-loads.ts';
import type { Database } from '../../../src/staging/database.ts';
import type { DayLoad } from '../../../src/staging/load-days.ts';

/** What a merge takes. */
const MERGE_MS = 50;
/** The pulls of each merge. */
const merges: bigint[][] = [];

vi.mock('../../../src/staging/load-days.ts', () => ({
  async loadDays(_: Database, loads: readonly DayLoad[]) {
    const pulls = loads.map(({ attempt }) => attempt.pullId);
    merges.push(pulls);
    await new Promise((resolve) => setTimeout(resolve, MERGE_MS));
    return new Map(pulls.map((pullId) => [pullId, { status: 'fulfilled', value: null }]));
  },
}));

const database = {} as Database;
let shared: SharedLoads;
let lastPull = 0n;

beforeEach(() => {
  vi.useFakeTimers();
  merges.length = 0;
  lastPull = 0n;
  shared = new SharedLoads();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Pulls that are ready now, each of a date of its own unless it is told one. */
function arrive(count: number, date?: string): void {
  for (let index = 0; index < count; index += 1) {
    lastPull += 1n;
    const from =
      date === undefined ? addDays(toCivilDate('2026-01-01'), Number(lastPull)) : toCivilDate(date);
    const attempt = { pullId: lastPull, window: dayWindow(from) };
    void shared.load(database, { attempt } as DayLoad);
  }
}
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** The first has nobody to wait for. */
async function begin(): Promise<void> {
  arrive(1);
  await pass(0);
  expect(merges).toEqual([[1n]]);
}

test('what waits goes together, in the order of arrival, eight at a time', async () => {
  await begin();
  arrive(10);
  await pass(2 * MERGE_MS);
  expect(merges).toEqual([[1n], [2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n]]);
});

test('two pulls of a date are not merged together', async () => {
  await begin();
  arrive(2, '2026-07-01');
  arrive(1);
  await pass(1000);
  expect(merges).toEqual([[1n], [2n, 4n], [3n]]);
});

test('the next merge waits for as many as there were, for a moment', async () => {
  await begin();
  arrive(3);
  await pass(MERGE_MS);
  // One was merged, three wait: the fourth is awaited.
  expect(merges).toHaveLength(1);
  await pass(20);
  expect(merges).toHaveLength(1);
  arrive(1);
  await pass(0);
  expect(merges).toEqual([[1n], [2n, 3n, 4n, 5n]]);
  // All of them come back, one by one.
  await pass(MERGE_MS);
  for (let index = 0; index < 4; index += 1) {
    await pass(5);
    arrive(1);
  }
  await pass(0);
  expect(merges.at(-1)).toEqual([6n, 7n, 8n, 9n]);
});

test('who does not come is awaited once', async () => {
  await begin();
  arrive(3);
  await pass(MERGE_MS + 29);
  expect(merges).toHaveLength(1);
  await pass(1);
  expect(merges).toEqual([[1n], [2n, 3n, 4n]]);
  // No more than three are expected now.
  await pass(MERGE_MS);
  arrive(3);
  await pass(0);
  expect(merges.at(-1)).toEqual([5n, 6n, 7n]);
});

test('a pull that comes by itself waits for nobody', async () => {
  await begin();
  await pass(MERGE_MS);
  arrive(1);
  await pass(0);
  expect(merges).toEqual([[1n], [2n]]);
  arrive(3);
  await pass(10 * MERGE_MS);
  const before = merges.length;
  arrive(1);
  await pass(0);
  expect(merges).toHaveLength(before + 1);
});
