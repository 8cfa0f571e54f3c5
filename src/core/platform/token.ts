import { TokenUnusableError } from '../../base/runtime/errors.ts';
import { readSecretFile } from '../../base/runtime/secrets.ts';

/** The source of the bearer token. */
export interface TokenSource {
  /** @throws TokenUnusableError if the source has no usable token at present */
  current(): Promise<string>;
}

/** The token in a file, which another program replaces. Each use reads the file. */
export function fileToken(path: string): TokenSource {
  return {
    async current() {
      const read = readSecretFile(path);
      if ('fault' in read) throw new TokenUnusableError([`PLATFORM_TOKEN_FILE: ${read.fault}`]);
      return parseToken(read.secret, `PLATFORM_TOKEN_FILE: ${path}`);
    },
  };
}

/**
 * A fixed token from the environment.
 * @throws TokenUnusableError when it is not usable
 */
export function fixedToken(token: string): TokenSource {
  const parsed = parseToken(token, 'PLATFORM_TOKEN');
  return { current: async () => parsed };
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
