import { describe, expect, test } from 'vitest';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import { readExactTitle } from '../../../src/core/reader/exact-title.ts';
import { rawHash } from '../../../src/core/reader/known-texts.ts';
import { encodeTitle } from '../../../src/core/reader/title-row.ts';
import { SyntheticTitles } from '../../../src/demo/synthetic-titles.ts';
import { ordinalsOf } from '../../support/copy-rows.ts';
import { titleText } from '../../support/titles.ts';
import { compareTitle, FENCE, fastReader, readWhole, WINDOW } from './readers.ts';
import { TITLES_OF_EVERY_KIND } from './title-corpus.ts';

const DAY = toCivilDate('2026-03-02');

const syntheticTitles = [
  ...new SyntheticTitles({ seed: 'both ways', titlesPerDay: 1000, restate: true }).titlesOn(DAY, 5),
];

// test/fuzz reads whole answers on both ways, in pieces of any size.
describe('a usual title', () => {
  test('takes the short path, with any values', () => {
    expect(syntheticTitles.filter((text) => !compareTitle(text))).toEqual([]);
  });

  test('takes it also with white space, in another order, and with fields that are missing', () => {
    for (const { text, isUsual } of TITLES_OF_EVERY_KIND) {
      expect([text, compareTitle(text)]).toEqual([text, isUsual]);
    }
  });
});

test('a reader continues after a title that it has left', () => {
  const reader = fastReader();
  const good = Buffer.from(titleText({ date: DAY, uid: 'good' }));
  expect(readWhole(reader, Buffer.from(titleText({ date: DAY, value: '1e99' })), 0)).toBe(true);
  expect(readWhole(reader, Buffer.from(titleText({ date: DAY, value: '1e101' })), 1)).toBe(false);
  expect(readWhole(reader, good, 2)).toBe(true);
  expect(reader.titlesRead).toBe(2);
  expect(ordinalsOf(reader.takeRows())).toEqual([0, 2]);
});

test('rows that were taken stay as they are while further titles are read', () => {
  const reader = fastReader();
  const taken: { rows: Buffer; before: string }[] = [];
  for (let ordinal = 0; ordinal < 3000; ordinal++) {
    const title = Buffer.from(syntheticTitles[ordinal % syntheticTitles.length] ?? '');
    expect(readWhole(reader, title, ordinal)).toBe(true);
    if (ordinal % 37 !== 0) continue;
    const rows = reader.takeRows();
    taken.push({ rows, before: rows.toString('latin1') });
  }
  for (const { rows, before } of taken) expect(rows.toString('latin1')).toBe(before);
});

test('a new value of an enumeration takes the ordinary path once', () => {
  const reader = fastReader();
  const withType = (type: string) =>
    Buffer.from(titleText({ date: DAY }).replace('INDIVIDUAL', type));
  const company = withType('COMPANY');
  expect(readWhole(reader, company, 0)).toBe(false);
  const check = readExactTitle(company, WINDOW);
  if (!check.ok) throw new Error('the title keeps the contract');
  expect(check.drift).toMatchObject([{ kind: 'unknown_value', value: 'COMPANY' }]);

  reader.admitDrift(check.title);
  expect(readWhole(reader, company, 1)).toBe(true);
  expect(reader.takeRows()).toEqual(
    encodeTitle(FENCE, 1, check.title, rawHash(company).toString('hex')),
  );
  // Neither another value nor another spelling of this one has been reported.
  for (const other of ['COMPANIES', 'COMPAN', 'company', 'COM\\u0050ANY']) {
    expect(readWhole(reader, withType(other), 2)).toBe(false);
  }
  expect(readWhole(reader, withType('INDIVIDUAL'), 3)).toBe(true);
});
