import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { type CivilDate, toCivilDate } from '../../../src/base/values/business-day.ts';
import { dayWindow } from '../../../src/core/planner/pull-plan.ts';
import { readExactTitle } from '../../../src/core/reader/exact-title.ts';
import { encodeTitle } from '../../../src/core/reader/title-row.ts';
import { rawHash } from '../../../src/core/title/known-titles.ts';
import { SyntheticTitles } from '../../../src/demo/synthetic-titles.ts';
import { ordinalsOf } from '../../support/copy-rows.ts';
import { HOSTILE_DOCUMENTS } from '../../support/hostile-documents.ts';
import { HOSTILE_FIELDS } from '../../support/hostile-fields.ts';
import type { HostileStage } from '../../support/hostile-responses.ts';
import { HOSTILE_TITLES } from '../../support/hostile-titles.ts';
import type { RawBody } from '../../support/sandbox/sandbox.ts';
import { titleText } from '../../support/titles.ts';
import { READABLE, REFUSED } from './answer-corpus.ts';
import { toBuffer } from './read-answer.ts';
import {
  compareTitle,
  compareWays,
  documentOf,
  FENCE,
  fastReader,
  inChunksOf,
  readOrdinary,
  readWhole,
  WINDOW,
} from './read-both-ways.ts';
import { jsonTitle, TITLES_OF_EVERY_KIND } from './title-corpus.ts';

const DAY = toCivilDate('2026-03-02');

const syntheticTitles = [
  ...new SyntheticTitles({ seed: 'both ways', titlesPerDay: 1000, restate: true }).titlesOn(DAY, 5),
];

/** The body that a line of the hostile tables serves; null where it spoils something else. */
function bodyOf(serve: (stage: HostileStage, date: CivilDate) => unknown): Buffer | null {
  const bodies: RawBody[] = [];
  const sandbox = {
    setRawBody: (_: CivilDate, body: RawBody) => bodies.push(body),
    setDayTexts() {},
    faults: { add() {} },
  };
  // Lines that need more than a sandbox are of the transfer, not of the document.
  serve({ sandbox } as unknown as HostileStage, DAY);
  const [raw] = bodies;
  if (raw === undefined) return null;
  const { body } = raw;
  return typeof body === 'function' ? Buffer.concat([...body()]) : Buffer.from(body);
}

describe('a usual title', () => {
  test('takes the short path, with any values', () => {
    const document = documentOf(syntheticTitles);
    expect(compareWays([document])).toBe(syntheticTitles.length);
    expect(compareWays(inChunksOf(document, 65_536))).toBe(syntheticTitles.length);
    expect(compareWays(inChunksOf(document, 1000))).toBe(syntheticTitles.length);
  });

  test('takes it also with white space, in another order, and with fields that are missing', () => {
    for (const { text, isUsual } of TITLES_OF_EVERY_KIND) {
      expect([text, compareTitle(text)]).toEqual([text, isUsual]);
    }
  });

  test('has its hashes and its date', () => {
    expect(syntheticTitles.filter((text) => !compareTitle(text))).toEqual([]);
  });
});

describe('an answer read with the shortcut is the answer read without it', () => {
  const hostile = [...HOSTILE_DOCUMENTS, ...HOSTILE_TITLES, ...HOSTILE_FIELDS];
  const served = hostile.flatMap(({ name, serve }) => {
    const body = bodyOf(serve);
    return body === null ? [] : [{ name, body }];
  });

  it('of the hostile answers, nearly all', () => {
    expect(served.length).toBeGreaterThan(100);
  });

  it.each(served)('$name', ({ body }) => {
    compareWays([body], dayWindow(DAY));
    compareWays(inChunksOf(body, 65_536), dayWindow(DAY));
    if (body.length < 100_000) compareWays(inChunksOf(body, 97), dayWindow(DAY));
  });

  it.each(Object.entries(READABLE))('readable: %s', (_, document) => {
    compareWays([toBuffer(document)]);
  });

  it.each(Object.entries(REFUSED))('refused: %s', (_, { document }) => {
    compareWays([toBuffer(document)]);
  });

  test('split at every offset', () => {
    const [first = '', second = ''] = syntheticTitles;
    const odd = titleText({ date: DAY, more: ',"unknown":[1]' });
    const document = documentOf([first, odd, second]);
    for (let at = 1; at < document.length; at++) {
      const counted = compareWays([document.subarray(0, at), document.subarray(at)]);
      expect(counted).toBe(2);
    }
    expect(compareWays(inChunksOf(document, 1))).toBe(2);
  });

  test('generated titles, good and bad', () => {
    let short = 0;
    let all = 0;
    fc.assert(
      fc.property(fc.array(jsonTitle, { minLength: 1, maxLength: 4 }), fc.nat(3), (titles, cut) => {
        const document = documentOf(titles);
        short += compareWays(cut === 0 ? [document] : inChunksOf(document, 100 * cut));
        all += titles.length;
      }),
      { numRuns: 500 },
    );
    // Of no use if it were always one way.
    expect(short).toBeGreaterThan(all / 20);
    expect(short).toBeLessThan(all * 0.95);
  });
});

test('a reader continues after a title that it has left', () => {
  const { fast: reader } = fastReader();
  const good = Buffer.from(titleText({ date: DAY, uid: 'good' }));
  expect(readWhole(reader, Buffer.from(titleText({ date: DAY, value: '1e99' })), 0)).toBe(true);
  expect(readWhole(reader, Buffer.from(titleText({ date: DAY, value: '1e101' })), 1)).toBe(false);
  expect(readWhole(reader, good, 2)).toBe(true);
  expect(reader.titlesRead).toBe(2);
  expect(ordinalsOf(reader.takeRows())).toEqual([0, 2]);
});

test('rows that were taken stay as they are while further titles are read', () => {
  const { fast: reader } = fastReader();
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

test('rows that are not taken are kept', () => {
  const { fast: reader } = fastReader();
  const long = titleText({ date: DAY, name: 'n'.repeat(1000) });
  for (let ordinal = 0; ordinal < 2000; ordinal++) readWhole(reader, Buffer.from(long), ordinal);
  expect(ordinalsOf(reader.takeRows())).toEqual(Array.from({ length: 2000 }, (_, index) => index));
});

test('a title outside the window is left, also after one inside it', () => {
  const { fast: reader } = fastReader(FENCE, dayWindow(DAY));
  const inside = Buffer.from(titleText({ date: DAY }));
  const outside = Buffer.from(titleText({ date: toCivilDate('2026-03-03') }));
  const taken = [inside, outside, inside, outside].map((bytes, at) => readWhole(reader, bytes, at));
  expect(taken).toEqual([true, false, true, false]);
  expect(readOrdinary(outside, dayWindow(DAY))).toBe(null);
});

test('a new value of an enumeration takes the ordinary path once', () => {
  const { fast: reader } = fastReader();
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
