/**
 * Checks the addresses of the configuration. Each function returns a description of the expected
 * value, or null. An address may hold a password or a token, so no fault quotes it.
 */
import { readFileSync } from 'node:fs';

const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

/** The modes of pg 8. Each of them except `disable` checks the certificate and the host name. */
const SSL_MODES = new Set(['disable', 'prefer', 'require', 'verify-ca', 'verify-full']);

/**
 * Checks the address of a remote service: https, or http on this machine alone. Secrets are sent to
 * this address, so text that a URL parser would drop, convert or reinterpret is refused.
 */
export function secureAddressFault(text: string, whyHttps: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    return 'an address that begins with https://';
  }
  if (!/^[\x21-\x7e]+$/.test(text) || text.includes('\\')) {
    return 'an address of ASCII characters without spaces and backslashes (a name with accents in its xn-- form)';
  }
  if (/[@?#]/.test(text)) return 'an address without user, password, query or fragment';
  const [, host = ''] = /^https?:\/\/([^/]*)/i.exec(text) ?? [];
  if (host.toLowerCase().replace(/:\d*$/, '') !== url.hostname) {
    return 'an address whose host is written out as https://name/ or https://192.0.2.1/';
  }
  if (url.protocol === 'http:' && !LOOPBACK_HOSTS.has(url.hostname)) {
    return `https (http only to localhost): ${whyHttps}`;
  }
  return null;
}

/** Checks DATABASE_URL. Returns the expected form, or null for a valid address. */
export function databaseAddressFault(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'postgres:' && url?.protocol !== 'postgresql:') {
    return 'postgresql://user:password@host:port/database';
  }
  const { searchParams } = url;
  const mode = searchParams.get('sslmode');
  if (
    (mode !== null && !SSL_MODES.has(mode)) ||
    searchParams.get('ssl') === 'no-verify' ||
    searchParams.has('uselibpqcompat')
  ) {
    return 'sslmode=verify-full (or disable): the certificate of the server must be verified';
  }
  const rootCertificate = searchParams.get('sslrootcert');
  const fault = rootCertificate === null ? null : fileFault(rootCertificate);
  return fault === null ? null : `an sslrootcert that can be read (${fault})`;
}

/** Checks REDIS_URL. Returns the expected form, or null for a valid address. */
export function redisAddressFault(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url?.protocol === 'redis:' || url?.protocol === 'rediss:' ? null : 'redis://host:6379';
}

/** Returns the system's error code for a file that cannot be read; null: it can. */
export function fileFault(path: string): string | null {
  try {
    readFileSync(path);
    return null;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
  }
}
