import { describe, expect, it } from 'vitest';
import { MAX_TITLE_BYTES, type RawTitle, TitleReader } from '../../../src/reader/title-stream.ts';
import { readAnswer, singleBytes, toBuffer } from './read-answer.ts';

describe('a TitleReader on hostile sizes', () => {
  const filler = Buffer.alloc(1024 * 1024, 'x');

  it.each([10_000, 1_000_000])('reads a title of %i nested arrays', (depth) => {
    const title = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const reader = new TitleReader();
    const [first] = reader.push(Buffer.from(`{"titles":[${title}]}`));
    reader.end();
    expect(first?.byteLength).toBe(2 * depth);
    expect(first?.truncated).toBe(2 * depth > MAX_TITLE_BYTES);
  });

  it('keeps track of objects and arrays at any depth', () => {
    const depth = 100_000;
    const opened = '[{"a":'.repeat(depth);
    const closed = '}]'.repeat(depth);
    const answer = (end: string) => Buffer.from(`{"titles":[],"a":${opened}1${end}}`);
    expect(readAnswer([answer(closed)]).error).toBeNull();
    expect(readAnswer([answer(`${'}]'.repeat(depth - 1)}]}`)]).error).toContain("no ',' or '}'");
  });

  it('finds titles after 5 MB of other fields', () => {
    const reader = new TitleReader();
    expect(reader.push(Buffer.from('{"a":["'))).toEqual([]);
    for (let count = 0; count < 5; count++) expect(reader.push(filler)).toEqual([]);
    const [title] = reader.push(Buffer.from('",{}],"titles":[7]}'));
    reader.end();
    expect(title?.bytes.toString()).toBe('7');
    expect([...reader.otherFields]).toEqual(['a']);
  });

  it('returns a title of 5 MB truncated, checks its grammar to the end, and continues', () => {
    const reader = new TitleReader();
    const titles = reader.push(Buffer.from('{"titles":[1,"'));
    for (let count = 0; count < 5; count++) titles.push(...reader.push(filler));
    titles.push(...reader.push(Buffer.from('",2]}')));
    reader.end();
    const [before, large, after] = titles;
    expect([before?.bytes.toString(), after?.bytes.toString()]).toEqual(['1', '2']);
    expect(large).toMatchObject({ ordinal: 1, byteLength: 5 * filler.length + 2, truncated: true });
    expect(large?.bytes.equals(Buffer.concat([Buffer.from('"'), filler.subarray(1)]))).toBe(true);
    expect(after?.ordinal).toBe(2);

    const broken = new TitleReader();
    broken.push(Buffer.from('{"titles":["'));
    for (let count = 0; count < 5; count++) broken.push(filler);
    expect(() => broken.push(Buffer.from('\\x"]}'))).toThrow('an unknown escape');
  });

  it.each([
    ['exactly at the limit', 0, false],
    ['one byte beyond it', 1, true],
  ])('cuts no title but the too long: %s', (_, excess, truncated) => {
    const title = `"${'x'.repeat(MAX_TITLE_BYTES - 2 + excess)}"`;
    const answer = Buffer.from(`{"titles":[${title}]}`);
    for (const chunks of [[answer], [answer.subarray(0, 5000), answer.subarray(5000)]]) {
      const reader = new TitleReader();
      const titles = chunks.flatMap((chunk) => reader.push(chunk));
      expect(titles).toHaveLength(1);
      expect(titles[0]).toMatchObject({ truncated, byteLength: title.length });
      expect(titles[0]?.bytes.toString()).toBe(title.slice(0, MAX_TITLE_BYTES));
    }
  });

  it('holds at most one title, for titles and other fields of any length', () => {
    const reader = new TitleReader();
    const before = process.memoryUsage().arrayBuffers;
    reader.push(Buffer.from('{"a":"'));
    for (let count = 0; count < 64; count++) reader.push(filler);
    reader.push(Buffer.from('","titles":["'));
    for (let count = 0; count < 64; count++) reader.push(filler);
    const held = process.memoryUsage().arrayBuffers - before;
    expect(held).toBeLessThan(4 * MAX_TITLE_BYTES);
    expect(reader.push(Buffer.from('"]}'))).toHaveLength(1);
  });

  it('copies no title that lies within one chunk', () => {
    const chunk = Buffer.from('{"titles":[{"a":1},{"b":2}]}');
    const titles = new TitleReader().push(chunk);
    expect(titles.map(({ bytes }) => bytes.buffer === chunk.buffer)).toEqual([true, true]);
    expect(titles.map(({ bytes }) => bytes.byteOffset - chunk.byteOffset)).toEqual([11, 19]);
  });

  it('leaves titles handed out untouched by later chunks', () => {
    const reader = new TitleReader();
    const texts = ['{"a":"first"}', '{"a":"second"}', '{"a":"third"}'];
    const answer = Buffer.from(`{"titles":[${texts.join(',')}]}`);
    const titles: RawTitle[] = [];
    for (let from = 0; from < answer.length; from += 7) {
      // A socket's chunk: fresh memory each time.
      titles.push(...reader.push(Uint8Array.from(answer.subarray(from, from + 7))));
    }
    expect(titles.map(({ bytes }) => bytes.toString())).toEqual(texts);
  });
});

describe('the other root fields of an answer', () => {
  function otherFieldsOf(answer: string | Buffer): string[] {
    const reader = new TitleReader();
    for (const byte of singleBytes(toBuffer(answer))) reader.push(byte);
    reader.end();
    return [...reader.otherFields];
  }

  it('are named once each, decoded, and nested ones are not', () => {
    const answer = '{"a":{"no":1},"\\u00e9":[],"titles":[{"no":1}],"a":2,"€":3,"":4}';
    expect(otherFieldsOf(answer)).toEqual(['a', 'é', '€', '']);
  });

  it('have their names shortened, and made fit to store', () => {
    const long = 'n'.repeat(201);
    const endless = 'n'.repeat(1201);
    const answer = `{"${long}":1,"${endless}":2,"\\u0000\\ud800\\n":3,"titles":[]}`;
    expect(otherFieldsOf(answer)).toEqual([
      `${'n'.repeat(199)}…`,
      '(a name of more than 1200 bytes)',
      '\u{fffd}\u{fffd}\u{fffd}',
    ]);
  });

  it('are counted to a hundred', () => {
    const fields = Array.from({ length: 1000 }, (_, index) => `"f${index}":0`);
    expect(otherFieldsOf(`{${fields.join(',')},"titles":[]}`)).toHaveLength(100);
  });
});
