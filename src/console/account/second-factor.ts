/** The second factor of a user: codes of an authenticator app (TOTP, RFC 6238: SHA-1, six digits, 30 seconds). */
import { Secret, TOTP } from 'otpauth';

/** 160 bits, as RFC 4226, section 4, recommends. */
const SECRET_BYTES = 20;
/** The clock of a phone may be one step behind or ahead (RFC 6238, section 5.2). */
const DRIFT_STEPS = 1;
const ISSUER = 'Conciliation';

/** A secret in base32. */
export const SECRET = /^[A-Z2-7]{32}$/;

export function newSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** Returns the address that authenticator apps read, in the form of the Key Uri Format of Google. */
export function addressOfSecret(secret: string, userName: string): string {
  return totpOf(secret, userName).toString();
}

/** Returns text in groups of four characters, as people read and type it. */
export function inGroups(text: string): string {
  return text.match(/.{1,4}/g)?.join(' ') ?? '';
}

/**
 * Returns the time step of a typed code; null: the code is wrong. Whether a code of the step or of a later one was used
 * before is decided where the step is stored.
 * @param secret in base32
 * @param seconds the time since 1970 by the clock of the database
 */
export function stepOfCode(secret: string, code: string, seconds: number): number | null {
  // People type codes with blanks and hyphens.
  const token = code.replaceAll(/[\s-]/g, '');
  if (!/^\d{6}$/.test(token)) return null;
  const totp = totpOf(secret, '');
  const timestamp = seconds * 1000;
  const delta = totp.validate({ token, timestamp, window: DRIFT_STEPS });
  return delta === null ? null : totp.counter({ timestamp }) + delta;
}

function totpOf(secret: string, label: string): TOTP {
  return new TOTP({ issuer: ISSUER, label, secret: Secret.fromBase32(secret) });
}
