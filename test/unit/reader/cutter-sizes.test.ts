import { describe, expect, it } from 'vitest';
import { MAX_TITLE_BYTES, TitleCutter } from '../../../src/core/reader/cutter.ts';
import { readAnswer, singleBytes, toBuffer } from './read-answer.ts';
import { inChunksOf } from './read-both-ways.ts';

const MEBIBYTE = 1024 * 1024;
const filler = Buffer.alloc(MEBIBYTE, 'x');

/** The titles of the chunks, copied before the next chunk overwrites them. */
function cut(cutter: TitleCutter, chunks: readonly (string | Buffer)[]) {
  return chunks.flatMap((chunk) =>
    Array.from(cutter.push(toBuffer(chunk)), (title) => ({
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
    ['before', (field: Buffer) => ['{"a":"', field, '","titles":[7]}']],
    ['after', (field: Buffer) => ['{"titles":[7],"a":"', field, '"}']],
  ])('refuses more than 1 MiB %s the titles', (_, answer) => {
    const frame = '{"a":"","titles":[]}'.length;
    expect(readAnswer(answer(filler.subarray(frame)).map(toBuffer)).titles).toEqual(['7']);
    expect(readAnswer(answer(filler.subarray(frame - 1)).map(toBuffer)).error).toContain(
      'more than 1048576 bytes outside of the titles',
    );
  });

  it('counts no white space between titles, however long', () => {
    const space = ' '.repeat(3 * MEBIBYTE);
    const answer = `{"titles":[${space}{"a":1}${space},${space}[2]${space}]}`;
    for (const size of [answer.length, 65_536]) {
      expect(readAnswer(inChunksOf(Buffer.from(answer), size)).titles).toEqual(['{"a":1}', '[2]']);
    }
  });

  it('returns a title of 5 MB truncated, and continues', () => {
    const cutter = new TitleCutter();
    const large = Array.from({ length: 5 }, () => filler);
    const titles = cut(cutter, ['{"titles":[1,"', ...large, '",2]}']);
    cutter.end();
    expect(titles.map(({ ordinal }) => ordinal)).toEqual([0, 1, 2]);
    expect([titles[0], titles[2]].map((title) => title?.bytes.toString())).toEqual(['1', '2']);
    expect(titles[1]).toMatchObject({ byteLength: 5 * filler.length + 2, truncated: true });
    expect(titles[1]?.bytes.equals(Buffer.concat([Buffer.from('"'), filler.subarray(1)]))).toBe(
      true,
    );
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
