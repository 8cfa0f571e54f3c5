import { readFile, realpath, stat } from 'node:fs/promises';
import { TokenUnusableError } from '../runtime/errors.ts';

/** Where the bearer token comes from. Both calls throw TokenUnusableError where there is none to use. */
export interface TokenSource {
  current(): Promise<string>;
  /** After the platform refused the token: what the source holds at this moment. */
  reread(): Promise<string>;
}

/** No JWT comes near this; a wrong path such as a log file must not be read whole. */
const MAX_TOKEN_BYTES = 64 * 1024;

const OTHERS_WRITE = 0o022;
const EVERYBODY_READS = 0o004;

/**
 * Where container engines mount secrets, inside of a container that has one user: Docker under
 * /run/secrets with mode 0444 or that of the file outside, Kubernetes with mode 0644 in a folder named
 * after the time at which the secret was written.
 */
const SECRET_MOUNT = /^(?:\/var)?\/run\/secrets\/|\/\.\.\d{4}_\d\d_\d\d_/;

/**
 * The token in a file, which somebody else rotates. Each use looks at the file's times, size and
 * inode, and reads it only when one of them moved.
 */
export function fileToken(path: string): TokenSource {
  let known: { readonly version: string; readonly token: string } | null = null;

  async function read(version: string): Promise<string> {
    const token = parseToken(await readText(path), `PLATFORM_TOKEN_FILE: ${path}`);
    known = { version, token };
    return token;
  }

  return {
    async current() {
      const version = await fileVersion(path);
      return known?.version === version ? known.token : read(version);
    },
    // The version is taken before the content: a file that is replaced in between is read again at
    // the next use, never taken for the newer one.
    async reread() {
      return read(await fileVersion(path));
    },
  };
}

/** The token from the environment, which never changes. Throws TokenUnusableError at once where unusable. */
export function fixedToken(token: string): TokenSource {
  const parsed = parseToken(token, 'PLATFORM_TOKEN');
  return { current: async () => parsed, reread: async () => parsed };
}

async function fileVersion(path: string): Promise<string> {
  try {
    const { dev, ino, size, mode, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    if (size > MAX_TOKEN_BYTES) {
      throw new TokenUnusableError([`PLATFORM_TOKEN_FILE: ${path} is larger than any token`]);
    }
    if (process.platform !== 'win32') await refuseOpenFile(path, Number(mode));
    return [dev, ino, size, mtimeNs, ctimeNs].join(':');
  } catch (error) {
    throw unreadable(path, error);
  }
}

/**
 * Who can write the file has this program send whatever token he likes, and who can read it has the
 * platform's answers. Its group may read it, as with the secrets of a container that runs as a group.
 */
async function refuseOpenFile(path: string, mode: number): Promise<void> {
  if ((mode & OTHERS_WRITE) !== 0) {
    throw new TokenUnusableError([
      `PLATFORM_TOKEN_FILE: ${path} can be written by others than its owner; run chmod 600 on it`,
    ]);
  }
  if ((mode & EVERYBODY_READS) === 0 || SECRET_MOUNT.test(await realpath(path))) return;
  throw new TokenUnusableError([
    `PLATFORM_TOKEN_FILE: ${path} can be read by everybody on this machine; run chmod 600 on it`,
  ]);
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error) || error instanceof TokenUnusableError)
    return error;
  return new TokenUnusableError([
    `PLATFORM_TOKEN_FILE: cannot read ${path} (${String(error.code)})`,
  ]);
}

/** Says what is wrong with a token, never what it is. */
function parseToken(text: string, source: string): string {
  const token = text.trim();
  if (token === '') throw new TokenUnusableError([`${source}: is empty, expected a bearer token`]);
  if (/^bearer(\s|$)/i.test(token)) {
    throw new TokenUnusableError([`${source}: expected the token alone, without the word Bearer`]);
  }
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new TokenUnusableError([
      `${source}: expected a token of printable ASCII characters without spaces`,
    ]);
  }
  return token;
}
