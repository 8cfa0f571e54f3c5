import { TokenUnusableError } from '../runtime/errors.ts';
import { fileSecret, type SecretSource } from '../runtime/secret-file.ts';

/**
 * Where the bearer token comes from. Both calls throw TokenUnusableError where there is none to use;
 * `reread` is for after the platform refused the token.
 */
export type TokenSource = SecretSource<string>;

/** The token in a file, which somebody else rotates. */
export function fileToken(path: string): TokenSource {
  return fileSecret({
    variable: 'PLATFORM_TOKEN_FILE',
    path,
    parse: parseToken,
    Unusable: TokenUnusableError,
  });
}

/** The token from the environment, which never changes. Throws TokenUnusableError at once where unusable. */
export function fixedToken(token: string): TokenSource {
  const parsed = parseToken(token, 'PLATFORM_TOKEN');
  return { current: async () => parsed, reread: async () => parsed };
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
