import { expect } from 'vitest';
import { PlatformContractError } from '../../../src/base/runtime/errors.ts';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import { TitleCutter } from '../../../src/core/reader/cutter.ts';
import { parseTitle } from '../../../src/core/reader/exact-title.ts';
import { KnownTexts, rawHash } from '../../../src/core/reader/known-texts.ts';
import type { PullWindow } from '../../../src/core/title/title-contract.ts';

/** Fences are larger than a number can be. */
export const FENCE = 9_007_199_254_740_993n;
export const WINDOW: PullWindow = { from: toCivilDate('2020-02-29'), to: null };

export function knowing(texts: readonly Buffer[]): KnownTexts {
  const hashes = texts.map((text) => rawHash(text)).sort();
  return new KnownTexts(Buffer.from(hashes.map((hash) => hash + hash).join(''), 'latin1'));
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
