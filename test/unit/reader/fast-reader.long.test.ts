import { expect, test } from 'vitest';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import { FastReader } from '../../../src/core/reader/fast-reader.ts';
import { PADDING_BYTES } from '../../../src/core/reader/json-bytes.ts';
import { TitleFolds } from '../../../src/core/title/title.ts';
import { TITLE_FIELDS } from '../../../src/core/title/title-schema.ts';
import { SyntheticTitles } from '../../../src/demo/synthetic-titles.ts';
import { ordinalsOf } from '../../support/copy-rows.ts';
import { FENCE, knowing, WINDOW } from './readers.ts';
import { TITLES_OF_EVERY_KIND } from './title-corpus.ts';

const DAY = toCivilDate('2026-03-02');

const syntheticTitles = [
  ...new SyntheticTitles({ seed: 'both ways', titlesPerDay: 1000, restate: true }).titlesOn(DAY, 5),
];

/** A reader that knows no title. */
const fastReader = () =>
  new FastReader({ fence: FENCE, known: knowing([]) }, WINDOW, new TitleFolds());

/** Offers the fast reader a title by itself. */
function readWhole(fast: FastReader, text: string | Buffer, ordinal: number): boolean {
  const bytes = Buffer.from(text);
  fast.open(Buffer.concat([bytes, Buffer.alloc(PADDING_BYTES)]));
  return fast.readAt(0, ordinal) === bytes.length;
}

// test/fuzz reads whole answers on both ways, in pieces of any size, and compares the rows.
test('a title takes the short path with white space, in another order, with fields that are missing, and after another title', () => {
  const reader = fastReader();
  const taken = TITLES_OF_EVERY_KIND.filter(({ text }, ordinal) =>
    readWhole(reader, text, ordinal),
  );
  expect(taken).toEqual(TITLES_OF_EVERY_KIND.filter(({ isUsual }) => isUsual));
  expect(reader.titlesRead).toBe(taken.length);
  expect(ordinalsOf(reader.takeRows())).toEqual(
    TITLES_OF_EVERY_KIND.flatMap(({ isUsual }, ordinal) => (isUsual ? ordinal : [])),
  );
});

test('the name of a field of another object is unknown', () => {
  const rest = '"acceptedDate":"2026-01-02","originalValue":1}';
  const isRead = (fields: string) => readWhole(fastReader(), `{${fields},${rest}`, 0);
  expect(isRead('"order":{"uid":"o"}')).toBe(true);
  for (const { path } of TITLE_FIELDS.filter((field) => field.path.includes('.'))) {
    const name = path.slice(path.lastIndexOf('.') + 1);
    expect([name, isRead(`"${name}":"o","order":{"uid":"o"}`)]).toEqual([name, false]);
  }
});

test('a usual title takes it with any values, and rows that were taken stay as they are meanwhile', () => {
  const reader = fastReader();
  const taken: { rows: Buffer; before: string }[] = [];
  for (let ordinal = 0; ordinal < 3000; ordinal++) {
    const title = syntheticTitles[ordinal % syntheticTitles.length] ?? '';
    expect([title, readWhole(reader, title, ordinal)]).toEqual([title, true]);
    if (ordinal % 37 !== 0) continue;
    const rows = reader.takeRows();
    taken.push({ rows, before: rows.toString('latin1') });
  }
  for (const { rows, before } of taken) expect(rows.toString('latin1')).toBe(before);
});
