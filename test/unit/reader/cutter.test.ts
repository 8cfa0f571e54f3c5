import { describe, expect, it } from 'vitest';
import { cutSlowly } from '../../fuzz/slow-titles.ts';
import { READABLE, REFUSED } from './answer-corpus.ts';
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

it('a fault never quotes the answer', () => {
  for (const { document } of Object.values(REFUSED)) {
    const secret = toBuffer(document).toString().replaceAll('titles', 'titles-of-52998224725');
    expect(readAnswer([Buffer.from(secret)]).error ?? '').not.toContain('52998224725');
    const inTitle = Buffer.from(`{"titles":[{"a":"52998224725",${toBuffer(document)}]}`);
    expect(readAnswer([inTitle]).error).not.toContain('52998224725');
  }
});
