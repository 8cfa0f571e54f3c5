/** A release that documents a field: the dates that are there keep the hashes that they have. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import { FastReader } from '../../../src/core/reader/fast-reader.ts';
import { KnownTitles } from '../../../src/core/reader/known-texts.ts';
import { ResponseReader } from '../../../src/core/reader/response-reader.ts';
import {
  CONTENT_VERSIONS,
  contentHash,
  newestContentVersion,
  VALUE_COLUMNS,
  type ValueColumn,
} from '../../../src/core/title/title.ts';
import { TitleFold, TitleFolds } from '../../../src/core/title/title-fold.ts';
import { splitRows, valueIn } from '../../support/copy-rows.ts';
import { titleText } from '../../support/titles.ts';
import { documentOf, FENCE, knowing, readOrdinary, readWhole, WINDOW } from './read-both-ways.ts';

const OLD_DAY = toCivilDate('2026-03-02');
const NEW_DAY = toCivilDate('2026-03-03');
const VERSIONS = new Map([[OLD_DAY, 1]]);

/** Version 1 as if `platform_commission` had been documented later. */
const versions = CONTENT_VERSIONS as (readonly ValueColumn[])[];
beforeEach(() => {
  versions.unshift(VALUE_COLUMNS.filter((column) => column !== 'platform_commission'));
});
afterEach(() => {
  versions.shift();
});

const texts = [OLD_DAY, NEW_DAY].map((date) => titleText({ date }));
const [oldText = '', newText = ''] = texts;
const restated = oldText.replace('"platformCommission":"0.5%"', '"platformCommission":"0.7%"');

function hashOf(text: string, version?: number): string {
  const title = readOrdinary(Buffer.from(text));
  if (title === null) throw new Error('the title keeps the contract');
  return contentHash(title, version);
}

test('the newest version covers every column, in their order', () => {
  expect(newestContentVersion()).toBeGreaterThan(1);
  expect(CONTENT_VERSIONS.at(-1)).toEqual(VALUE_COLUMNS);
});

test('an older version does not cover a column that came later', () => {
  expect(hashOf(restated, 1)).toBe(hashOf(oldText, 1));
  expect(hashOf(restated)).not.toBe(hashOf(oldText));
  expect(() => hashOf(oldText, newestContentVersion() + 1)).toThrow(RangeError);
});

test('a title of a date with older hashes takes the ordinary path', () => {
  for (const rows of [null, { fence: FENCE, known: knowing([]) }]) {
    const reader = new FastReader(rows, WINDOW, new TitleFolds(VERSIONS));
    const short = [oldText, newText, newText, oldText].map((text, ordinal) =>
      readWhole(reader, text, ordinal),
    );
    expect(short).toEqual([false, true, true, false]);
  }
});

test('a row and a fold have the hash of the version of their date', async () => {
  async function* chunks() {
    yield documentOf([oldText, newText, restated]);
  }
  const reader = new ResponseReader(
    { httpStatus: 200, chunks: chunks(), bytesReceived: () => 1 },
    { fence: FENCE, window: WINDOW, known: new KnownTitles(0), versions: VERSIONS },
  );
  const copied: (string | undefined)[] = [];
  for await (const { rows } of reader.read()) {
    for (const row of splitRows(Buffer.concat(rows))) {
      copied.push(valueIn(row, 'content_hash')?.toString('hex'));
    }
  }
  expect(copied.sort()).toEqual([hashOf(oldText, 1), hashOf(oldText, 1), hashOf(newText)].sort());
  const expected = new TitleFold(1);
  for (let copy = 0; copy < 2; copy++) expected.addDigits(hashOf(oldText, 1));
  const { folds } = reader.result;
  expect(folds.at(OLD_DAY).toText()).toBe(expected.toText());
  expect(folds.at(NEW_DAY)).toMatchObject({ count: 1, version: newestContentVersion() });
});
