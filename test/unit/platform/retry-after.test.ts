import { expect, test } from 'vitest';
import {
  MAX_RETRY_AFTER_SECONDS,
  parseRetryAfter,
} from '../../../src/core/platform/status-error.ts';

const NOW = new Date('2026-01-02T03:04:05.500Z');

test.each([
  ['120', 120],
  [' 7 ', 7],
  ['0', 1],
  ['86401', MAX_RETRY_AFTER_SECONDS],
  ['Fri, 02 Jan 2026 03:05:05 GMT', 60],
  ['Fri, 02 Jan 2026 03:04:05 GMT', 1],
  ['Sun, 02 Jan 2028 00:00:00 GMT', MAX_RETRY_AFTER_SECONDS],
  ...[undefined, '', '-1', '1.5', 'soon', 'Fri, 99 Foo 2026'].map((none) => [none, null] as const),
] as const)('%j asks for %s seconds', (header, seconds) => {
  expect(parseRetryAfter(header, NOW)).toBe(seconds);
});
