import { isIP, isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { Address6 } from 'ip-address';
import type { Logger } from '../../base/runtime/logger.ts';

/** The IPv4 clients of a network that has IPv6 only: the last 32 bits are those of the client (RFC 6052). */
const NAT64 = new Address6('64:ff9b::/96');
/** Hosts and providers give one client a /64 network of IPv6. */
const IPV6_CLIENT_BITS = 64;

/**
 * Returns the client's address: the one that a trusted proxy reports, otherwise the peer of the connection.
 */
export function clientAddress({ ip, socket }: FastifyRequest): string {
  return inOneForm(isIP(ip) === 0 ? (socket.remoteAddress ?? '') : ip, 128);
}

/**
 * Returns the key for rate limits: an IPv4 address, or the /64 network of an IPv6 address, because
 * one client may use all of that network.
 */
export function clientNetwork(request: FastifyRequest): string {
  return inOneForm(clientAddress(request), IPV6_CLIENT_BITS);
}

/** Returns an IPv4 address, also for one inside of an IPv6 address (mapped, NAT64), or the first address of the IPv6 network. */
function inOneForm(ip: string, bits: number): string {
  if (!isIPv6(ip)) return ip;
  const address = new Address6(ip);
  if (address.isMapped4() || address.isInSubnet(NAT64)) return address.to4().correctForm();
  return new Address6(`${ip}/${bits}`).startAddress().correctForm();
}

/** The names do not change, because rules of log systems match them. docs/operating.md lists them. */
const MESSAGES = {
  sign_in_succeeded: 'a user signed in',
  sign_in_failed: 'a sign-in was refused',
  sign_in_limited: 'a sign-in was refused because of too many tries',
  csrf_refused: 'a request was refused that no page of the console made',
  access_refused: 'a request was refused because of the role or the scopes',
  key_refused: 'an API key was refused',
  password_changed: 'a user changed the own password',
  second_factor_set: 'a user set up a second factor',
  second_factor_removed: 'a user removed the own second factor',
  second_factor_reset: 'an administrator removed the second factor of a user',
} as const;

const ORDINARY: ReadonlySet<string> = new Set(['sign_in_succeeded', 'second_factor_set']);

export type SecurityEvent = keyof typeof MESSAGES;

/** @param user the name of an existing user or of a key; a typed name may be a password */
export function logSecurityEvent(
  logger: Logger,
  request: FastifyRequest,
  event: SecurityEvent,
  user: string | null = null,
): void {
  logger[ORDINARY.has(event) ? 'info' : 'warn'](
    {
      event,
      address: clientAddress(request),
      user,
      method: request.method,
      route: request.routeOptions.url ?? null,
    },
    MESSAGES[event],
  );
}
