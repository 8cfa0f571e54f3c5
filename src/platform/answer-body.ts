import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import {
  ConciliationError,
  PlatformContractError,
  PlatformUnavailableError,
} from '../runtime/errors.ts';
import { type HttpAnswer, silenceError } from './http-origin.ts';
import { SilenceTimer } from './silence-timer.ts';

/** How much of one answer is taken. */
export interface AnswerLimits {
  /** From its headers to its end. */
  readonly maxMinutes: number;
  /** Decoded. */
  readonly maxBytes: number;
  /** Encoded bytes a second, as a mean over the time that the platform was waited for; 0: no limit. */
  readonly minBytesPerSecond: number;
  readonly maxTitles: number;
}

const MINUTE_MS = 60_000;

export interface AnswerBody {
  /** Decoded. Ends only where the transfer ended cleanly; leaving early drops the connection. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Decoded bytes handed out so far. */
  readonly bytesReceived: () => number;
}

/**
 * Nothing is read before the consumer asks, and never more than a few buffers ahead of it.
 *
 * Throws PlatformContractError for an encoding that was not asked for. Reading throws
 * PlatformUnavailableError where the transfer is cut, silent for `timeoutMs`, slower or longer under way than
 * the limit, and PlatformContractError where what came is not what its headers say or more than the limit.
 * Where a limit was exceeded, the error's context names its variable as `limit`.
 */
export function openBody(answer: HttpAnswer, timeoutMs: number, limits?: AnswerLimits): AnswerBody {
  if (limits !== undefined) stopAfter(answer, limits.maxMinutes);
  const pieces = decode(answer, readPieces(answer, timeoutMs, limits?.minBytesPerSecond ?? 0));
  let bytesReceived = 0;
  const iterator: AsyncIterableIterator<Uint8Array> = {
    async next() {
      try {
        const piece = await pieces.next();
        // What was stopped did not end cleanly, even where everything had been buffered by then.
        const stopReason = answer.stopReason();
        if (stopReason !== null) throw stopReason;
        bytesReceived += piece.value?.length ?? 0;
        if (limits !== undefined && bytesReceived > limits.maxBytes) {
          throw tooLong(limits.maxBytes);
        }
        return piece;
      } catch (error) {
        answer.message.destroy();
        throw answer.stopReason() ?? toTransferError(error, bytesReceived);
      }
    },
    async return() {
      // First: a generator that waits for a piece cannot be left before that wait ends.
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
    `the answer had not ended after ${maxMinutes} minutes (PLATFORM_MAX_MINUTES)`,
    { context: { limit: 'PLATFORM_MAX_MINUTES' } },
  );
  const timer = setTimeout(() => stop(error), maxMinutes * MINUTE_MS);
  message.once('close', () => clearTimeout(timer));
}

function tooLong(maxBytes: number): PlatformContractError {
  return new PlatformContractError(
    `the answer is longer than ${maxBytes} bytes (PLATFORM_MAX_BYTES)`,
    { context: { limit: 'PLATFORM_MAX_BYTES' } },
  );
}

type Pieces = AsyncGenerator<Buffer, undefined, undefined>;

async function* readPieces(
  { message, stop }: HttpAnswer,
  timeoutMs: number,
  minBytesPerSecond: number,
): Pieces {
  const { headers, socket } = message;
  const endsWithConnection = !('content-length' in headers || 'transfer-encoding' in headers);
  // Runs only while a piece is waited for. A slow consumer is no silence of the platform.
  const silence = new SilenceTimer(timeoutMs, () => stop(silenceError(timeoutMs)));
  const throughput = new Throughput(timeoutMs, minBytesPerSecond);
  try {
    silence.arm();
    throughput.beginWait();
    for await (const piece of message as AsyncIterable<Buffer>) {
      silence.clear();
      throughput.endWait(piece.length);
      yield piece;
      silence.arm();
      throughput.beginWait();
    }
  } finally {
    silence.clear();
  }
  // Node takes any end of the connection for the end of such a body, even a reset.
  if (!message.complete || (endsWithConnection && socket.errored)) throw new TransferCut();
}

/** Measures the bytes that arrive while the platform is waited for. A slow consumer does not count. */
class Throughput {
  readonly #periodMs: number;
  readonly #minBytesPerSecond: number;
  #waitingSinceMs = 0;
  #waitedMs = 0;
  #bytes = 0;

  /** @param periodMs the shortest time over which the mean is taken */
  constructor(periodMs: number, minBytesPerSecond: number) {
    this.#periodMs = periodMs;
    this.#minBytesPerSecond = minBytesPerSecond;
  }

  beginWait(): void {
    this.#waitingSinceMs = performance.now();
  }

  /** @throws PlatformUnavailableError where too few bytes have arrived in a period */
  endWait(bytes: number): void {
    // A longer wait is one during which this process did not run: the platform would have been silent.
    this.#waitedMs += Math.min(performance.now() - this.#waitingSinceMs, this.#periodMs);
    this.#bytes += bytes;
    if (this.#waitedMs < this.#periodMs) return;
    const bytesPerSecond = (this.#bytes / this.#waitedMs) * 1000;
    if (bytesPerSecond < this.#minBytesPerSecond) {
      throw new PlatformUnavailableError(
        `the answer brought ${Math.floor(bytesPerSecond)} bytes a second, expected at least ` +
          `${this.#minBytesPerSecond} (PLATFORM_MIN_BYTES_PER_SECOND)`,
        { context: { limit: 'PLATFORM_MIN_BYTES_PER_SECOND' } },
      );
    }
    this.#waitedMs = 0;
    this.#bytes = 0;
  }
}

function decode({ message }: HttpAnswer, pieces: Pieces): Pieces {
  const encoding = message.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity') return pieces;
  if (encoding === 'gzip' || encoding === 'x-gzip') return gunzip(pieces);
  throw new PlatformContractError(
    'the platform answered in a content encoding that was not asked for, expected gzip or none',
  );
}

/** Several gzip members in a row are one stream, as RFC 1952 has it. */
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
