import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PlatformContractError } from '../../../src/base/runtime/errors.ts';
import { TitleCutter } from '../../../src/core/reader/cutter.ts';
import { parseTitle } from '../../../src/core/reader/exact-title.ts';
import { FastReader } from '../../../src/core/reader/fast-reader.ts';
import { rawHash } from '../../../src/core/reader/known-texts.ts';
import { TitleFolds } from '../../../src/core/title/title.ts';
import { fuzzInput } from '../../fuzz/documents.ts';
import { ordinalsOf } from '../../support/copy-rows.ts';
import { titleText } from '../../support/titles.ts';
import { FENCE, knowing, readAnswer, WINDOW } from './readers.ts';

/** Titles that end in every way, and that hold what looks like the boundary between two titles. */
const title = fc.constantFrom(
  titleText(),
  titleText({ uid: '},{"order":' }),
  titleText({ name: 'ã\u{1F600}' }),
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
const sizes = fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 1, maxLength: 8 });

function cut(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (let from = 0, index = 0; from < bytes.length; index += 1) {
    const length = 1 + (lengths[index % lengths.length] ?? 0);
    chunks.push(bytes.subarray(from, from + length));
    from += length;
  }
  return chunks;
}

/** The ordinals of the titles that are left to a reader that knows `texts`, on either way of reading. */
function readKnowing(texts: readonly Buffer[], chunks: readonly Buffer[]) {
  const known = knowing(texts);
  const fast = new FastReader({ fence: FENCE, known }, WINDOW, new TitleFolds());
  const cutter = new TitleCutter(fast);
  const left: number[] = [];
  try {
    for (const chunk of chunks) {
      for (const { ordinal, bytes, offset } of cutter.push(chunk)) {
        parseTitle(bytes, offset);
        if (!known.take(rawHash(bytes))) left.push(ordinal);
      }
    }
    cutter.end();
  } catch (error) {
    if (!(error instanceof PlatformContractError)) throw error;
    return { left: null, error: error.message, titlesRead: cutter.titlesRead };
  }
  left.push(...ordinalsOf(fast.takeRows()));
  expect(left.length + known.count).toBe(cutter.titlesRead);
  return { left: left.sort((a, b) => a - b), error: null, titlesRead: cutter.titlesRead };
}

/** The same by its definition; which of several copies are left does not matter. */
function without(titles: readonly string[], texts: readonly string[]): string[] {
  const unseen = [...texts];
  const left = titles.filter((text) => {
    const index = unseen.indexOf(text);
    if (index >= 0) unseen.splice(index, 1);
    return index < 0;
  });
  return left.sort();
}

const textsOf = (ordinals: readonly number[] | null, titles: readonly string[]) =>
  ordinals?.map((ordinal) => titles[ordinal]).sort();

const toLatin1 = (text: string) => Buffer.from(text).toString('latin1');
const toBuffers = (texts: readonly string[]) => texts.map((text) => Buffer.from(text, 'latin1'));

describe('a TitleCutter that knows titles', () => {
  it('hands out the others, wherever the chunks end', () => {
    fc.assert(
      fc.property(
        answer,
        fc.array(title, { maxLength: 40 }),
        sizes,
        ({ titles, bytes }, also, lengths) => {
          for (const texts of [titles, also, [...titles, ...also], titles.slice(1)]) {
            const known = texts.map(toLatin1);
            const read = readKnowing(toBuffers(known), cut(bytes, lengths));
            expect(read.error).toBeNull();
            expect(read.titlesRead).toBe(titles.length);
            const all = titles.map(toLatin1);
            expect(textsOf(read.left, all)).toEqual(without(all, known));
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('refuses what one refuses that knows nothing, for the same reason', () => {
    fc.assert(
      fc.property(answer, fc.nat(), ({ titles, bytes }, seed) => {
        const { chunks } = fuzzInput([bytes], String(seed), 0);
        const plain = readAnswer(chunks);
        const known = titles.map(toLatin1);
        const read = readKnowing(toBuffers(known), chunks);
        expect(read.error).toBe(plain.error);
        if (plain.titles === null) return;
        expect(textsOf(read.left, plain.titles)).toEqual(without(plain.titles, known));
      }),
      { numRuns: 1500 },
    );
  });
});
