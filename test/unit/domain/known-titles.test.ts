import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KnownTitles, rawHash } from '../../../src/domain/known-titles.ts';

const hashOf = (text: string) => rawHash(Buffer.from(text));

test('a hash names the bytes of a text, and nothing else', () => {
  expect(hashOf('{"a":1}')).toHaveLength(16);
  expect(hashOf('{"a":1}')).toEqual(hashOf('{"a":1}'));
  expect(hashOf('{"a":1}')).not.toEqual(hashOf('{"a": 1}'));
});

test('copies are taken one by one, and what was not taken is missing', () => {
  const known = new KnownTitles(3);
  for (const text of ['a', 'b', 'a']) known.add(hashOf(text), 0, text === 'a' ? 0 : 7);
  expect(['a', 'c', 'a', 'a'].map((text) => known.take(hashOf(text)))).toEqual([0, -1, 0, -1]);
  expect([...known.missing()]).toEqual([
    { dateIndex: 7, rawHash: hashOf('b').toString('hex'), copies: 1 },
  ]);
});

test('it is the multiset that was added, less what was taken', () => {
  const text = fc.integer({ min: 0, max: 60 }).map(String);
  fc.assert(
    fc.property(fc.array(text), fc.array(text), (added, taken) => {
      const known = new KnownTitles(added.length);
      const copies = new Map<string, number>();
      for (const item of added) {
        known.add(hashOf(item), 0, Number(item));
        copies.set(item, (copies.get(item) ?? 0) + 1);
      }
      for (const item of taken) {
        const left = copies.get(item) ?? 0;
        expect(known.take(hashOf(item))).toBe(left > 0 ? Number(item) : -1);
        if (left > 0) copies.set(item, left - 1);
      }
      const missing = [...known.missing()].map((item) => [item.rawHash, item.copies]);
      const expected = [...copies]
        .filter(([, count]) => count > 0)
        .map(([item, count]) => [hashOf(item).toString('hex'), count]);
      expect(missing.sort()).toEqual(expected.sort());
    }),
  );
});

test('hashes that want the same place find each other', () => {
  const titles = 1000;
  const known = new KnownTitles(titles);
  // Equal in the word that chooses the slot, different in one of the others.
  const hashes = Array.from({ length: titles }, (_, index) => {
    const bytes = Buffer.alloc(16, 1);
    bytes.writeUInt32BE(index, index % 2 === 0 ? 8 : 12);
    return bytes;
  });
  for (const [index, hash] of hashes.entries()) known.add(hash, 0, index);
  expect(hashes.map((hash) => known.take(hash))).toEqual(hashes.map((_, index) => index));
  expect([...known.missing()]).toEqual([]);
});
