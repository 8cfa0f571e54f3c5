import { expect, test } from 'vitest';
import { clockFault } from '../../../src/base/database/database.ts';

test.each([
  ['equal to', 100_000, 100_000, 100_000, null],
  ['two minutes ahead of', 220_000, 100_000, 220_000, null],
  ['two minutes behind', 100_000, 220_000, 100_000, null],
  ['more ahead of', 221_000, 100_000, 221_000, '121 s ahead of the clock of the database'],
  ['behind', 100_000, 3_700_000, 100_000, '3600 s behind the clock of the database'],
  // Whatever lies between the two readings may be when the database was asked.
  ['that far ahead of', 400_000, 100_000, 800_000, '300 s ahead of the clock of the database'],
  ['perhaps equal to, after a stop of ten minutes', 0, 590_000, 600_000, null],
])("a clock that is %s the database's", (_, beforeMs, databaseMs, afterMs, fault) => {
  expect(clockFault(beforeMs, databaseMs, afterMs)).toBe(fault);
});
