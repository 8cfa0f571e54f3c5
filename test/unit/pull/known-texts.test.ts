import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KnownTitles, rawHash } from '../../../src/domain/known-titles.ts';
import { PlatformContractError } from '../../../src/errors.ts';
import { TitleReader } from '../../../src/pull/title-stream.ts';
import { mutated } from './json-arbitraries.ts';
import { readAnswer } from './read-answer.ts';

/** Titles that end in every way, and that hold what looks like the boundary between two titles. */
const title = fc.constantFrom(
  '{"order":{"uid":"1"},"a":1}',
  '{"order":{"uid":"2"},"a":"},{\\"order\\":"}',
  '{"order":{"uid":"3"},"a":[{"b":1},{"order":{}},{"order":{"uid":"1"},"a":1}]}',
  '{"order":{"uid":"},{\'order\':{"},"a":{}}',
  '{"order": {}}',
  '{}',
  '{"a":{"a":{}}}',
  '[{"order":1},{"order":2}]',
  '"},{"',
  '1',
  'null',
  '{"order":"ã\u{1F600}"}',
);
const separator = fc.constantFrom(',', ', ', '\n , ', ' ,\n\n      ');
const answer = fc.tuple(fc.array(title, { maxLength: 40 }), separator).map(([titles, between]) => ({
  titles,
  bytes: Buffer.from(`{"titles":[${titles.join(between)}],"other":[{"order":1},{"order":2}]}`),
}));
const sizes = fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 8 });

function cut(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (let from = 0, index = 0; from < bytes.length; index += 1) {
    const length = 1 + (lengths[index % lengths.length] ?? 0);
    chunks.push(bytes.subarray(from, from + length));
    from += length;
  }
  return chunks;
}

/** What a reader hands out that knows `texts`; the titles in `latin1`, behind their ordinals. */
function readKnowing(texts: readonly string[], chunks: readonly Buffer[]) {
  const known = new KnownTitles(texts.length);
  for (const text of texts) known.add(rawHash(Buffer.from(text, 'latin1')), 0, 0);
  const reader = new TitleReader((textHash) => known.take(textHash) >= 0);
  const titles: string[] = [];
  try {
    for (const chunk of chunks) {
      for (const { ordinal, bytes, textHash } of reader.push(chunk)) {
        expect(textHash).toEqual(rawHash(bytes));
        titles.push(`${ordinal} ${bytes.toString('latin1')}`);
      }
    }
    reader.end();
    return { titles, error: null, titlesRead: reader.titlesRead };
  } catch (error) {
    if (!(error instanceof PlatformContractError)) throw error;
    return { titles: null, error: error.message, titlesRead: reader.titlesRead };
  }
}

/** The same, of what a reader hands out that knows nothing. */
function without(titles: readonly string[], texts: readonly string[]): string[] {
  const left = [...texts];
  return titles.flatMap((text, ordinal) => {
    const index = left.indexOf(text);
    if (index < 0) return [`${ordinal} ${text}`];
    left.splice(index, 1);
    return [];
  });
}

const toLatin1 = (text: string) => Buffer.from(text).toString('latin1');

describe('a TitleReader that knows titles', () => {
  it('hands out the others, wherever the chunks end', () => {
    fc.assert(
      fc.property(
        answer,
        fc.array(title, { maxLength: 40 }),
        sizes,
        ({ titles, bytes }, also, lengths) => {
          for (const texts of [titles, also, [...titles, ...also], titles.slice(1)]) {
            const known = texts.map(toLatin1);
            const read = readKnowing(known, cut(bytes, lengths));
            expect(read.error).toBeNull();
            expect(read.titlesRead).toBe(titles.length);
            expect(read.titles).toEqual(without(titles.map(toLatin1), known));
          }
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('refuses what one refuses that knows nothing, for the same reason', () => {
    fc.assert(
      fc.property(
        answer.chain(({ titles, bytes }) =>
          fc.record({ titles: fc.constant(titles), bytes: mutated(fc.constant(bytes)) }),
        ),
        sizes,
        ({ titles, bytes }, lengths) => {
          const chunks = cut(bytes, lengths);
          const plain = readAnswer(chunks);
          const known = titles.map(toLatin1);
          const read = readKnowing(known, chunks);
          expect(read.error).toBe(plain.error);
          if (plain.titles !== null) expect(read.titles).toEqual(without(plain.titles, known));
        },
      ),
      { numRuns: 5000 },
    );
  });
});
