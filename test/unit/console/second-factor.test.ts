import { describe, expect, test } from 'vitest';
import {
  addressOfSecret,
  newSecret,
  stepOfCode,
} from '../../../src/console/account/second-factor.ts';

/** The secret of RFC 6238, appendix B, for SHA-1: 12345678901234567890. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

test.each([
  [59, '287082', 1],
  [1_111_111_111, '050471', 37_037_037],
  [20_000_000_000, '353130', 666_666_666],
])('at %d s the code is that of RFC 6238', (seconds, code, step) => {
  expect(stepOfCode(secret, code, seconds)).toBe(step);
});

describe('a code', () => {
  const code = '050471';
  const step = 37_037_037;

  test('is accepted one step early and one step late, and no earlier or later', () => {
    const atStep = (other: number) => stepOfCode(secret, code, (step + other) * 30);
    expect([-2, -1, 0, 1, 2].map(atStep)).toEqual([null, step, step, step, null]);
    expect(stepOfCode(secret, code, (step + 2) * 30 - 0.001)).toBe(step);
  });

  test('may be typed with blanks and hyphens', () => {
    expect(stepOfCode(secret, ' 050 471', 1_111_111_111)).toBe(step);
    expect(stepOfCode(secret, '050-471', 1_111_111_111)).toBe(step);
  });

  test.each(['', '50471', '0504710', '05047x', '０５０４７１', '050472'])('is not %j', (other) => {
    expect(stepOfCode(secret, other, 1_111_111_111)).toBeNull();
  });
});

test('the address for the app has the user, the console and the secret', () => {
  const own = newSecret();
  expect(own).toMatch(/^[A-Z2-7]{32}$/);
  expect(addressOfSecret(own, 'ana@example.com')).toBe(
    `otpauth://totp/Conciliation:ana%40example.com?issuer=Conciliation&secret=${own}&algorithm=SHA1&digits=6&period=30`,
  );
});
