import { createHash, randomBytes } from 'node:crypto';

/** Returns 256 random bits. Such a token cannot be guessed, so it is enough to store an unsalted hash. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** The hash of a token that the database stores. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex');
}
