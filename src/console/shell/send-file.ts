import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { describeError, type Logger } from '../../base/runtime/logger.ts';

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
      // Each chunk is sent before the next one is made, so that chunks do not queue up.
      for await (const chunk of bytes) await write(raw, chunk);
      raw.end();
    });
  } catch (error) {
    // Before the first byte, an error page can still be sent.
    if (!reply.sent) throw error;
    // An aborted transfer has no regular end, and the browser reports it.
    raw.destroy();
    if (!gone.signal.aborted) logger.warn({ err: describeError(error) }, 'an export was cut short');
  }
  return reply;
}

/** @returns when the operating system has accepted the bytes */
function write(to: ServerResponse, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    to.write(chunk, (error) => (error ? reject(error) : resolve()));
  });
}
