import { isIP, isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { Address6 } from 'ip-address';

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
