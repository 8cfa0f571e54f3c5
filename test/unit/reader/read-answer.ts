import { expect } from 'vitest';
import { PlatformContractError } from '../../../src/base/runtime/errors.ts';
import { TitleCutter } from '../../../src/core/reader/cutter.ts';
import { parseTitle } from '../../../src/core/reader/exact-title.ts';

export interface Outcome {
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
