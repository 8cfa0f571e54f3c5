import { readFile, realpath, stat } from 'node:fs/promises';
import { TokenUnusableError } from '../runtime/errors.ts';

/** The source of the bearer token. Both calls throw TokenUnusableError when there is no usable token. */
export interface TokenSource {
  current(): Promise<string>;
  /** Returns the present token of the source, after the platform refused the last one. */
  reread(): Promise<string>;
}

/** More than any JWT. A wrong path, such as a log file, must not be read completely. */
const MAX_TOKEN_BYTES = 64 * 1024;

const OTHERS_WRITE = 0o022;
const EVERYBODY_READS = 0o004;

/**
 * The places where container engines mount secrets in a container with a single user: Docker under
 * /run/secrets with mode 0444 or that of the file outside, Kubernetes with mode 0644 in a folder
 * named after the time of the update.
 */
const SECRET_MOUNT = /^(?:\/var)?\/run\/secrets\/|\/\.\.\d{4}_\d\d_\d\d_/;

/**
 * The token in a file, which another program replaces. Each use compares the file's times, size and
 * inode, and reads the file after a change.
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
    // The version is read before the content. A file that is replaced in between is read again at
    // the next use.
    async reread() {
      return read(await fileVersion(path));
    },
  };
}

/**
 * A fixed token from the environment.
 * @throws TokenUnusableError when it is not usable
 */
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
 * Refuses a file with loose permissions: a user who can write it chooses the token of this program, and a
 * user who can read it can use the platform. Its group may read it, for containers that run with a group.
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

/** Returns the token. A fault describes the problem and never quotes the token. */
function parseToken(text: string, source: string): string {
  const token = text.trim();
  if (token === '') throw new TokenUnusableError([`${source}: is empty, expected a bearer token`]);
  if (/^bearer(\s|$)/i.test(token)) {
    throw new TokenUnusableError([`${source}: expected only the token, without the word Bearer`]);
  }
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new TokenUnusableError([
      `${source}: expected a token of printable ASCII characters without spaces`,
    ]);
  }
  return token;
}
