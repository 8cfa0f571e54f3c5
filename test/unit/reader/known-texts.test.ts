import fc from 'fast-check';
import { expect, it } from 'vitest';
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
        if (known.take(rawHash(bytes)) === null) left.push(ordinal);
      }
    }
    cutter.end();
  } catch (error) {
    if (!(error instanceof PlatformContractError)) throw error;
    return { left: null, error: error.message };
  }
  left.push(...ordinalsOf(fast.takeRows()));
  expect(left.length + known.count).toBe(cutter.titlesRead);
  return { left, error: null };
}

/** Refuses each of the texts once; which of several copies are left does not matter. */
function unlessIn(texts: readonly string[]) {
  const unseen = [...texts];
  return (text: string) => {
    const index = unseen.indexOf(text);
    if (index >= 0) unseen.splice(index, 1);
    return index < 0;
  };
}

it('a TitleCutter that knows titles hands out the others, and refuses what one refuses that knows nothing', () => {
  fc.assert(
    fc.property(
      answer,
      fc.array(title, { maxLength: 40 }),
      fc.nat(),
      ({ titles, bytes }, also, seed) => {
        const { chunks } = fuzzInput([bytes], String(seed), 0);
        const plain = readAnswer(chunks);
        for (const texts of [titles, also, [...titles, ...also], titles.slice(1)]) {
          const known = texts.map((text) => Buffer.from(text));
          const { left, error } = readKnowing(known, chunks);
          expect(error).toBe(plain.error);
          expect(left?.map((ordinal) => plain.titles?.[ordinal]).sort()).toEqual(
            plain.titles?.filter(unlessIn(known.map((text) => text.toString('latin1')))).sort(),
          );
        }
      },
    ),
    { numRuns: 1500 },
  );
});
