import { createHash, randomBytes } from 'node:crypto';

/** Returns 256 random bits. No guess can find such a token, so an unsalted hash is enough to store. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** The hash of a token that the database stores. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex');
}
