import { expect, test } from 'vitest';
import { DriftLog, MAX_DRIFT_ITEMS } from '../../../src/core/reader/response-reader.ts';
import type { DriftItem } from '../../../src/core/title/title-contract.ts';

function item(
  path: string,
  value = 'string',
  kind: DriftItem['kind'] = 'unknown_field',
): DriftItem {
  return { place: '', path, kind, value };
}

test('the first thousand items are kept', () => {
  const log = new DriftLog();
  const many = Array.from({ length: MAX_DRIFT_ITEMS + 500 }, (_, index) => item(`path-${index}`));
  for (const one of many) log.add([one]);
  expect(log.items()).toEqual(many.slice(0, MAX_DRIFT_ITEMS));
});
