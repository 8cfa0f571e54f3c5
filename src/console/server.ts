/**
 * console/ is what the service shows over HTTP. So far that is for machines and operators: whether it
 * lives (`/healthz`), whether it can work (`/readyz`), its metrics (`/metrics`), and the queue
 * (`/queue`), the last only where nobody but this machine can ask.
 *
 *     server         routes, headers, errors
 *     health         what being ready takes
 *     metrics        the numbers and where they come from
 *     queue-board    Bull Board, read-only
 */
import type { AddressInfo } from 'node:net';
import type { Queue } from 'bullmq';
import fastify, { type FastifyError, type FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { ConfigError } from '../errors.ts';
import { describeError, type Logger } from '../logger.ts';
import { createReadiness, type ReadinessCheck } from './health.ts';
import { isLoopback } from './loopback.ts';
import { BOARD_PATH, registerQueueBoard } from './queue-board.ts';

export interface ConsoleOptions {
  /** A name or address of this machine; `0.0.0.0` or `::` for all of them. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** In the order in which `/readyz` lists them. */
  readonly checks: readonly ReadinessCheck[];
  /** Longest wait for any of them; 3 seconds unless told. */
  readonly checkTimeoutMs?: number;
  readonly registry: Registry;
  readonly queues: readonly Queue[];
  readonly logger: Logger;
}

export interface Console {
  /**
   * Listens when it resolves. Call it once.
   *
   * @throws ConfigError when nothing can listen on that host and port
   */
  start(): Promise<{ readonly url: string }>;
  /** Ends every connection. May be called more than once, and without a start. */
  close(): Promise<void>;
}

const BODY_LIMIT_BYTES = 64 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;

export function createConsole(options: ConsoleOptions): Console {
  const { host, port, logger } = options;
  const server = fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    forceCloseConnections: true,
  });
  addSecurityHeaders(server);
  addErrors(server, logger);
  addRoutes(server, options);

  return {
    async start() {
      if (isLoopback(host)) {
        await registerQueueBoard(server, options.queues);
      } else {
        logger.info(
          { host },
          `${BOARD_PATH} is not served: CONSOLE_HOST is not a loopback address`,
        );
      }
      try {
        await server.listen({ host, port });
      } catch (error) {
        throw listenFault(error, host, port);
      }
      const url = urlOf(server);
      logger.info({ url }, 'console listening');
      return { url };
    },
    close: () => server.close(),
  };
}

function addSecurityHeaders(server: FastifyInstance): void {
  server.addHook('onRequest', async (_request, reply) => {
    reply.headers({
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
  });
}

/** Nothing of an error goes out but its status: a message may quote a row or an address. */
function addErrors(server: FastifyInstance, logger: Logger): void {
  server.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ code: 'NOT_FOUND', message: 'there is nothing here' }),
  );
  server.setErrorHandler<FastifyError>((error, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 400 && status < 500) {
      return reply.code(status).send({ code: 'BAD_REQUEST', message: 'the request was refused' });
    }
    const route = request.routeOptions.url ?? null;
    logger.error({ method: request.method, route, err: describeError(error) }, 'request failed');
    return reply
      .code(500)
      .send({ code: 'INTERNAL', message: 'the request failed; the log has more' });
  });
}

function addRoutes(server: FastifyInstance, options: ConsoleOptions): void {
  const { registry } = options;
  const readiness = createReadiness(options.checks, options.logger, options.checkTimeoutMs);

  // Answering is the proof: a process whose event loop is stuck does not.
  server.get('/healthz', async () => ({ status: 'ok' }));

  server.get('/readyz', async (_request, reply) => {
    const { ready, checks } = await readiness();
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not ready', checks });
  });

  server.get('/metrics', async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  );
}

function listenFault(error: unknown, host: string, port: number): unknown {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return error;
  return new ConfigError([
    `CONSOLE_HOST, CONSOLE_PORT: cannot listen on ${host}, port ${port} (${error.code})`,
  ]);
}

function urlOf(server: FastifyInstance): string {
  // Of a name with several addresses the first: all have the same port.
  const address = server.addresses()[0] as AddressInfo;
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}
