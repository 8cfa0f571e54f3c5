import type { EnvironmentReader } from './environment-reader.ts';
import { readSecureUrl } from './secret-variables.ts';

export interface PlatformConfig {
  readonly baseUrl: URL;
  /** Exactly one of the two is set. */
  readonly tokenFile: string | null;
  readonly token: string | null;
  readonly concurrency: number;
  readonly timeoutSeconds: number;
  readonly maxBytes: number;
}

/** 16 GiB. */
const DEFAULT_MAX_BYTES = 16 * 1024 ** 3;

export function readPlatform(reader: EnvironmentReader): PlatformConfig | null {
  const baseUrl = readBaseUrl(reader);
  const { secretFile: tokenFile, secret: token } = reader.secret('PLATFORM_TOKEN');
  if (tokenFile === null && token === null) {
    reader.problems.push('PLATFORM_TOKEN_FILE, PLATFORM_TOKEN: got neither, expected one of them');
  }
  const concurrency = reader.integer('PLATFORM_CONCURRENCY', 4, 1, 64);
  const timeoutSeconds = reader.integer('PLATFORM_TIMEOUT_SECONDS', 60, 1, 3600);
  const maxBytes = reader.integer(
    'PLATFORM_MAX_BYTES',
    DEFAULT_MAX_BYTES,
    1024 * 1024,
    Number.MAX_SAFE_INTEGER,
  );
  return baseUrl === null
    ? null
    : { baseUrl, tokenFile, token, concurrency, timeoutSeconds, maxBytes };
}

function readBaseUrl(reader: EnvironmentReader): URL | null {
  const name = 'PLATFORM_BASE_URL';
  const text = reader.text(name);
  if (text === null) {
    reader.problems.push(`${name}: not set, expected the platform's address, https://…`);
    return null;
  }
  return readSecureUrl(reader, name, text, 'the token must not travel in the clear');
}
