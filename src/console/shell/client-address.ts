import { isIP } from 'node:net';
import { normalizeIP } from '@fastify/rate-limit';
import type { FastifyRequest } from 'fastify';

/**
 * Returns the client's address: the one that a trusted proxy reports, otherwise the peer of the connection.
 */
export function clientAddress({ ip, socket }: FastifyRequest): string {
  return normalizeIP(isIP(ip) === 0 ? (socket.remoteAddress ?? '') : ip, 128);
}

/**
 * Returns the key for rate limits: an IPv4 address, or the /64 network of an IPv6 address, because
 * one client may use all of that network.
 */
export function clientNetwork(request: FastifyRequest): string {
  return normalizeIP(clientAddress(request));
}
