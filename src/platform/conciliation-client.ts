/**
 * The platform as this program sees it: its two operations, `GET /api/anticipations/conciliation`
 * here and `POST /api/providers` in providers-client.ts, the token that they take, and the contract
 * that each title is checked against. What the platform does wrong, on the wire or in a title, leaves
 * this folder as one of the classes of `errors.ts` or as a title's list of reasons; nothing here
 * retries, apart from one request after a rotated token.
 *
 * The transport is Node's own HTTP client: it takes an answer apart under backpressure without
 * mistaking a slow consumer, or a server that closes meanwhile, for a fault.
 */
import type { PullWindow } from '../domain/pull-plan.ts';
import { type AnswerLimits, openBody } from './answer-body.ts';
import { AuthorizedRequests, statusOf } from './authorized-requests.ts';
import { requireJson } from './content-type.ts';
import type { HttpAnswer } from './http-origin.ts';
import { type ProvidersClient, pushProviders } from './providers-client.ts';
import { toStatusError } from './status-error.ts';
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
  /** The reader takes no more titles than these. */
  readonly maxTitles: number;
}

export interface PlatformClient extends ProvidersClient {
  /**
   * The titles accepted on a day (`conciliationDate`) or since one (`anticipationDate`).
   *
   * Here and while iterating: PlatformUnavailableError, PlatformRateLimitedError,
   * PlatformAuthError, PlatformRequestError, PlatformContractError, TokenUnusableError, and when the signal aborts its reason, or ShutdownError where that is no error of ours.
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
  /** Longest silence of the platform. */
  readonly timeoutMs: number;
  /** Of each answer with titles; none unless told. */
  readonly limits?: AnswerLimits;
  readonly userAgent: string;
}

export function createPlatformClient(options: PlatformClientOptions): PlatformClient {
  const { timeoutMs, limits } = options;
  const requests = new AuthorizedRequests(options);
  return {
    async fetchTitles(window, signal) {
      const query = toQuery(window);
      const path = '/api/anticipations/conciliation';
      const answer = await requests.send({ method: 'GET', path, query }, signal);
      return accept(answer, timeoutMs, limits);
    },
    pushProviders: (providers, signal) => pushProviders(requests, timeoutMs, providers, signal),
    async close() {
      requests.close();
    },
  };
}

function toQuery(window: PullWindow): Record<string, string> {
  if (window.to !== null && window.to !== window.from) {
    throw new RangeError('the platform can be asked for one day or for all since a day');
  }
  return { [window.to === null ? 'anticipationDate' : 'conciliationDate']: window.from };
}

/** Refuses everything but 200 with JSON before a byte of its body is read. */
function accept(
  answer: HttpAnswer,
  timeoutMs: number,
  limits: AnswerLimits | undefined,
): ConciliationResponse {
  const { headers } = answer.message;
  const httpStatus = statusOf(answer);
  try {
    if (httpStatus !== 200) throw toStatusError(httpStatus, headers, new Date());
    requireJson(headers['content-type']);
    const maxTitles = limits?.maxTitles ?? Number.POSITIVE_INFINITY;
    return { httpStatus, maxTitles, ...openBody(answer, timeoutMs, limits) };
  } catch (error) {
    answer.message.destroy();
    throw error;
  }
}
