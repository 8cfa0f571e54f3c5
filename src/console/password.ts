import { randomBytes } from 'node:crypto';
import { argon2id, argon2Verify } from 'hash-wasm';

/** What OWASP asks of argon2id at least: 19 MiB, two passes, one lane. */
const COST = { memorySize: 19_456, iterations: 2, parallelism: 1, hashLength: 32 } as const;

export const MIN_PASSWORD_LENGTH = 12;
/** Argon2 reads all of it, so there is an end to what it has to read. */
export const MAX_PASSWORD_LENGTH = 256;

/** Argon2id in PHC format, which names its own cost, so that the cost can be raised later. */
export function hashPassword(password: string): Promise<string> {
  return argon2id({
    ...COST,
    password: password.normalize('NFKC'),
    salt: randomBytes(16),
    outputType: 'encoded',
  });
}

let absent: Promise<string> | undefined;

/**
 * Takes as long for a person who does not exist as for one who does, so that the time tells nothing.
 *
 * @param hash null: there is nobody, or nobody with a password
 */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  absent ??= hashPassword(randomBytes(16).toString('hex'));
  const isRight = await argon2Verify({
    password: password.normalize('NFKC'),
    hash: hash ?? (await absent),
  });
  return isRight && hash !== null;
}
