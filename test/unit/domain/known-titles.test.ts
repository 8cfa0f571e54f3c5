import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KnownTitles, rawHash } from '../../../src/core/reader/known-texts.ts';

const hashOf = (text: string) => rawHash(Buffer.from(text));
/** A made-up content hash: any 16 bytes. */
const contentOf = (text: string) => Buffer.from(text.padEnd(16));
const addTo = (known: KnownTitles, text: string) =>
  known.add(Buffer.concat([hashOf(text), contentOf(text)]), 0, 16);
/** The content that a text is taken with, as text; null: no copy was left. */
const takeFrom = (known: KnownTitles, text: string) => {
  const content = known.take(hashOf(text));
  return content === null ? null : Buffer.from(content).toString().trimEnd();
};

test('it is the added multiset without the taken texts', () => {
  const text = fc.integer({ min: 0, max: 60 }).map(String);
  fc.assert(
    fc.property(fc.array(text), fc.array(text), (added, taken) => {
      const known = new KnownTitles(added.length);
      const copies = new Map<string, number>();
      for (const item of added) {
        addTo(known, item);
        copies.set(item, (copies.get(item) ?? 0) + 1);
      }
      for (const item of taken) {
        const left = copies.get(item) ?? 0;
        expect(takeFrom(known, item)).toBe(left > 0 ? item : null);
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
  for (const hash of hashes) known.add(Buffer.concat([hash, hash]), 0, 16);
  expect(hashes.map((hash) => known.take(hash))).toEqual(hashes);
  expect([...known.missing()]).toEqual([]);
});
