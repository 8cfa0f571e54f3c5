import { expect } from 'vitest';
import { PlatformContractError } from '../../../src/base/runtime/errors.ts';
import { type CivilDate, toCivilDate } from '../../../src/base/values/business-day.ts';
import { type PullWindow, sweepWindow } from '../../../src/core/planner/pull-plan.ts';
import { type RawTitle, TitleCutter, type TitleShortcut } from '../../../src/core/reader/cutter.ts';
import { readExactTitle } from '../../../src/core/reader/exact-title.ts';
import { FastReader } from '../../../src/core/reader/fast-reader.ts';
import { PADDING_BYTES } from '../../../src/core/reader/json-bytes.ts';
import { KnownTexts } from '../../../src/core/reader/known-texts.ts';
import { encodeTitle } from '../../../src/core/reader/title-row.ts';
import { KnownTitles, rawHash } from '../../../src/core/title/known-titles.ts';
import {
  contentHash,
  identityHash,
  newestContentVersion,
  type Title,
} from '../../../src/core/title/title.ts';
import { TitleFold, TitleFolds } from '../../../src/core/title/title-fold.ts';
import { dateText, splitRows, valueIn } from '../../support/copy-rows.ts';

/** Fences are larger than a number can be. */
export const FENCE = 9_007_199_254_740_993n;
export const WINDOW: PullWindow = sweepWindow(toCivilDate('2020-02-29'));

export function knowing(texts: readonly Buffer[]): KnownTexts {
  const titles = new KnownTitles(texts.length);
  for (const text of texts) titles.add(rawHash(text), 0, 0);
  return new KnownTexts(titles, new TitleFold(newestContentVersion()));
}

/** A reader that knows no title, and the folds that it fills. */
export function fastReader(fence: bigint | null = FENCE, window = WINDOW) {
  const folds = new TitleFolds();
  const rows = fence === null ? null : { fence, known: knowing([]) };
  return { fast: new FastReader(rows, window, folds), folds };
}

/** The folds of dates, computed from the titles one by one. */
function expectFolds(folds: TitleFolds, titles: readonly Title[]): void {
  const hashes = new Map<CivilDate, bigint[]>();
  for (const title of titles) {
    const ofDate = hashes.get(title.accepted_date) ?? [];
    hashes.set(title.accepted_date, [...ofDate, BigInt(`0x${contentHash(title)}`)]);
  }
  for (const [date, ofDate] of hashes) {
    const sum = ofDate.reduce((total, one) => total + one, 0n) % 2n ** 128n;
    expect(folds.at(date).toText()).toBe(sum.toString(16).padStart(32, '0'));
    expect(folds.at(date).count).toBe(ofDate.length);
  }
}

/** Offers the fast reader a title by itself. */
export function readWhole(fast: FastReader, text: string | Buffer, ordinal: number): boolean {
  const bytes = Buffer.from(text);
  fast.open(Buffer.concat([bytes, Buffer.alloc(PADDING_BYTES)]), bytes.length);
  return fast.readAt(0, ordinal) === bytes.length;
}

/** The row of the ordinary path for a title without faults and drift; null for any other title. */
export function readOrdinary(bytes: Buffer, window = WINDOW): Title | null {
  try {
    const check = readExactTitle(bytes, window);
    return check.ok && check.drift.length === 0 ? check.title : null;
  } catch (error) {
    if (error instanceof PlatformContractError) return null;
    throw error;
  }
}

interface Reading {
  readonly handedOut: RawTitle[];
  readonly titlesRead: number;
  readonly error: string | null;
}

function readAll(chunks: readonly Buffer[], shortcut: TitleShortcut | null): Reading {
  const cutter = new TitleCutter(shortcut);
  const handedOut: RawTitle[] = [];
  let error: string | null = null;
  try {
    for (const chunk of chunks) {
      for (const raw of cutter.push(chunk)) {
        handedOut.push({ ...raw, bytes: Buffer.from(raw.bytes) });
      }
    }
    cutter.end();
  } catch (thrown) {
    if (!(thrown instanceof PlatformContractError)) throw thrown;
    error = `${thrown.message} ${JSON.stringify(thrown.context)}`;
  }
  return { handedOut, titlesRead: cutter.titlesRead, error };
}

/**
 * Reads a document with and without the shortcut, which must make no difference: same error, same
 * titles, the same bytes for the database. Returns the number of titles that took the short path.
 */
export function compareWays(chunks: readonly Buffer[], window = WINDOW): number {
  const { fast, folds } = fastReader(FENCE, window);
  const short = readAll(chunks, fast);
  const ordinary = readAll(chunks, null);
  const adding = fastReader(null, window);
  const added = readAll(chunks, adding.fast);
  expect(added.error).toBe(short.error);
  expect(added.handedOut.map(({ ordinal }) => ordinal)).toEqual(
    short.handedOut.map(({ ordinal }) => ordinal),
  );
  expect(adding.fast.takeRows()).toHaveLength(0);

  expect(short.error).toBe(ordinary.error);
  expect(short.titlesRead).toBe(ordinary.titlesRead);
  // The titles of a chunk in which the answer breaks off are handed out by neither.
  if (ordinary.error !== null) return fast.titlesRead;
  expect(fast.titlesRead + short.handedOut.length).toBe(ordinary.titlesRead);

  const left = new Set(short.handedOut.map(({ ordinal }) => ordinal));
  const titles: Title[] = [];
  const rows = ordinary.handedOut
    .filter(({ ordinal }) => !left.has(ordinal))
    .map(({ ordinal, bytes }) => {
      const title = readOrdinary(bytes, window);
      if (title === null)
        throw new Error(`the short path took a title that it must not take: ${bytes}`);
      titles.push(title);
      return encodeTitle(FENCE, ordinal, title, rawHash(bytes).toString('hex'));
    });
  expect(fast.takeRows().toString('latin1')).toBe(Buffer.concat(rows).toString('latin1'));
  expectFolds(folds, titles);
  expectFolds(adding.folds, titles);
  for (const { bytes, ...title } of short.handedOut) {
    const { bytes: expectedBytes, ...expected } = ordinary.handedOut[title.ordinal] ?? {};
    expect(title).toEqual(expected);
    // Not by `toEqual`, which takes seconds for a megabyte.
    expect(expectedBytes?.equals(bytes)).toBe(true);
  }
  return fast.titlesRead;
}

/** As `compareWays`, one title by itself. True if the title took the short path. */
export function compareTitle(text: string | Buffer, window = WINDOW): boolean {
  const bytes = Buffer.from(text);
  const { fast } = fastReader(FENCE, window);
  if (!readWhole(fast, bytes, 7)) return false;
  const title = readOrdinary(bytes, window);
  if (title === null)
    throw new Error(`the short path took a title that it must not take: ${bytes}`);
  const textHash = rawHash(bytes).toString('hex');
  const row = fast.takeRows();
  expect(row.toString('latin1')).toBe(encodeTitle(FENCE, 7, title, textHash).toString('latin1'));
  const [values = []] = splitRows(row);
  const bytesOf = (column: string) => valueIn('staged_title', values, column) ?? Buffer.alloc(0);
  expect(
    ['identity_hash', 'content_hash', 'raw_hash'].map((column) => bytesOf(column).toString('hex')),
  ).toEqual([identityHash(title), contentHash(title), textHash]);
  expect(dateText(bytesOf('accepted_date'))).toBe(title.accepted_date);
  return true;
}

export function documentOf(titles: readonly (string | Buffer)[]): Buffer {
  const parts = titles.flatMap((title, index) => [
    Buffer.from(index === 0 ? '' : ','),
    Buffer.from(title),
  ]);
  return Buffer.concat([Buffer.from('{"titles":['), ...parts, Buffer.from(']}')]);
}

export function inChunksOf(bytes: Buffer, size: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
  return chunks;
}
