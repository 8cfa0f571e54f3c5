import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutSlowly } from '../../fuzz/slow-titles.ts';
import { READABLE, REFUSED } from './answer-corpus.ts';
import { answerText, mutated } from './json-arbitraries.ts';
import { readAnswer, singleBytes, toBuffer } from './read-answer.ts';

/** The titles' bytes, one character a byte; null for an answer that has to be refused. */
function readByReference(bytes: Buffer): string[] | null {
  const answer = cutSlowly(bytes);
  if (answer === null) return null;
  return answer.titles.map(({ start, end }) => answer.text.slice(start, end));
}

describe('the titles that a TitleCutter finds in an answer', () => {
  it.each(Object.entries(READABLE))('reads %s, wherever the chunks end', (_, document) => {
    const bytes = toBuffer(document);
    const whole = readAnswer([bytes]);
    expect(whole.error).toBeNull();
    expect(whole.titles).toEqual(readByReference(bytes));
    for (let split = 0; split <= bytes.length; split++) {
      expect(readAnswer([bytes.subarray(0, split), bytes.subarray(split)])).toEqual(whole);
    }
    expect(readAnswer(singleBytes(bytes))).toEqual(whole);
  });

  it.each(Object.entries(REFUSED))(
    'refuses %s, wherever the chunks end',
    (_, { document, error }) => {
      const bytes = toBuffer(document);
      const whole = readAnswer([bytes]);
      expect(whole.error).toContain(error);
      expect(whole.isCut).toBe(false);
      expect(readByReference(bytes)).toBeNull();
      for (let split = 0; split <= bytes.length; split++) {
        expect(readAnswer([bytes.subarray(0, split), bytes.subarray(split)])).toEqual(whole);
      }
      expect(readAnswer(singleBytes(bytes))).toEqual(whole);
    },
  );

  it.each(Object.entries(READABLE))('distinguishes a cut from an end: %s', (_, document) => {
    const bytes = toBuffer(document);
    const closed = bytes.lastIndexOf('}') + 1;
    for (let length = 0; length < closed; length++) {
      const outcome = readAnswer([bytes.subarray(0, length)]);
      expect(outcome).toMatchObject({
        isCut: true,
        error: `the answer ends early, at byte ${length}`,
      });
    }
    for (let length = closed; length <= bytes.length; length++) {
      expect(readAnswer([bytes.subarray(0, length)]).error).toBeNull();
    }
  });

  it('reads titles byte for byte', () => {
    const { titles } = readAnswer([Buffer.from('{"titles":[ {"a" : 1.10}\n,"x", -0 ,[ ]\t]}')]);
    expect(titles).toEqual(['{"a" : 1.10}', '"x"', '-0', '[ ]']);
  });
});

describe('a TitleCutter beside a slow reference', () => {
  const answerBytes = answerText.map((text) => Buffer.from(text));
  const chunkLengths = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1 });

  function split(bytes: Buffer, lengths: number[]): Buffer[] {
    const chunks: Buffer[] = [];
    let from = 0;
    for (const length of lengths) {
      chunks.push(bytes.subarray(from, from + length));
      from += length;
    }
    return [...chunks, bytes.subarray(from)];
  }

  it('agrees on generated answers in chunks of any size', () => {
    fc.assert(
      fc.property(answerBytes, chunkLengths, (bytes, lengths) => {
        expect(readAnswer(split(bytes, lengths)).titles).toEqual(readByReference(bytes));
      }),
      { numRuns: 1500 },
    );
  });

  it('agrees on answers with one to three faults put in', () => {
    const faulty = fc.oneof(
      mutated(answerBytes),
      mutated(mutated(answerBytes)),
      mutated(mutated(mutated(answerBytes))),
    );
    fc.assert(
      fc.property(faulty, chunkLengths, (bytes, lengths) => {
        const whole = readAnswer([bytes]);
        expect(whole.titles).toEqual(readByReference(bytes));
        expect(readAnswer(split(bytes, lengths))).toEqual(whole);
      }),
      { numRuns: 4000 },
    );
  });

  it('agrees with the decoder on every UTF-8 sequence of up to two bytes, and around the limits of longer ones', () => {
    const every = Array.from({ length: 128 }, (_, index) => 0x80 + index);
    const limits = [0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2];
    const sequences = [
      ...every.flatMap((a) => [[a], ...every.map((b) => [a, b])]),
      ...every.flatMap((a) => limits.flatMap((b) => limits.map((c) => [a, b, c]))),
      ...every
        .slice(0x60)
        .flatMap((a) =>
          limits.flatMap((b) => limits.flatMap((c) => limits.map((d) => [a, b, c, d]))),
        ),
    ];
    const disagreed = sequences.filter((sequence) => {
      const text = Buffer.from(sequence);
      const answer = Buffer.concat([Buffer.from('{"a":"'), text, Buffer.from('","titles":[]}')]);
      return (readAnswer([answer]).error === null) !== isUtf8(text);
    });
    expect(disagreed).toEqual([]);
  });
});

it('a fault never quotes the answer', () => {
  for (const { document } of Object.values(REFUSED)) {
    const secret = toBuffer(document).toString().replaceAll('titles', 'titles-of-52998224725');
    expect(readAnswer([Buffer.from(secret)]).error ?? '').not.toContain('52998224725');
    const inTitle = Buffer.from(`{"titles":[{"a":"52998224725",${toBuffer(document)}]}`);
    expect(readAnswer([inTitle]).error).not.toContain('52998224725');
  }
});
