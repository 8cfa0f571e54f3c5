/**
 * The platform as this program sees it: one operation, `GET /api/anticipations/conciliation`, the
 * token that it takes, and the contract that each title is checked against. What the platform does
 * wrong, on the wire or in a title, leaves this folder as one of the classes of `errors.ts` or as a
 * title's list of reasons; nothing here retries, apart from one request after a rotated token.
 *
 * The transport is Node's own HTTP client: it takes an answer apart under backpressure without
 * mistaking a slow consumer, or a server that closes meanwhile, for a fault.
 */
import type { PullWindow } from '../domain/pull-plan.ts';
import { openBody } from './answer-body.ts';
import { requireJson } from './content-type.ts';
import { type HttpAnswer, HttpOrigin } from './http-origin.ts';
import { isTokenRefused, toStatusError } from './status-error.ts';
import type { TokenSource } from './token.ts';

export interface ConciliationResponse {
  /** 200; any other status is an error. */
  readonly httpStatus: number;
  /**
   * The decoded body, to be iterated once. Ends only where the transfer ended cleanly, as far as HTTP
   * can tell: where the end of the connection is the end of the body, only the JSON can. Holds a
   * connection until it ended, was left early, or the signal aborted.
   */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Decoded bytes handed out so far. */
  readonly bytesReceived: () => number;
}

export interface PlatformClient {
  /**
   * The titles accepted on a day (`conciliationDate`) or since one (`anticipationDate`).
   *
   * Here and while iterating: PlatformUnavailableError, PlatformRateLimitedError,
   * PlatformAuthError, PlatformRequestError, PlatformContractError, ConfigError from the token's
   * source, and when the signal aborts its reason, or ShutdownError where that is no error of ours.
   */
  fetchTitles(window: PullWindow, signal: AbortSignal): Promise<ConciliationResponse>;
  /** Ends every request under way with a ShutdownError and closes all connections. */
  close(): Promise<void>;
}

export interface PlatformClientOptions {
  /** `http:` or `https:`; its path is a prefix of every request's. */
  readonly baseUrl: URL;
  readonly token: TokenSource;
  /** Most requests at once. An answer counts until its body is over. */
  readonly concurrency: number;
  /** Longest silence of the platform; how long an answer takes in all is not limited. */
  readonly timeoutMs: number;
  readonly userAgent: string;
}

export function createPlatformClient(options: PlatformClientOptions): PlatformClient {
  const { token, timeoutMs, userAgent } = options;
  const origin = new HttpOrigin(options);

  const request = (url: URL, bearer: string, signal: AbortSignal): Promise<HttpAnswer> =>
    origin.get(
      url,
      {
        accept: 'application/json',
        'accept-encoding': 'gzip',
        authorization: `Bearer ${bearer}`,
        'user-agent': userAgent,
      },
      signal,
    );

  return {
    async fetchTitles(window, signal) {
      const url = toConciliationUrl(options.baseUrl, window);
      const bearer = await token.current();
      let answer = await request(url, bearer, signal);
      if (isTokenRefused(toStatus(answer))) {
        // The token may have been rotated since it was read. One that is the same, or refused too,
        // is for a person to see to.
        const rotated = await token.reread().finally(() => answer.message.destroy());
        if (rotated !== bearer) answer = await request(url, rotated, signal);
      }
      return accept(answer, timeoutMs);
    },
    async close() {
      origin.close();
    },
  };
}

function toConciliationUrl(baseUrl: URL, window: PullWindow): URL {
  if (window.to !== null && window.to !== window.from) {
    throw new RangeError('the platform can be asked for one day or for all since a day');
  }
  const url = new URL(baseUrl);
  url.pathname = `${baseUrl.pathname.replace(/\/+$/, '')}/api/anticipations/conciliation`;
  url.searchParams.set(window.to === null ? 'anticipationDate' : 'conciliationDate', window.from);
  return url;
}

function toStatus(answer: HttpAnswer): number {
  return answer.message.statusCode ?? 0;
}

/** Refuses everything but 200 with JSON before a byte of its body is read. */
function accept(answer: HttpAnswer, timeoutMs: number): ConciliationResponse {
  const { headers } = answer.message;
  const httpStatus = toStatus(answer);
  try {
    if (httpStatus !== 200) throw toStatusError(httpStatus, headers, new Date());
    requireJson(headers['content-type']);
    return { httpStatus, ...openBody(answer, timeoutMs) };
  } catch (error) {
    answer.message.destroy();
    throw error;
  }
}
