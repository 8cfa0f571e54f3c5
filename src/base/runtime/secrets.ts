import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, realpathSync, type Stats, statSync } from 'node:fs';

/** Returns 256 random bits. Such a token cannot be guessed, so it is enough to store an unsalted hash. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** The hash of a token that the database stores. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex');
}

/** No JWT comes near this; a wrong path such as a log file must not be read whole. */
const MAX_SECRET_BYTES = 64 * 1024;

const OTHERS_WRITE = 0o022;
const EVERYBODY_READS = 0o004;

/**
 * Where container engines mount secrets, inside of a container that has one user: Docker under
 * /run/secrets with mode 0444 or that of the file outside, Kubernetes with mode 0644 in a folder named
 * after the time at which the secret was written.
 */
const SECRET_MOUNT = /^(?:\/var)?\/run\/secrets\/|\/\.\.\d{4}_\d\d_\d\d_/;

/** Returns the text of a secret file, without white space around it, or why the file cannot be used. */
export function readSecretFile(
  path: string,
): { readonly secret: string } | { readonly fault: string } {
  try {
    const fault = openFileFault(path, realpathSync(path), statSync(path));
    if (fault !== null) return { fault };
    const secret = readFileSync(path, 'utf8').trim();
    return secret === '' ? { fault: `${path} is empty` } : { secret };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    return { fault: `cannot read ${path} (${String(error.code)})` };
  }
}

/**
 * A user who can write the file can replace the secret, and a user who can read the file has the secret.
 * The group of the file may read it, as with the secrets of a container that runs as a group.
 */
function openFileFault(
  path: string,
  realPath: string,
  { size, mode }: Pick<Stats, 'size' | 'mode'>,
): string | null {
  if (size > MAX_SECRET_BYTES) return `${path} is larger than any token or secret`;
  if (process.platform === 'win32') return null;
  if ((mode & OTHERS_WRITE) !== 0) {
    return `${path} can be written by others than its owner; run chmod 600 on it`;
  }
  return (mode & EVERYBODY_READS) === 0 || SECRET_MOUNT.test(realPath)
    ? null
    : `${path} can be read by everybody on this machine; run chmod 600 on it`;
}
