import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import type { Queue } from 'bullmq';
import type { FastifyInstance } from 'fastify';
import { BOARD_PATH } from './board-path.ts';

/** The page loads its own files only; what it would fetch from elsewhere, such as fonts, it does without. */
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
 * Bull Board, for looking only. What is due comes from the ledger, so there is nothing to decide
 * here: a job that was retried or removed by hand would be put right by the next tick. Like every
 * other page it is for those whom the table of routes names.
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
      board.addHook('onRequest', async (request, reply) => {
        reply.header('content-security-policy', BOARD_POLICY);
        if (request.method !== 'GET' && request.method !== 'HEAD') {
          return reply.code(405).send({ code: 'READ_ONLY', message: 'the queue is shown only' });
        }
        return undefined;
      });
      // Bull Board answers with the message of whatever it met, a driver's included.
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
