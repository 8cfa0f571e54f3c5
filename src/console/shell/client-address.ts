import { isIP } from 'node:net';
import { normalizeIP } from '@fastify/rate-limit';
import type { FastifyRequest } from 'fastify';

/** Where a request comes from: what a trusted proxy says, or else the other end of the connection. */
export function clientAddress({ ip, socket }: FastifyRequest): string {
  return normalizeIP(isIP(ip) === 0 ? (socket.remoteAddress ?? '') : ip, 128);
}

/** What limits count by: of IPv6 the network of 64 bits, all of which one client may have. */
export function clientNetwork(request: FastifyRequest): string {
  return normalizeIP(clientAddress(request));
}
