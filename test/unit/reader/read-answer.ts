import { expect } from 'vitest';
import { type RawTitle, TitleReader } from '../../../src/reader/title-stream.ts';
import { PlatformContractError } from '../../../src/runtime/errors.ts';

export interface Outcome {
  readonly titles: string[] | null;
  readonly error: string | null;
  readonly isCut: boolean;
}

/** All of a `TitleReader`'s work on one answer. Titles with one character a byte. */
export function readAnswer(chunks: Iterable<Uint8Array>): Outcome {
  const reader = new TitleReader();
  const titles: RawTitle[] = [];
  try {
    for (const chunk of chunks) titles.push(...reader.push(chunk));
    reader.end();
  } catch (error) {
    if (!(error instanceof PlatformContractError)) throw error;
    const isCut = error.context['complete'] === false;
    return { titles: null, error: error.message, isCut };
  }
  expect(titles.map((title) => title.ordinal)).toEqual(titles.map((_, index) => index));
  expect(reader.titlesRead).toBe(titles.length);
  for (const { bytes, byteLength, truncated } of titles) {
    expect([byteLength, truncated]).toEqual([bytes.length, false]);
  }
  return { titles: titles.map(({ bytes }) => bytes.toString('latin1')), error: null, isCut: false };
}

export function toBuffer(document: string | Buffer): Buffer {
  return typeof document === 'string' ? Buffer.from(document) : document;
}

export function singleBytes(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
}
