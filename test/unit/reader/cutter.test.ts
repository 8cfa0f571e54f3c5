import { describe, expect, it } from 'vitest';
import { MAX_TITLE_BYTES, TitleCutter } from '../../../src/core/reader/cutter.ts';
import { cutSlowly } from '../../fuzz/slow-titles.ts';
import { READABLE, REFUSED } from './answer-corpus.ts';
import { readAnswer } from './readers.ts';

/** The titles' bytes, one character a byte; null for an answer that has to be refused. */
function readByReference(bytes: Buffer): string[] | null {
  return cutSlowly(bytes)?.map((title) => title.getText()) ?? null;
}

/** The outcome of an answer, which must be the same wherever its chunks end. */
function readInAnyChunks(bytes: Buffer) {
  const whole = readAnswer([bytes]);
  for (let split = 0; split <= bytes.length; split++) {
    expect(readAnswer([bytes.subarray(0, split), bytes.subarray(split)])).toEqual(whole);
  }
  expect(readAnswer(singleBytes(bytes))).toEqual(whole);
  return whole;
}

const singleBytes = (bytes: Buffer) => Array.from(bytes, (byte) => Buffer.of(byte));

describe('the titles that a TitleCutter finds in an answer', () => {
  it.each(Object.entries(READABLE))('reads %s, wherever the chunks end', (_, document) => {
    const bytes = Buffer.from(document);
    const { error, titles } = readInAnyChunks(bytes);
    expect(error).toBeNull();
    expect(titles).toEqual(readByReference(bytes));
  });

  it.each(REFUSED)('refuses %s, wherever the chunks end', (_, document, error) => {
    const bytes = Buffer.from(document);
    const outcome = readInAnyChunks(bytes);
    expect(outcome.error).toContain(error);
    expect(outcome.isCut).toBe(false);
    expect(readByReference(bytes)).toBeNull();
  });

  it.each(Object.entries(READABLE))('distinguishes a cut from an end: %s', (_, document) => {
    const bytes = Buffer.from(document);
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
});

it('a fault never quotes the answer', () => {
  for (const [, document] of REFUSED) {
    const secret = document.toString().replaceAll('titles', 'titles-of-52998224725');
    expect(readAnswer([Buffer.from(secret)]).error ?? '').not.toContain('52998224725');
    const inTitle = Buffer.from(`{"titles":[{"a":"52998224725",${document}]}`);
    expect(readAnswer([inTitle]).error).not.toContain('52998224725');
  }
});

/** The titles of the chunks, copied before the next chunk overwrites them. */
function cut(cutter: TitleCutter, chunks: readonly (string | Buffer)[]) {
  return chunks.flatMap((chunk) =>
    Array.from(cutter.push(Buffer.from(chunk)), (title) => ({
      ...title,
      bytes: Buffer.from(title.bytes),
    })),
  );
}

describe('a TitleCutter on hostile sizes', () => {
  it.each([10_000, 1_000_000])('cuts a title of %i nested arrays', (depth) => {
    const cutter = new TitleCutter();
    const title = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const [first] = cut(cutter, [`{"titles":[${title}]}`]);
    cutter.end();
    expect(first?.byteLength).toBe(2 * depth);
    expect(first?.truncated).toBe(2 * depth > MAX_TITLE_BYTES);
  });

  it('keeps track of objects and arrays at any depth', () => {
    const depth = 100_000;
    const opened = '[{"a":'.repeat(depth);
    const closed = '}]'.repeat(depth);
    const answer = (end: string) => Buffer.from(`{"titles":[],"a":${opened}1${end}}`);
    expect(readAnswer([answer(closed)]).error).toBeNull();
    expect(readAnswer([answer(`${'}]'.repeat(depth - 1)}]}`)]).error).toContain('is not JSON');
  });

  it.each([
    ['before', '{"a":"', '","titles":[7]}'],
    ['after', '{"titles":[7],"a":"', '"}'],
  ])('refuses more than 1 MiB %s the titles', (_, before, after) => {
    const room = 1024 * 1024 - '{"a":"","titles":[]}'.length;
    const read = (size: number) =>
      readAnswer([before, 'x'.repeat(size), after].map((text) => Buffer.from(text)));
    expect(read(room).titles).toEqual(['7']);
    expect(read(room + 1).error).toContain('more than 1048576 bytes outside of the titles');
  });

  it.each([
    ['exactly at the limit', 0, false],
    ['one byte beyond it', 1, true],
  ])('truncates no title but the too long: %s', (_, excess, truncated) => {
    const title = `"${'x'.repeat(MAX_TITLE_BYTES - 2 + excess)}"`;
    const answer = `{"titles":[${title}]}`;
    for (const chunks of [[answer], [answer.slice(0, 5000), answer.slice(5000)]]) {
      const titles = cut(new TitleCutter(), chunks);
      expect(titles).toHaveLength(1);
      expect(titles[0]).toMatchObject({ truncated, byteLength: title.length });
      expect(titles[0]?.bytes.toString()).toBe(title.slice(0, MAX_TITLE_BYTES));
    }
  });
});

describe('the other root fields of an answer', () => {
  function otherFieldsOf(answer: string): string[] {
    const cutter = new TitleCutter();
    cut(cutter, singleBytes(Buffer.from(answer)));
    cutter.end();
    return [...cutter.otherFields];
  }

  it('are named once each, decoded, and nested ones are not', () => {
    const answer = '{"a":{"no":1},"\\u00e9":[],"titles":[{"no":1}],"a":2,"€":3,"":4}';
    expect(otherFieldsOf(answer)).toEqual(['a', 'é', '€', '']);
  });

  it('have their names shortened, and made fit to store', () => {
    const answer = `{"${'n'.repeat(201)}":1,"\\u0000\\ud800\\n":3,"titles":[]}`;
    expect(otherFieldsOf(answer)).toEqual([`${'n'.repeat(199)}…`, '\u{fffd}\u{fffd}\u{fffd}']);
  });

  it('are counted to a hundred', () => {
    const fields = Array.from({ length: 1000 }, (_, index) => `"f${index}":0`);
    expect(otherFieldsOf(`{${fields.join(',')},"titles":[]}`)).toHaveLength(100);
  });
});
