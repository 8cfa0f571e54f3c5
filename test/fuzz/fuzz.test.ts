/**
 * The readers of the platform's answers beside slow ones that share no line with them. A difference
 * names the seed and the index, which make the same input again.
 */
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { toCivilDate } from '../../src/base/values/business-day.ts';
import type { PullWindow } from '../../src/core/title/title-contract.ts';
import { tryHistories } from '../support/random-runs.ts';
import { answerCorpus, fuzzInput } from './documents.ts';
import { readBothWays, toSlowTitle } from './engine-titles.ts';
import { readTitlesSlowly } from './slow-titles.ts';

const INPUTS = 2_000;
const CORPUS = answerCorpus(toCivilDate('2026-03-02'));
const WINDOW: PullWindow = { from: toCivilDate('2020-02-29'), to: null };

/** How many answers were refused, and what became of the titles of the others. */
const tally = { refused: 0, accepted: 0, rejected: 0 };

/** The difference in words; null if the results are equal. */
function differenceOf(bytes: Buffer, chunks: readonly Buffer[]): string | null {
  const slow = readTitlesSlowly(bytes, WINDOW);
  const { fast, ordinary } = readBothWays(chunks, WINDOW);
  if (slow === null || fast === null || ordinary === null) {
    tally.refused += 1;
    if (slow === null && fast === null && ordinary === null) return null;
    return `refused: slow ${slow === null}, fast ${fast === null}, ordinary ${ordinary === null}`;
  }
  if (slow.length !== fast.length || slow.length !== ordinary.length) {
    return `titles: slow ${slow.length}, fast ${fast.length}, ordinary ${ordinary.length}`;
  }
  for (const [ordinal, title] of slow.entries()) {
    const row = ordinary[ordinal] ?? null;
    const fastRow = fast[ordinal] ?? null;
    if (!isDeepStrictEqual(row, fastRow)) return `title ${ordinal}: fast and ordinary differ`;
    if (title === null || row === null) {
      tally.rejected += 1;
      if (title === null && row === null) continue;
      return `title ${ordinal}: rejected by ${title === null ? 'slow' : 'the engine'} alone`;
    }
    tally.accepted += 1;
    const read = toSlowTitle(row);
    const column = Object.keys(title).find((name) => read?.[name] !== title[name]);
    if (column !== undefined) {
      return `title ${ordinal}: ${column} is ${read?.[column]}, slowly ${title[column]}`;
    }
  }
  return null;
}

test('no difference among random answers', { timeout: 0 }, async () => {
  const { stackTraceLimit } = Error;
  // Most inputs are refused by an error, and gathering where it came from is most of what that costs.
  Error.stackTraceLimit = 0;
  const rounds = await tryHistories(5, async (seed) => {
    for (let index = 0; index < INPUTS; index += 1) {
      const { bytes, chunks } = fuzzInput(CORPUS, String(seed), index);
      try {
        const difference = differenceOf(bytes, chunks);
        if (difference !== null) throw new Error(difference);
      } catch (error) {
        const input = bytes.toString('base64');
        throw new Error(`seed ${seed}, input ${index}, ${input}: ${error}`, { cause: error });
      }
    }
  }).finally(() => {
    Error.stackTraceLimit = stackTraceLimit;
  });
  // Of no use if mutation only ever broke the frame, or never did.
  expect(tally.refused).toBeGreaterThan((rounds * INPUTS) / 10);
  expect(tally.accepted).toBeGreaterThan((rounds * INPUTS) / 10);
  expect(tally.rejected).toBeGreaterThan((rounds * INPUTS) / 20);
});
