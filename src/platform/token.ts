import { readFile, stat } from 'node:fs/promises';
import { ConfigError } from '../errors.ts';

/** Where the bearer token comes from. Both calls throw ConfigError where there is no usable token. */
export interface TokenSource {
  current(): Promise<string>;
  /** After the platform refused the token: what the source holds at this moment. */
  reread(): Promise<string>;
}

/** No JWT comes near this; a wrong path such as a log file must not be read whole. */
const MAX_TOKEN_BYTES = 64 * 1024;

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

/** The token from the environment, which never changes. Throws ConfigError at once where unusable. */
export function fixedToken(token: string): TokenSource {
  const parsed = parseToken(token, 'PLATFORM_TOKEN');
  return { current: async () => parsed, reread: async () => parsed };
}

async function fileVersion(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    if (size > MAX_TOKEN_BYTES) {
      throw new ConfigError([`PLATFORM_TOKEN_FILE: ${path} is larger than any token`]);
    }
    return [dev, ino, size, mtimeNs, ctimeNs].join(':');
  } catch (error) {
    throw unreadable(path, error);
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error) || error instanceof ConfigError) return error;
  return new ConfigError([`PLATFORM_TOKEN_FILE: cannot read ${path} (${String(error.code)})`]);
}

/** Says what is wrong with a token, never what it is. */
function parseToken(text: string, source: string): string {
  const token = text.trim();
  if (token === '') throw new ConfigError([`${source}: is empty, expected a bearer token`]);
  if (/^bearer(\s|$)/i.test(token)) {
    throw new ConfigError([`${source}: expected the token alone, without the word Bearer`]);
  }
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new ConfigError([
      `${source}: expected a token of printable ASCII characters without spaces`,
    ]);
  }
  return token;
}
