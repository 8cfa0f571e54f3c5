import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KnownTexts, rawHash } from '../../../src/core/reader/known-texts.ts';

const hashOf = (text: string) => rawHash(Buffer.from(text));
const contentOf = (text: string) => `content of ${text}`.padEnd(16);

test('it is the added multiset without the taken texts', () => {
  const text = fc.integer({ min: 0, max: 60 }).map(String);
  fc.assert(
    fc.property(fc.array(text), fc.array(text), (added, taken) => {
      const pairs = added.map((item) => hashOf(item) + contentOf(item)).sort();
      const known = new KnownTexts(Buffer.from(pairs.join(''), 'latin1'));
      const copies = new Map<string, number>();
      for (const item of added) copies.set(item, (copies.get(item) ?? 0) + 1);
      for (const item of taken) {
        const left = copies.get(item) ?? 0;
        expect(known.take(hashOf(item))).toBe(left > 0 ? contentOf(item) : null);
        if (left > 0) copies.set(item, left - 1);
      }
      const missing = known.missing().map((item) => [item.rawHash, item.copies]);
      const expected = [...copies]
        .filter(([, count]) => count > 0)
        .map(([item, count]) => [Buffer.from(hashOf(item), 'latin1').toString('hex'), count]);
      expect(missing.sort()).toEqual(expected.sort());
      expect(known.count).toBe(
        added.length - missing.reduce((sum, [, left]) => sum + Number(left), 0),
      );
    }),
  );
});
