/**
 * The readers of the platform's answers beside slow ones that share no line with them. 50,000 inputs by
 * default; `npm run fuzz -- --runs 10000000 --seed 7` for as many as wanted, with the memory sampled. A
 * difference names the seed and the index, which make the same input again.
 */
import { describe, expect, test } from 'vitest';
import { toCivilDate } from '../../src/domain/business-day.ts';
import { type PullWindow, sweepWindow } from '../../src/domain/pull-plan.ts';
import { toAnswerText } from '../../src/push/answer-text.ts';
import { findRefusals } from '../../src/push/provider-statuses.ts';
import { answerCorpus, fuzzInput } from './documents.ts';
import { readRows, toSlowTitle } from './engine-titles.ts';
import { providerAnswer, refusedSlowly, SENT } from './provider-answers.ts';
import { readTitlesSlowly } from './slow-titles.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 50_000);
const SEED = process.env['FUZZ_SEED'] ?? '1';
/** Of ten inputs one is an answer to a push. */
const PUSH_SHARE = 10;
const SAMPLES = 50;

const DAY = toCivilDate('2026-03-02');
const WINDOW: PullWindow = sweepWindow(toCivilDate('2020-02-29'));

interface Tally {
  refused: number;
  accepted: number;
  rejected: number;
}

/** What differs, in words; null where nothing does. */
function differenceOf(bytes: Buffer, chunks: readonly Buffer[], tally: Tally): string | null {
  const slow = readTitlesSlowly(bytes, WINDOW);
  const fast = readRows(chunks, WINDOW, true);
  const ordinary = readRows(chunks, WINDOW, false);
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
    if (row !== (fast[ordinal] ?? null)) return `title ${ordinal}: fast and ordinary differ`;
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

describe(`fuzzing, seed ${SEED}`, () => {
  test(`no difference among ${RUNS} answers`, { timeout: 0 }, () => {
    const corpus = answerCorpus(DAY);
    const tally: Tally = { refused: 0, accepted: 0, rejected: 0 };
    const every = Math.max(1, Math.floor(RUNS / SAMPLES));
    const rssMiB: number[] = [];
    for (let index = 0; index < RUNS; index += 1) {
      if (index % PUSH_SHARE === 0) expectSameRefusals(index);
      const { bytes, chunks } = fuzzInput(corpus, SEED, index);
      const difference = differenceOf(bytes, chunks, tally);
      if (difference !== null) {
        throw new Error(`seed ${SEED}, input ${index}: ${difference}\n${bytes.toString('base64')}`);
      }
      if (index % every === 0) rssMiB.push(Math.round(process.memoryUsage.rss() / 2 ** 20));
    }
    // Of no use if mutation only ever broke the frame, or never did.
    expect(tally.refused).toBeGreaterThan(RUNS / 10);
    expect(tally.accepted).toBeGreaterThan(RUNS / 10);
    expect(tally.rejected).toBeGreaterThan(RUNS / 20);
    if (process.env['FUZZ_RUNS'] !== undefined) {
      process.stdout.write(`${JSON.stringify({ seed: SEED, runs: RUNS, ...tally, rssMiB })}\n`);
    }
  });
});

function expectSameRefusals(index: number): void {
  const body = providerAnswer(SEED, index);
  const refusals = findRefusals(body, SENT);
  const slow = refusedSlowly(body);
  const storable = [...refusals.values(), toAnswerText(body)].every(
    (text) => !/[\0\p{Surrogate}]/u.test(text),
  );
  const isSame =
    refusals.size === slow.size && [...slow].every((externalId) => refusals.has(externalId));
  if (isSame && storable) return;
  throw new Error(`seed ${SEED}, push ${index}: ${body.toString('base64')}`);
}
