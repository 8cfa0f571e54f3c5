import * as http from 'node:http';
import * as https from 'node:https';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import {
  ConciliationError,
  PlatformContractError,
  PlatformUnavailableError,
  ShutdownError,
} from '../../base/runtime/errors.ts';
import type { TokenSource } from './token.ts';

/** Idle connections are closed before most servers close theirs, so that few requests meet a closed one. */
const IDLE_CONNECTION_MS = 4000;

/** Of the answers with titles, for each: its time from the headers to the end, and its decoded bytes. */
export const ANSWER_LIMITS = { maxMinutes: 60, maxBytes: 16 * 1024 ** 3 };

const MINUTE_MS = 60_000;

export interface HttpOriginOptions {
  /** `http:` or `https:`. The path is the prefix of every request's path. */
  readonly baseUrl: URL;
  readonly token: TokenSource;
  /** Limit for concurrent requests. Further ones wait, and the wait counts towards no timeout. */
  readonly concurrency: number;
  /**
   * Longest silence in milliseconds: while connecting, before the headers, and between two chunks
   * of the body.
   */
  readonly timeoutMs: number;
  readonly userAgent: string;
  /** Absent: none. */
  readonly limits?: Readonly<typeof ANSWER_LIMITS>;
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

/** An answer with its headers. Holds its connection until the body is read or dropped. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  /**
   * Opens the body. It is read only on demand, at most a few buffers ahead of the consumer.
   * Reading throws PlatformUnavailableError when the transfer is cut, is silent for `timeoutMs`
   * or exceeds the time limit, and PlatformContractError when the body does not match its headers or
   * exceeds the size limit. If a limit is exceeded, the error's context has its name as `limit`.
   * @throws PlatformContractError for an encoding that was not requested
   */
  openBody(): AnswerBody;
  drop(): void;
}

export interface AnswerBody {
  /** Decoded bytes. Ends only after a complete transfer; leaving the iteration early drops the connection. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Number of decoded bytes handed out. */
  readonly bytesReceived: () => number;
}

/** Requests with the token to one origin, on Node's own HTTP client: no redirects, no cookies. */
export class HttpOrigin {
  readonly #options: HttpOriginOptions;
  readonly #agent: http.Agent;

  constructor(options: HttpOriginOptions) {
    this.#options = options;
    const agentOptions = {
      keepAlive: true,
      maxSockets: options.concurrency,
      timeout: IDLE_CONNECTION_MS,
    };
    // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED cannot turn the verification off.
    this.#agent =
      options.baseUrl.protocol === 'https:'
        ? new https.Agent({ ...agentOptions, rejectUnauthorized: true })
        : new http.Agent(agentOptions);
  }

  /** Closes the connections. Requests are ended by their signals before. */
  close(): void {
    this.#agent.destroy();
  }

  /**
   * Sends a request, waits for the headers, and returns the answer with any status.
   * @throws PlatformUnavailableError when no answer begins
   * @throws PlatformContractError when the answer is not HTTP
   * @throws TokenUnusableError when the source has no usable token
   * @throws the error of `toStopReason` when the signal aborts, also during the wait for a connection
   */
  async send(
    { method, path, query = {}, body }: PlatformRequest,
    signal: AbortSignal,
  ): Promise<HttpAnswer> {
    const bearer = await this.#options.token.current();
    if (signal.aborted) throw toStopReason(signal);
    const { baseUrl, userAgent } = this.#options;
    const url = new URL(baseUrl);
    url.pathname = url.pathname.replace(/\/+$/, '') + path;
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const content = body === undefined ? null : Buffer.from(JSON.stringify(body));
    const open = url.protocol === 'https:' ? https.request : http.request;
    const request = open(url, {
      agent: this.#agent,
      method,
      headers: {
        accept: 'application/json',
        'accept-encoding': 'gzip',
        authorization: `Bearer ${bearer}`,
        'user-agent': userAgent,
        ...(content !== null && {
          'content-type': 'application/json',
          'content-length': content.length,
        }),
      },
    });
    return new Exchange(request, this.#options, signal).answer(content);
  }
}

class Exchange {
  readonly #request: http.ClientRequest;
  readonly #options: HttpOriginOptions;
  readonly #signal: AbortSignal;
  #message: http.IncomingMessage | null = null;
  #stopReason: ConciliationError | null = null;
  #silence: NodeJS.Timeout | undefined;
  #bytesReceived = 0;
  #fail: (reason: ConciliationError) => void = () => {};

  constructor(request: http.ClientRequest, options: HttpOriginOptions, signal: AbortSignal) {
    this.#request = request;
    this.#options = options;
    this.#signal = signal;
    const onAbort = () => this.#stop(toStopReason(signal));
    const unfollow = () => signal.removeEventListener('abort', onAbort);
    signal.addEventListener('abort', onAbort, { once: true });
    request.once('close', () => {
      // A connection may close long before the last buffered chunk of the body is read.
      if (this.#message === null || this.#message.closed) unfollow();
      else this.#message.once('close', unfollow);
    });
  }

  /** Waits for bytes of the platform, at most `timeoutMs` from now on. */
  #awaitBytes(): void {
    const { timeoutMs } = this.#options;
    const message = `the platform sent nothing for ${timeoutMs / 1000} seconds`;
    clearTimeout(this.#silence);
    this.#silence = setTimeout(
      () => this.#stop(new PlatformUnavailableError(message, { context: { timeoutMs } })),
      timeoutMs,
    );
  }

  #stop(reason: ConciliationError): void {
    this.#stopReason ??= reason;
    (this.#message ?? this.#request).destroy(reason);
    // A request that waits for a connection emits nothing about its end until it has one.
    this.#fail(this.#stopReason);
  }

  answer(body: Buffer | null): Promise<HttpAnswer> {
    const request = this.#request;
    return new Promise((resolve, reject) => {
      this.#fail = (reason) => {
        clearTimeout(this.#silence);
        reject(this.#findStopReason() ?? reason);
      };
      // The request has a connection or is opening one.
      request.once('socket', (socket) => {
        this.#awaitBytes();
        if (!socket.connecting) return;
        socket.once('connect', () => this.#awaitBytes());
        socket.once('secureConnect', () => this.#awaitBytes());
      });
      request.once('response', (message) => {
        clearTimeout(this.#silence);
        this.#message = message;
        // A stream throws an error that has no listener. The reader of the body receives the error
        // in any case.
        message.on('error', () => {});
        resolve({
          status: message.statusCode ?? 0,
          headers: message.headers,
          openBody: () => this.#openBody(message),
          drop: () => message.destroy(),
        });
      });
      // Stays for the whole exchange: after the headers, the request still emits the errors of its socket.
      request.on('error', (error) => this.#fail(toConnectionError(error)));
      // No earlier error occurs if the server would switch to another protocol.
      request.once('close', () => this.#fail(toConnectionError(new Error('no answer'))));
      request.end(body);
    });
  }

  /** Checks the signal too, which may abort after the last byte, while the consumer still works. */
  #findStopReason(): ConciliationError | null {
    return this.#stopReason ?? (this.#signal.aborted ? toStopReason(this.#signal) : null);
  }

  #openBody(message: http.IncomingMessage): AnswerBody {
    const { limits } = this.#options;
    if (limits !== undefined) this.#stopAfter(message, limits.maxMinutes);
    const chunks = this.#readBody(message, decode(message, this.#readPieces(message)));
    return { chunks, bytesReceived: () => this.#bytesReceived };
  }

  async *#readBody(
    message: http.IncomingMessage,
    pieces: AsyncIterable<Buffer>,
  ): AsyncGenerator<Buffer> {
    const maxBytes = this.#options.limits?.maxBytes ?? Number.POSITIVE_INFINITY;
    try {
      for await (const piece of pieces) {
        this.#bytesReceived += piece.length;
        if (this.#bytesReceived > maxBytes) {
          throw new PlatformContractError(`the answer is longer than ${maxBytes} bytes`, {
            context: { limit: 'bytes' },
          });
        }
        yield piece;
      }
      // A stopped transfer is not complete, even if all bytes were buffered.
      if (this.#findStopReason() !== null) throw new TransferCut();
    } catch (error) {
      throw this.#findStopReason() ?? toTransferError(error, this.#bytesReceived);
    } finally {
      message.destroy();
    }
  }

  #stopAfter(message: http.IncomingMessage, maxMinutes: number): void {
    const error = new PlatformUnavailableError(
      `the answer had not ended after ${maxMinutes} minutes`,
      { context: { limit: 'minutes' } },
    );
    const timer = setTimeout(() => this.#stop(error), maxMinutes * MINUTE_MS);
    message.once('close', () => clearTimeout(timer));
  }

  async *#readPieces(message: http.IncomingMessage): AsyncGenerator<Buffer> {
    const { headers, socket } = message;
    const endsWithConnection = !('content-length' in headers || 'transfer-encoding' in headers);
    try {
      // Runs only while a chunk is awaited, so that a slow consumer does not count as silence of the platform.
      this.#awaitBytes();
      for await (const piece of message as AsyncIterable<Buffer>) {
        clearTimeout(this.#silence);
        yield piece;
        this.#awaitBytes();
      }
    } finally {
      clearTimeout(this.#silence);
    }
    // Node treats any end of the connection as the end of such a body, even a reset.
    if (!message.complete || (endsWithConnection && socket.errored)) throw new TransferCut();
  }
}

/** Returns the signal's reason if it is an error of this program, otherwise a ShutdownError. */
export function toStopReason(signal: AbortSignal): ConciliationError {
  return signal.reason instanceof ConciliationError
    ? signal.reason
    : new ShutdownError('the request was stopped');
}

function toConnectionError(error: Error): ConciliationError {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
  if (code.startsWith('HPE_')) {
    // Without a cause, because Node's parser errors hold the raw packet.
    return new PlatformContractError(`the platform's answer is not HTTP (${code})`);
  }
  return new PlatformUnavailableError(`no answer from the platform (${code})`, {
    cause: error,
    context: { systemCode: code },
  });
}

function decode(
  message: http.IncomingMessage,
  pieces: AsyncIterable<Buffer>,
): AsyncIterable<Buffer> {
  const encoding = message.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity') return pieces;
  // Several members in a row are one stream (RFC 1952, section 2.2).
  if (/^(x-)?gzip$/.test(encoding)) return pipeline(pieces, createGunzip(), () => {});
  throw new PlatformContractError(
    'the platform answered in a content encoding that was not asked for, expected gzip or none',
  );
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
