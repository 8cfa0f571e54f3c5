import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import {
  ConciliationError,
  PlatformContractError,
  PlatformUnavailableError,
} from '../../base/runtime/errors.ts';
import { type HttpAnswer, SilenceTimer, silenceError } from './http-origin.ts';

/** The limits for one answer. */
export interface AnswerLimits {
  /** From the headers to the end. */
  readonly maxMinutes: number;
  /** Decoded bytes. */
  readonly maxBytes: number;
}

/** The limit of the program. */
export const MAX_ANSWER_MINUTES = 60;

const MINUTE_MS = 60_000;

export interface AnswerBody {
  /** Decoded bytes. Ends only after a complete transfer; leaving the iteration early drops the connection. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Number of decoded bytes handed out. */
  readonly bytesReceived: () => number;
}

/**
 * Opens the body of an answer. Reads only on demand, at most a few buffers ahead of the consumer.
 * Reading throws PlatformUnavailableError when the transfer is cut, is silent for `timeoutMs`
 * or exceeds the time limit, and PlatformContractError when the body does not match its headers or
 * exceeds the size limit. If a limit is exceeded, the error's context has its name as `limit`.
 * @throws PlatformContractError for an encoding that was not requested
 */
export function openBody(answer: HttpAnswer, timeoutMs: number, limits?: AnswerLimits): AnswerBody {
  if (limits !== undefined) stopAfter(answer, limits.maxMinutes);
  const pieces = decode(answer, readPieces(answer, timeoutMs));
  let bytesReceived = 0;
  const iterator: AsyncIterableIterator<Uint8Array> = {
    async next() {
      try {
        const piece = await pieces.next();
        // A stopped transfer is not complete, even if all bytes were buffered.
        const stopReason = answer.stopReason();
        if (stopReason !== null) throw stopReason;
        bytesReceived += piece.value?.length ?? 0;
        if (limits !== undefined && bytesReceived > limits.maxBytes) {
          throw new PlatformContractError(
            `the answer is longer than ${limits.maxBytes} bytes (PLATFORM_MAX_BYTES)`,
            { context: { limit: 'PLATFORM_MAX_BYTES' } },
          );
        }
        return piece;
      } catch (error) {
        answer.message.destroy();
        throw answer.stopReason() ?? toTransferError(error, bytesReceived);
      }
    },
    async return() {
      // Before the return of the generator, which cannot end while it waits for a chunk.
      answer.message.destroy();
      await pieces.return(undefined).catch(() => {});
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return iterator;
    },
  };
  return { chunks: iterator, bytesReceived: () => bytesReceived };
}

function stopAfter({ message, stop }: HttpAnswer, maxMinutes: number): void {
  const error = new PlatformUnavailableError(
    `the answer had not ended after ${maxMinutes} minutes`,
    { context: { limit: 'minutes' } },
  );
  const timer = setTimeout(() => stop(error), maxMinutes * MINUTE_MS);
  message.once('close', () => clearTimeout(timer));
}

type Pieces = AsyncGenerator<Buffer, undefined, undefined>;

async function* readPieces({ message, stop }: HttpAnswer, timeoutMs: number): Pieces {
  const { headers, socket } = message;
  const endsWithConnection = !('content-length' in headers || 'transfer-encoding' in headers);
  // Runs only while a chunk is awaited, so that a slow consumer does not count as silence of the platform.
  const silence = new SilenceTimer(timeoutMs, () => stop(silenceError(timeoutMs)));
  try {
    silence.arm();
    for await (const piece of message as AsyncIterable<Buffer>) {
      silence.clear();
      yield piece;
      silence.arm();
    }
  } finally {
    silence.clear();
  }
  // Node treats any end of the connection as the end of such a body, even a reset.
  if (!message.complete || (endsWithConnection && socket.errored)) throw new TransferCut();
}

function decode({ message }: HttpAnswer, pieces: Pieces): Pieces {
  const encoding = message.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity') return pieces;
  if (encoding === 'gzip' || encoding === 'x-gzip') return gunzip(pieces);
  throw new PlatformContractError(
    'the platform answered in a content encoding that was not asked for, expected gzip or none',
  );
}

/** Decodes gzip. Several members in a row are one stream (RFC 1952, section 2.2). */
async function* gunzip(pieces: Pieces): Pieces {
  let encodedBytes = 0;
  async function* count(): Pieces {
    for await (const piece of pieces) {
      encodedBytes += piece.length;
      yield piece;
    }
  }
  const decoded = pipeline(count(), createGunzip(), () => {});
  yield* decoded as AsyncIterable<Buffer>;
  // zlib ends without an error at a zero byte after a member and ignores the bytes that follow.
  if (decoded.bytesWritten !== encodedBytes) {
    throw new PlatformContractError("data follows the end of the answer's gzip stream");
  }
}

class TransferCut extends Error {}

function toTransferError(error: unknown, bytesReceived: number): unknown {
  if (error instanceof ConciliationError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  if (code === 'Z_DATA_ERROR' || code === 'Z_NEED_DICT') {
    return new PlatformContractError("the answer's gzip stream is broken", { cause: error });
  }
  return new PlatformUnavailableError(`the transfer was cut after ${bytesReceived} bytes`, {
    cause: error,
    context: { bytesReceived },
  });
}
