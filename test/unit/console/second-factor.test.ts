import { describe, expect, test } from 'vitest';
import {
  addressOfSecret,
  hashRecoveryCode,
  matchCode,
  newRecoveryCodes,
  newSecret,
} from '../../../src/console/account/second-factor.ts';

/** The secret of RFC 6238, appendix B, for SHA-1: 12345678901234567890. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const factor = { secret, recoveryHashes: [] };

test.each([
  [59, '287082', 1],
  [1_111_111_111, '050471', 37_037_037],
  [20_000_000_000, '353130', 666_666_666],
])('at %d s the code is that of RFC 6238', (seconds, code, step) => {
  expect(matchCode(factor, code, seconds)).toEqual({ step });
});

describe('a code', () => {
  const code = '050471';
  const step = 37_037_037;

  test('is accepted one step early and one step late, and no earlier or later', () => {
    const atStep = (other: number) => matchCode(factor, code, (step + other) * 30);
    expect([-2, -1, 0, 1, 2].map(atStep)).toEqual([null, { step }, { step }, { step }, null]);
    expect(matchCode(factor, code, (step + 2) * 30 - 0.001)).toEqual({ step });
  });

  test('may be typed with blanks', () => {
    expect(matchCode(factor, ' 050 471', 1_111_111_111)).toEqual({ step });
  });

  test.each(['', '50471', '0504710', '05047x', '０５０４７１', '050472'])('is not %j', (other) => {
    expect(matchCode(factor, other, 1_111_111_111)).toBeNull();
  });
});

describe('recovery codes', () => {
  const codes = newRecoveryCodes();
  const withCodes = { secret, recoveryHashes: codes.map(hashRecoveryCode) };

  test('are ten, differ, and have 120 random bits', () => {
    expect(codes).toHaveLength(10);
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) expect(code).toMatch(/^([A-Z2-7]{4} ){5}[A-Z2-7]{4}$/);
  });

  test('may be typed in small letters and with hyphens', () => {
    const [code = ''] = codes;
    const recoveryHash = hashRecoveryCode(code);
    for (const typed of [code, code.toLowerCase(), code.replaceAll(' ', '-'), ` ${code} `]) {
      expect(matchCode(withCodes, typed, 0)).toEqual({ recoveryHash });
    }
    expect(matchCode(withCodes, code.slice(1), 0)).toBeNull();
  });
});

test('the address for the app has the user, the console and the secret', () => {
  const own = newSecret();
  expect(own).toMatch(/^[A-Z2-7]{32}$/);
  expect(addressOfSecret(own, 'ana@example.com')).toBe(
    `otpauth://totp/Conciliation:ana%40example.com?issuer=Conciliation&secret=${own}&algorithm=SHA1&digits=6&period=30`,
  );
});
