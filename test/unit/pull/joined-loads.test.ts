import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { addDays, type CivilDate, toCivilDate } from '../../../src/domain/business-day.ts';
import { dayWindow } from '../../../src/domain/pull-plan.ts';
import { JoinedLoads } from '../../../src/pull/joined-loads.ts';
import type { Database } from '../../../src/staging/database.ts';
import type { DayLoad } from '../../../src/staging/load-days.ts';

/** What a merge takes. */
const MERGE_MS = 50;
/** The pulls of each merge. */
const merges: bigint[][] = [];

/** Pulls that no merge can be made of. */
const broken = new Set<bigint>();

async function loadDays(_: Database, loads: readonly DayLoad[]) {
  const pulls = loads.map(({ attempt }) => attempt.pullId);
  merges.push(pulls);
  await new Promise((resolve) => setTimeout(resolve, MERGE_MS));
  if (pulls.some((pullId) => broken.has(pullId))) throw new Error('broken');
  return new Map(pulls.map((pullId) => [pullId, { status: 'fulfilled', value: null } as const]));
}

const database = {} as Database;
let joined: JoinedLoads;
/** Pulls that failed, and with what. */
const failures: [bigint, string][] = [];
let lastPull = 0n;

beforeEach(() => {
  vi.useFakeTimers();
  merges.length = 0;
  broken.clear();
  failures.length = 0;
  lastPull = 0n;
  joined = new JoinedLoads({ loadDays });
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
    load(lastPull, from);
  }
}

function load(pullId: bigint, date: CivilDate): void {
  const attempt = { pullId, window: dayWindow(date) };
  joined.load(database, { attempt } as DayLoad).catch(({ message }: Error) => {
    failures.push([pullId, message]);
  });
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

test('what failed together is merged alone when it comes next, and with others after that', async () => {
  await begin();
  broken.add(3n);
  arrive(3);
  await pass(4 * MERGE_MS);
  expect(merges.slice(1)).toEqual([[2n, 3n, 4n]]);
  const joinedFailure = expect.stringContaining('merged one by one');
  expect(failures).toEqual([2n, 3n, 4n].map((pullId) => [pullId, joinedFailure]));

  await pass(3_600_000);
  for (const pullId of [2n, 3n, 4n])
    load(pullId, addDays(toCivilDate('2026-01-01'), Number(pullId)));
  arrive(2);
  await pass(10 * MERGE_MS);
  expect(merges.slice(2)).toEqual([[2n], [3n], [4n], [5n, 6n]]);
  expect(failures.slice(3)).toEqual([[3n, 'broken']]);
  load(2n, toCivilDate('2026-01-03'));
  load(4n, toCivilDate('2026-01-05'));
  await pass(10 * MERGE_MS);
  expect(merges.at(-1)).toEqual([2n, 4n]);
});
