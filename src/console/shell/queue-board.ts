import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import type { Queue } from 'bullmq';
import type { FastifyInstance } from 'fastify';
import { BOARD_PATH } from './board-path.ts';

/** The page loads only files of this server, and works without fonts from elsewhere. */
const BOARD_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Registers Bull Board, read-only: the ledger decides which pulls are due, and the next tick of the
 * planner would undo a manual retry or removal of a job. The table of routes restricts this page
 * like every other one.
 */
export async function registerQueueBoard(
  server: FastifyInstance,
  queues: readonly Queue[],
): Promise<void> {
  const adapter = new FastifyAdapter().setBasePath(BOARD_PATH);
  createBullBoard({
    queues: queues.map((queue) => new BullMQAdapter(queue, { readOnlyMode: true })),
    serverAdapter: adapter,
    options: { uiConfig: { boardTitle: 'Queue', hideDocsLink: true } },
  });
  await server.register(
    async (board) => {
      board.addHook('onRequest', async (_request, reply) => {
        reply.header('content-security-policy', BOARD_POLICY);
      });
      // After the hook that refuses other people.
      board.addHook('preValidation', async (request, reply) => {
        if (request.method !== 'GET' && request.method !== 'HEAD') {
          return reply.code(405).send({ code: 'READ_ONLY', message: 'the queue is shown only' });
        }
        return undefined;
      });
      // Bull Board answers with the messages of errors, including those of the driver.
      board.addHook('preSerialization', async (_request, reply, payload) =>
        reply.statusCode >= 500
          ? { code: 'QUEUE_UNAVAILABLE', message: 'the queue cannot be shown' }
          : payload,
      );
      await board.register(adapter.registerPlugin());
    },
    { prefix: BOARD_PATH },
  );
}
