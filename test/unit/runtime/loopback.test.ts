import { expect, test } from 'vitest';
import { isLoopback } from '../../../src/base/runtime/loopback.ts';

test.each(['127.0.0.1', '127.8.9.10', '::1', '[::1]', 'localhost', 'LOCALHOST'])(
  '%s is this machine alone',
  (host) => {
    expect(isLoopback(host)).toBe(true);
  },
);

test.each([
  '0.0.0.0',
  '::',
  '10.0.0.1',
  '128.0.0.1',
  'localhost.example.com',
  '127.0.0.1.example.com',
  'example.com',
  '',
])('"%s" may be another machine', (host) => {
  expect(isLoopback(host)).toBe(false);
});
