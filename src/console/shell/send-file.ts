import type { OutgoingHttpHeaders } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { FastifyReply } from 'fastify';
import type { Logger } from '../../base/runtime/logger.ts';

interface StreamedFile {
  readonly name: string;
  readonly type: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/**
 * Streams the file that `make` passes to its second argument. When the client disconnects, the
 * signal is aborted, so that a database connection is released immediately.
 */
export async function sendFile(
  reply: FastifyReply,
  logger: Logger,
  make: (signal: AbortSignal, send: (file: StreamedFile) => Promise<void>) => Promise<void>,
): Promise<FastifyReply> {
  const { raw } = reply;
  const gone = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort();
  });
  try {
    await make(gone.signal, async ({ name, type, bytes }) => {
      reply.type(type).header('content-disposition', `attachment; filename="${name}"`).hijack();
      raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders);
      await pipeline(bytes, raw);
    });
  } catch (error) {
    // Before the first byte, an error page can still be sent.
    if (!reply.sent) throw error;
    // An aborted transfer has no regular end, and the browser reports it.
    raw.destroy();
    if (!gone.signal.aborted) logger.warn({ err: error }, 'an export was cut short');
  }
  return reply;
}
