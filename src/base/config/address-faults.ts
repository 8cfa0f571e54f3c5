/**
 * Checks the addresses of the configuration. Each function returns the expected form, or null. An address may hold a
 * password or a token, so a fault names at most the host.
 */
import { isIPv4 } from 'node:net';
import { type ConnectionOptions, parse } from 'pg-connection-string';
import { faultCode } from '../runtime/errors.ts';

/** Whether a host, from the configuration or from a request's `Host` without the port, is this machine. */
export function isLoopback(host: string): boolean {
  const name = withoutBrackets(host);
  return isIPv4(name) ? name.startsWith('127.') : /^(localhost|::1)$/i.test(name);
}

/** Hosts to which connections may be unencrypted, as `ALLOW_PLAINTEXT` lists them. */
export type PlaintextHosts = ReadonlySet<string>;

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
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return `https (http only to localhost): ${whyHttps}`;
  }
  return null;
}

/** Checks the address of a webhook or of a console: https, or http where `allowed` has the host. */
export function webAddressFault(text: string, allowed: PlaintextHosts): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === 'https:') return null;
  if (url?.protocol !== 'http:') return 'an address that begins with https:// or http://';
  return plaintextFault(url, url.hostname, allowed, 'an address that begins with https://');
}

/** @param expected what would be encrypted */
function plaintextFault(
  url: URL,
  host: string,
  allowed: PlaintextHosts,
  expected: string,
): string | null {
  if (isPlainHost(host, allowed)) return null;
  const name = withoutBrackets(host.toLowerCase());
  // After a password that is not percent-encoded the parser takes a part of the password for the host.
  const isHost = url.username !== '' || url.password !== '' || !url.href.includes('@');
  const shown = isHost ? name : 'its host';
  return `${expected}, because the connection to ${shown} would not be encrypted; or ${shown} in ALLOW_PLAINTEXT, if no other party can read the network in between`;
}

export function isPlainHost(host: string, allowed: PlaintextHosts): boolean {
  const name = withoutBrackets(host.toLowerCase());
  return isLoopback(name) || allowed.has(name);
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}

/**
 * Returns the address of a driver, or its fault. Two parsers may read text after a `#`, and a `%` that is not an escape,
 * differently. A `#` in a password would make a part of the password the port.
 */
function parseAddress(text: string, protocol: RegExp, expected: string): URL | string {
  if (text.includes('#')) return 'an address without #; in a password, # is written %23';
  if (/%(?![0-9a-f]{2})|\s/i.test(text)) {
    return 'an address without blanks, with % in escapes only; in a password, % is written %25';
  }
  return protocol.test(text) && URL.canParse(text) ? new URL(text) : expected;
}

const DATABASE_FORM = 'postgresql://user:password@host:port/database';

/** Checks DATABASE_URL, as the driver reads it: TLS that verifies the certificate, a Unix socket, or a host of `allowed`. */
export function databaseAddressFault(text: string, allowed: PlaintextHosts): string | null {
  const url = parseAddress(text, /^postgres(ql)?:\/\//i, DATABASE_FORM);
  if (typeof url === 'string') return url;
  // pg ignores a parameter that it does not know. With sslcrl or SSLMODE, the connection would be less safe than its
  // address says. With uselibpqcompat, the other parameters are less strict.
  const isKnown = (name: string) => /^ssl(mode|rootcert|cert|key|negotiation)?$/.test(name);
  const ofTls = [...url.searchParams.keys()].filter((name) => /^(ssl|uselibpq)/i.test(name));
  if (!ofTls.every(isKnown)) {
    return 'an address with no TLS parameters but ssl, sslmode, sslrootcert, sslcert, sslkey, sslnegotiation';
  }
  let read: ConnectionOptions;
  try {
    read = parse(text);
  } catch (error) {
    return `an sslrootcert, sslcert and sslkey that can be read (${faultCode(error)})`;
  }
  const { host, ssl = false } = read;
  if (typeof ssl === 'string' || (typeof ssl === 'object' && ssl.rejectUnauthorized === false)) {
    return 'sslmode=verify-full (or disable): the certificate of the server must be verified';
  }
  // pg would take the host from PGHOST.
  if (!host) return DATABASE_FORM;
  if (ssl !== false || host.startsWith('/')) return null;
  return plaintextFault(url, host, allowed, 'sslmode=verify-full');
}

/** Checks REDIS_URL. */
export function redisAddressFault(text: string, allowed: PlaintextHosts): string | null {
  const url = parseAddress(text, /^rediss?:\/\//i, 'redis://host:6379');
  if (typeof url === 'string') return url;
  // ioredis takes each parameter for an option of the connection, such as the host, or the absence of TLS.
  if (text.includes('?')) return 'an address without a query, such as redis://host:6379/0';
  if (url.protocol === 'rediss:') return null;
  const host = url.hostname || 'localhost';
  return plaintextFault(url, host, allowed, 'an address that begins with rediss://');
}

/** Checks SMTP_URL. The connection requires TLS, so both protocols are taken for any host. */
export function mailAddressFault(text: string): string | null {
  const expected = 'smtp://user@host:587 or smtps://user@host:465';
  const url = parseAddress(text, /^smtps?:\/\//i, expected);
  if (typeof url === 'string') return url;
  return url.hostname !== '' && /^\/?$/.test(url.pathname) && !text.includes('?') ? null : expected;
}
