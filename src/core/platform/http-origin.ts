import * as http from 'node:http';
import * as https from 'node:https';
import {
  ConciliationError,
  PlatformContractError,
  PlatformUnavailableError,
  ShutdownError,
} from '../../base/runtime/errors.ts';
import type { TokenSource } from './token.ts';

/** Idle connections are closed before most servers close theirs, so that few requests meet a closed one. */
const IDLE_CONNECTION_MS = 4000;

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

/** An answer with its headers. Holds its connection until the body is read or destroyed. */
export interface HttpAnswer {
  readonly status: number;
  readonly message: http.IncomingMessage;
  /** Ends the answer; reading it then fails. The first reason counts. */
  stop(reason: ConciliationError): void;
  /** Null: the answer was not stopped. */
  stopReason(): ConciliationError | null;
}

/** Requests with the token to one origin, on Node's own HTTP client: no redirects, no cookies. */
export class HttpOrigin {
  readonly #options: HttpOriginOptions;
  readonly #agent: http.Agent;
  readonly #open = new Set<Exchange>();
  #isClosed = false;

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

  /** Stops every request with a ShutdownError and closes the connections. */
  close(): void {
    this.#isClosed = true;
    for (const exchange of this.#open) exchange.stop(new ShutdownError('the client was closed'));
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
    if (this.#isClosed) throw new ShutdownError('the client is closed');
    if (signal.aborted) throw toStopReason(signal);
    const { baseUrl, timeoutMs, userAgent } = this.#options;
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
    const exchange = new Exchange(request, timeoutMs, signal);
    this.#open.add(exchange);
    exchange.whenOver(() => this.#open.delete(exchange));
    return exchange.answer(content);
  }
}

class Exchange {
  readonly #request: http.ClientRequest;
  readonly #silence: SilenceTimer;
  readonly #signal: AbortSignal;
  #message: http.IncomingMessage | null = null;
  #stopReason: ConciliationError | null = null;
  #fail: (reason: ConciliationError) => void = () => {};

  constructor(request: http.ClientRequest, timeoutMs: number, signal: AbortSignal) {
    this.#request = request;
    this.#silence = new SilenceTimer(timeoutMs, () => this.stop(silenceError(timeoutMs)));
    this.#signal = signal;
    const onAbort = () => this.stop(toStopReason(signal));
    signal.addEventListener('abort', onAbort, { once: true });
    this.whenOver(() => signal.removeEventListener('abort', onAbort));
  }

  stop(reason: ConciliationError): void {
    this.#stopReason ??= reason;
    (this.#message ?? this.#request).destroy(reason);
    // A request that waits for a connection emits nothing about its end until it has one.
    this.#fail(this.#stopReason);
  }

  answer(body: Buffer | null): Promise<HttpAnswer> {
    const request = this.#request;
    return new Promise((resolve, reject) => {
      this.#fail = (reason) => {
        this.#silence.clear();
        reject(this.#findStopReason() ?? reason);
      };
      // The request has a connection or is opening one.
      request.once('socket', (socket) => {
        this.#silence.arm();
        if (!socket.connecting) return;
        socket.once('connect', () => this.#silence.arm());
        socket.once('secureConnect', () => this.#silence.arm());
      });
      request.once('response', (message) => {
        this.#silence.clear();
        this.#message = message;
        // A stream throws an error that has no listener. The reader of the body receives the error
        // in any case.
        message.on('error', () => {});
        resolve({
          status: message.statusCode ?? 0,
          message,
          stop: (reason) => this.stop(reason),
          stopReason: () => this.#findStopReason(),
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

  /** Calls back when the request has failed, or its answer is read to the end or destroyed. */
  whenOver(callback: () => void): void {
    this.#request.once('close', () => {
      // A connection may close long before the last buffered chunk of the body is read.
      if (this.#message === null || this.#message.closed) callback();
      else this.#message.once('close', callback);
    });
  }
}

/** Returns the signal's reason if it is an error of this program, otherwise a ShutdownError. */
export function toStopReason(signal: AbortSignal): ConciliationError {
  return signal.reason instanceof ConciliationError
    ? signal.reason
    : new ShutdownError('the request was stopped');
}

export function silenceError(timeoutMs: number): PlatformUnavailableError {
  return new PlatformUnavailableError(`the platform sent nothing for ${timeoutMs / 1000} seconds`, {
    context: { timeoutMs },
  });
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

/** Calls back once if nothing was received for `timeoutMs` after the last `arm`. */
export class SilenceTimer {
  readonly #timeoutMs: number;
  readonly #onSilence: () => void;
  #timeout: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;

  constructor(timeoutMs: number, onSilence: () => void) {
    this.#timeoutMs = timeoutMs;
    this.#onSilence = onSilence;
  }

  arm(): void {
    this.clear();
    this.#timeout = setTimeout(() => {
      // After a pause of the whole process, the timer is due before the bytes in the kernel are
      // read. An immediate runs after them and is cleared if they arrive.
      this.#immediate = setImmediate(this.#onSilence);
    }, this.#timeoutMs);
  }

  clear(): void {
    clearTimeout(this.#timeout);
    clearImmediate(this.#immediate);
  }
}
