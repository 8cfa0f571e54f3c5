/**
 * Random histories are tried for a budget of seconds, so that a test of them takes as long today as when it has
 * learned more. A run of the tests gives each test a few; `npm run histories` gives one of them hours.
 */
import fc from 'fast-check';
import type { SeededRandom } from '../../src/demo/synthetic-titles.ts';

const SECONDS = Number(process.env['RANDOM_SECONDS'] ?? 10);
/** Of the first history; each later one has the next. */
const SEED = process.env['RANDOM_SEED'];
const isLong = process.env['RANDOM_SECONDS'] !== undefined;
const PROGRESS_EVERY_MS = 60_000;

/** Tries the histories of the seeds from RANDOM_SEED, or 1, on: `atLeast`, and more until the seconds are over. */
export async function tryHistories(
  atLeast: number,
  history: (seed: number) => Promise<void>,
): Promise<number> {
  const first = Number(SEED ?? 1);
  const [startMs, report] = [performance.now(), progress()];
  let tried = 0;
  while (tried < atLeast || performance.now() - startMs < SECONDS * 1000) {
    const seed = first + tried;
    await history(seed).catch((cause: unknown) => {
      throw new Error(`the history of RANDOM_SEED=${seed}`, { cause });
    });
    tried += 1;
    report(tried);
  }
  return tried;
}

/** The same for a property of fast-check, in rounds of `atLeast` runs. A failure is made as small as can be. */
export async function assertProperty<T>(
  atLeast: number,
  property: fc.IAsyncProperty<T>,
): Promise<void> {
  const startMs = performance.now();
  const report = progress();
  // Without RANDOM_SEED another one each time; the report of a failure names it.
  const first = Number(SEED ?? Date.now() % 2 ** 31);
  for (let round = 0; round === 0 || performance.now() - startMs < SECONDS * 1000; round += 1) {
    await fc.assert(property, { numRuns: atLeast, seed: first + round });
    report((round + 1) * atLeast);
  }
}

/** For a long run: how fast it is, and whether anything grows. */
function progress(): (tried: number) => void {
  const startMs = performance.now();
  let saidMs = startMs;
  return (tried) => {
    const nowMs = performance.now();
    if (!isLong || nowMs - saidMs < PROGRESS_EVERY_MS) return;
    saidMs = nowMs;
    const { heapUsed, rss } = process.memoryUsage();
    const [heapUsedMiB, rssMiB] = [heapUsed, rss].map((bytes) => Math.round(bytes / 2 ** 20));
    const seconds = Math.round((nowMs - startMs) / 1000);
    process.stdout.write(`${JSON.stringify({ tried, seconds, heapUsedMiB, rssMiB })}\n`);
  };
}

export const shuffled = <T>(items: readonly T[], random: SeededRandom): T[] =>
  items
    .map((item) => ({ item, key: random(2 ** 31) }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);

/** An amount of so many cents. */
export const amountOf = (cents: number) =>
  `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
