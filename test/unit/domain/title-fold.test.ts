import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import { hash128, TitleFold, TitleFolds } from '../../../src/core/title/title.ts';

const hashDigits = fc.stringMatching(/^[0-9a-f]{32}$/);

function foldOf(hashes: readonly string[]): string {
  const fold = new TitleFold();
  for (const hash of hashes) fold.addBytes(Buffer.from(hash, 'hex'));
  return `${fold.count} ${fold.toText()}`;
}

test('the sum is the sum of the hashes modulo 2^128, in any order', () => {
  fc.assert(
    fc.property(fc.array(hashDigits, { maxLength: 50 }), (hashes) => {
      const sum = hashes.reduce((total, hash) => total + BigInt(`0x${hash}`), 0n);
      const expected = `${hashes.length} ${(sum % 2n ** 128n).toString(16).padStart(32, '0')}`;
      expect(foldOf(hashes)).toBe(expected);
      expect(foldOf(hashes.toReversed())).toBe(expected);
    }),
  );
});

test('carries go through every lane', () => {
  const most = 'f'.repeat(32);
  expect(foldOf([most, `${'0'.repeat(31)}1`])).toBe(`2 ${'0'.repeat(32)}`);
  expect(foldOf(Array.from({ length: 70_000 }, () => most))).toBe(
    `70000 ${(2n ** 128n - 70_000n).toString(16)}`,
  );
});

test('each date has its own fold', () => {
  const [first, second] = [toCivilDate('2026-01-01'), toCivilDate('2026-01-02')];
  const folds = new TitleFolds();
  folds.at(first).addBytes(Buffer.from(hash128('a'), 'hex'));
  expect(folds.at(first).count).toBe(1);
  expect(folds.at(second).count).toBe(0);
});
