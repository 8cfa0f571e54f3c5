import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { type Dispatcher, errors, Pool } from 'undici';
import {
  ConciliationError,
  faultCode,
  PlatformContractError,
  PlatformUnavailableError,
  ShutdownError,
} from '../../base/runtime/errors.ts';
import { isTokenRefused } from './status-error.ts';
import type { TokenSource } from './token.ts';

/** Idle connections are closed before most servers close theirs, so that few requests meet a closed one. */
const IDLE_CONNECTION_MS = 4000;
const MINUTE_MS = 60_000;
/** The limit of the program. */
export const MAX_ANSWER_MINUTES = 60;

export interface HttpClientOptions {
  /** `http:` or `https:`. The path is the prefix of every request's path. */
  readonly baseUrl: URL;
  readonly token: TokenSource;
  /**
   * Limit for concurrent requests. A request ends with the body of its answer. Further ones wait, and the
   * wait counts towards no timeout.
   */
  readonly concurrency: number;
  /**
   * Longest silence of the platform, in milliseconds: while connecting, before the headers, and between
   * two chunks of the body.
   */
  readonly timeoutMs: number;
  /** Limits for each answer; default: none. */
  readonly limits?: {
    /** From the headers to the end. */
    readonly maxMinutes: number;
    /** Decoded bytes. */
    readonly maxBytes: number;
  };
  readonly userAgent: string;
}

/** An operation of the platform, named as in its documentation. */
export interface PlatformRequest {
  readonly method: 'GET' | 'POST';
  /** The path below the base address, beginning with `/`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
}

export interface AnswerBody {
  /** Decoded bytes. Ends only after a complete transfer; leaving the iteration early drops the connection. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Number of decoded bytes handed out. */
  readonly bytesReceived: () => number;
}

/** An answer with its headers. Holds its connection until the body is read or dropped. */
export interface HttpAnswer {
  readonly httpStatus: number;
  /** By lower-case name. The values of a repeated header are one text. */
  header(name: string): string | undefined;
  /**
   * Opens the body, to be read once. Reads on demand. Reading throws PlatformUnavailableError when the transfer
   * is cut, is silent for `timeoutMs` or exceeds the time limit, and PlatformContractError when the body does
   * not match its headers or exceeds the size limit. If a limit is exceeded, the error's context has its name
   * as `limit`.
   * @throws PlatformContractError for an encoding that was not requested
   */
  open(): AnswerBody;
  drop(): void;
}

/** Requests to the platform that carry the token. undici follows no redirect and repeats no request. */
export class HttpClient {
  readonly #options: HttpClientOptions;
  readonly #pool: Pool;
  readonly #closed = new AbortController();

  constructor(options: HttpClientOptions) {
    const { baseUrl, concurrency, timeoutMs } = options;
    this.#options = options;
    this.#pool = new Pool(baseUrl.origin, {
      connections: concurrency,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      keepAliveTimeout: IDLE_CONNECTION_MS,
      keepAliveMaxTimeout: IDLE_CONNECTION_MS,
      // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED cannot turn the verification off.
      connect: { timeout: timeoutMs, rejectUnauthorized: true },
    });
  }

  /**
   * Sends a request and returns the answer with any status. If the platform refuses the token and
   * the source holds another one, the request is sent a second time, once.
   *
   * @throws PlatformUnavailableError when no answer begins
   * @throws PlatformContractError when the answer is not HTTP
   * @throws the errors of the token's source
   * @throws the error of `toStopReason` when the signal aborts, also during the wait for a connection
   */
  async send(request: PlatformRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const { token } = this.#options;
    const bearer = await token.current();
    const answer = await this.#sendWith(bearer, request, signal);
    if (!isTokenRefused(answer.httpStatus)) return answer;
    // The token may have been replaced since it was read. An unchanged token, or a second refusal,
    // needs a person.
    const rotated = await token.reread().catch((error: unknown) => {
      answer.drop();
      throw error;
    });
    if (rotated === bearer) return answer;
    answer.drop();
    return this.#sendWith(rotated, request, signal);
  }

  /** Aborts every request with a ShutdownError and closes all connections. */
  async close(): Promise<void> {
    this.#closed.abort(new ShutdownError('the client was closed'));
    await this.#pool.destroy();
  }

  async #sendWith(
    bearer: string,
    { method, path, query = {}, body }: PlatformRequest,
    signal: AbortSignal,
  ): Promise<HttpAnswer> {
    const { baseUrl, timeoutMs, limits, userAgent } = this.#options;
    const limit = new AbortController();
    const stop = AbortSignal.any([signal, this.#closed.signal, limit.signal]);
    let response: Dispatcher.ResponseData;
    try {
      stop.throwIfAborted();
      const sent = this.#pool.request({
        method,
        path: baseUrl.pathname.replace(/\/+$/, '') + path,
        query,
        headers: {
          accept: 'application/json',
          'accept-encoding': 'gzip',
          authorization: `Bearer ${bearer}`,
          'user-agent': userAgent,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        signal: stop,
      });
      response = await untilAborted(sent, stop);
    } catch (error) {
      throw stop.aborted ? toStopReason(stop) : toConnectionError(error, timeoutMs);
    }
    if (limits !== undefined) {
      const error = new PlatformUnavailableError(
        `the answer had not ended after ${limits.maxMinutes} minutes`,
        { context: { limit: 'minutes' } },
      );
      const timer = setTimeout(() => limit.abort(error), limits.maxMinutes * MINUTE_MS);
      response.body.once('close', () => clearTimeout(timer));
    }
    return toAnswer(response, stop, this.#options);
  }
}

/** undici does not look at the signal of a request that waits for a connection. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function toAnswer(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  stop: AbortSignal,
  { timeoutMs, limits }: HttpClientOptions,
): HttpAnswer {
  const header = (name: string) => headers[name]?.toString();
  // A stream throws an error that has no listener. The reader of the body receives the error in any case.
  body.on('error', () => {});
  return {
    httpStatus: statusCode,
    header,
    drop: () => void body.destroy(),
    open() {
      const pieces = decode(body, header);
      let bytes = 0;
      const iterator: AsyncIterableIterator<Uint8Array> = {
        async next() {
          try {
            const piece = await pieces.next();
            // A stopped transfer is not complete, even if all bytes were buffered.
            stop.throwIfAborted();
            bytes += piece.value?.length ?? 0;
            if (limits !== undefined && bytes > limits.maxBytes) throw tooLong(limits.maxBytes);
            return piece;
          } catch (error) {
            body.destroy();
            throw stop.aborted ? toStopReason(stop) : toTransferError(error, bytes, timeoutMs);
          }
        },
        async return() {
          // Before the return of the generator, which cannot end while it waits for a chunk.
          body.destroy();
          await pieces.return(undefined).catch(() => {});
          return { done: true, value: undefined };
        },
        [Symbol.asyncIterator]: () => iterator,
      };
      return { chunks: iterator, bytesReceived: () => bytes };
    },
  };
}

type Pieces = AsyncGenerator<Buffer, void, undefined>;

function decode(body: Readable, header: HttpAnswer['header']): Pieces {
  const length = Number(header('content-length') ?? Number.NaN);
  let sentBytes = 0;
  const sent = (async function* (): Pieces {
    try {
      for await (const piece of body as AsyncIterable<Buffer>) {
        sentBytes += piece.length;
        yield piece;
      }
    } catch (error) {
      // undici may report a connection that the server closed after the last byte, before we took that byte.
      if (sentBytes !== length) throw error;
    }
  })();
  const encoding = header('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'gzip' || encoding === 'x-gzip') return gunzip(sent, () => sentBytes);
  if (encoding === 'identity') return sent;
  throw new PlatformContractError(
    'the platform answered in a content encoding that was not asked for, expected gzip or none',
  );
}

/** Decodes gzip. Several members in a row are one stream (RFC 1952, section 2.2). */
async function* gunzip(sent: Pieces, sentBytes: () => number): Pieces {
  const decoded = pipeline(sent, createGunzip(), () => {});
  yield* decoded as AsyncIterable<Buffer>;
  // zlib ends without an error at a zero byte after a member and ignores the bytes that follow.
  if (decoded.bytesWritten !== sentBytes()) {
    throw new PlatformContractError("data follows the end of the answer's gzip stream");
  }
}

function tooLong(maxBytes: number): PlatformContractError {
  return new PlatformContractError(
    `the answer is longer than ${maxBytes} bytes (PLATFORM_MAX_BYTES)`,
    { context: { limit: 'PLATFORM_MAX_BYTES' } },
  );
}

/** Returns the signal's reason if it is an error of this program, otherwise a ShutdownError. */
export function toStopReason(signal: AbortSignal): ConciliationError {
  return signal.reason instanceof ConciliationError
    ? signal.reason
    : new ShutdownError('the request was stopped');
}

/** Errors of undici before it has the headers. */
const NOT_HTTP = [
  errors.HTTPParserError,
  errors.HeadersOverflowError,
  errors.ResponseContentLengthMismatchError,
];

const SILENCE = /^UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT$/;

function silenceError(timeoutMs: number): PlatformUnavailableError {
  return new PlatformUnavailableError(`the platform sent nothing for ${timeoutMs / 1000} seconds`, {
    context: { timeoutMs },
  });
}

function toConnectionError(error: unknown, timeoutMs: number): ConciliationError {
  const code = faultCode(error);
  if (SILENCE.test(code)) return silenceError(timeoutMs);
  if (NOT_HTTP.some((kind) => error instanceof kind)) {
    // Without a cause, because a parser's error holds the raw packet.
    return new PlatformContractError("the platform's answer is not HTTP");
  }
  return new PlatformUnavailableError(`no answer from the platform (${code})`, {
    cause: error,
    context: { systemCode: code },
  });
}

function toTransferError(error: unknown, bytesReceived: number, timeoutMs: number): unknown {
  if (error instanceof ConciliationError) return error;
  const code = faultCode(error);
  if (SILENCE.test(code)) return silenceError(timeoutMs);
  if (code === 'Z_DATA_ERROR' || code === 'Z_NEED_DICT') {
    return new PlatformContractError("the answer's gzip stream is broken", { cause: error });
  }
  return new PlatformUnavailableError(`the transfer was cut after ${bytesReceived} bytes`, {
    cause: error,
    context: { bytesReceived },
  });
}
