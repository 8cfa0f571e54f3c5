/**
 * The second factor of a user: codes of an authenticator app (TOTP, RFC 6238: SHA-1, six digits, 30
 * seconds) and recovery codes.
 */
import { Secret, TOTP } from 'otpauth';
import { hashToken } from '../../base/runtime/secrets.ts';

/** 160 bits, as RFC 4226, section 4, recommends. */
const SECRET_BYTES = 20;
/** The clock of a phone may be one step behind or ahead (RFC 6238, section 5.2). */
const DRIFT_STEPS = 1;
/** 120 bits, so that an unsalted hash is enough to store (ASVS 5.0, 6.5.2). */
const RECOVERY_CODE_BYTES = 15;
const RECOVERY_CODES = 10;
const ISSUER = 'Conciliation';

export interface SecondFactor {
  /** In base32. */
  readonly secret: string;
  readonly recoveryHashes: readonly string[];
}

/** A right code. Each is accepted only once: a recovery code, and a time step with all before it. */
export type CodeMatch = { readonly step: number } | { readonly recoveryHash: string };

/** A secret in base32. */
export const SECRET = /^[A-Z2-7]{32}$/;

export function newSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () =>
    inGroups(new Secret({ size: RECOVERY_CODE_BYTES }).base32),
  );
}

export function hashRecoveryCode(code: string): string {
  return hashToken(plain(code));
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
 * Returns what a typed code matches; null: the code is wrong. Whether the code was used before is
 * decided where the match is stored.
 * @param seconds the time since 1970 by the clock of the database
 */
export function matchCode(factor: SecondFactor, code: string, seconds: number): CodeMatch | null {
  const typed = plain(code);
  if (/^\d{6}$/.test(typed)) {
    const totp = totpOf(factor.secret, '');
    const timestamp = seconds * 1000;
    const delta = totp.validate({ token: typed, timestamp, window: DRIFT_STEPS });
    return delta === null ? null : { step: totp.counter({ timestamp }) + delta };
  }
  const recoveryHash = hashToken(typed);
  return factor.recoveryHashes.includes(recoveryHash) ? { recoveryHash } : null;
}

function totpOf(secret: string, label: string): TOTP {
  return new TOTP({ issuer: ISSUER, label, secret: Secret.fromBase32(secret) });
}

/** People type codes with blanks and hyphens, and in small letters. */
function plain(code: string): string {
  return code.replaceAll(/[\s-]/g, '').toUpperCase();
}
