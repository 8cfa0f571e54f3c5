import { expect, test } from 'vitest';
import { clockFault, clockSkewMs } from '../../../src/base/database/database.ts';

test.each([
  ['equal to', 100_000, 100_000, 100_000, 0],
  ['ahead of', 400_000, 100_000, 400_000, 300_000],
  ['behind', 100_000, 400_000, 100_000, -300_000],
  // Whatever lies between the two readings may be when the database was asked.
  ['perhaps equal to', 100_000, 150_000, 200_000, 0],
  ['at least that far ahead of', 400_000, 100_000, 500_000, 300_000],
  ['perhaps equal to, after a stop of ten minutes', 0, 590_000, 600_000, 0],
  ['set back while the database was asked, and perhaps equal to', 200_000, 150_000, 100_000, 0],
])("a clock that is %s the database's", (_, beforeMs, databaseMs, afterMs, skewMs) => {
  expect(clockSkewMs(beforeMs, databaseMs, afterMs)).toBeCloseTo(skewMs);
});

test('two minutes are tolerated either way', () => {
  expect(clockFault(120_000)).toBeNull();
  expect(clockFault(-120_000)).toBeNull();
  expect(clockFault(121_000)).toBe('121 s ahead of the clock of the database');
  expect(clockFault(-3_600_000)).toBe('3600 s behind the clock of the database');
});
