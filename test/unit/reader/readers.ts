import { expect } from 'vitest';
import { PlatformContractError } from '../../../src/base/runtime/errors.ts';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import { TitleCutter } from '../../../src/core/reader/cutter.ts';
import { parseTitle, readExactTitle } from '../../../src/core/reader/exact-title.ts';
import { FastReader } from '../../../src/core/reader/fast-reader.ts';
import { PADDING_BYTES } from '../../../src/core/reader/json-bytes.ts';
import { KnownTexts, KnownTitles, rawHash } from '../../../src/core/reader/known-texts.ts';
import { encodeTitle } from '../../../src/core/reader/title-row.ts';
import {
  contentHash,
  identityHash,
  type Title,
  TitleFold,
  TitleFolds,
} from '../../../src/core/title/title.ts';
import type { PullWindow } from '../../../src/core/title/title-contract.ts';
import { dateText, splitRows, valueIn } from '../../support/copy-rows.ts';

/** Fences are larger than a number can be. */
export const FENCE = 9_007_199_254_740_993n;
export const WINDOW: PullWindow = { from: toCivilDate('2020-02-29'), to: null };

export function knowing(texts: readonly Buffer[]): KnownTexts {
  const titles = new KnownTitles(texts.length);
  for (const text of texts) titles.add(rawHash(text), 0, 0);
  return new KnownTexts(titles, new TitleFold());
}

/** A reader that knows no title. */
export const fastReader = (window = WINDOW) =>
  new FastReader({ fence: FENCE, known: knowing([]) }, window, new TitleFolds());

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

/**
 * Reads a title with the fast reader, whose row must be that of the ordinary path. True if the title took the short
 * path.
 */
export function compareTitle(text: string | Buffer, window = WINDOW): boolean {
  const bytes = Buffer.from(text);
  const fast = fastReader(window);
  if (!readWhole(fast, bytes, 7)) return false;
  const title = readOrdinary(bytes, window);
  if (title === null)
    throw new Error(`the short path took a title that it must not take: ${bytes}`);
  const textHash = rawHash(bytes).toString('hex');
  const row = fast.takeRows();
  expect(row.toString('latin1')).toBe(encodeTitle(FENCE, 7, title, textHash).toString('latin1'));
  const [values = []] = splitRows(row);
  const bytesOf = (column: string) => valueIn(values, column) ?? Buffer.alloc(0);
  expect(
    ['identity_hash', 'content_hash', 'raw_hash'].map((column) => bytesOf(column).toString('hex')),
  ).toEqual([identityHash(title), contentHash(title), textHash]);
  expect(dateText(bytesOf('accepted_date'))).toBe(title.accepted_date);
  return true;
}

interface Outcome {
  readonly titles: string[] | null;
  readonly error: string | null;
  readonly isCut: boolean;
}

/** One answer cut, and its titles parsed, in the order of the bytes. Titles with one character a byte. */
export function readAnswer(chunks: Iterable<Uint8Array>): Outcome {
  const cutter = new TitleCutter();
  const titles: string[] = [];
  try {
    for (const chunk of chunks) {
      for (const { ordinal, bytes, byteLength, truncated, offset } of cutter.push(chunk)) {
        parseTitle(bytes, offset);
        expect([ordinal, byteLength, truncated]).toEqual([titles.length, bytes.length, false]);
        titles.push(bytes.toString('latin1'));
      }
    }
    cutter.end();
  } catch (error) {
    if (!(error instanceof PlatformContractError)) throw error;
    const isCut = error.context['complete'] === false;
    return { titles: null, error: error.message, isCut };
  }
  expect(cutter.titlesRead).toBe(titles.length);
  return { titles, error: null, isCut: false };
}

export function toBuffer(document: string | Buffer): Buffer {
  return typeof document === 'string' ? Buffer.from(document) : document;
}

export function singleBytes(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
}
