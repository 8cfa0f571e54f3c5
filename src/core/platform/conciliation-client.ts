/**
 * The platform's interface: the operation `GET /api/anticipations/conciliation` here, `POST /api/providers`
 * in providers-client.ts, the token for both, and the contract of a title. Faults of the platform leave this
 * folder as errors of `errors.ts` or as the reasons of a rejected title. This folder repeats no request. The
 * transport is Node's own HTTP client. It applies backpressure and does not report a slow consumer, or a server
 * that closes meanwhile, as a fault.
 */

import { PlatformContractError } from '../../base/runtime/errors.ts';
import type { PullWindow } from '../title/title-contract.ts';
import {
  type AnswerBody,
  type HttpAnswer,
  HttpOrigin,
  type HttpOriginOptions,
} from './http-origin.ts';
import { type ProvidersClient, pushProviders } from './providers-client.ts';
import { toStatusError } from './status-error.ts';

/**
 * An answer of 200; any other status is an error. Its body is iterated once. If the end of the connection is the end of
 * the body, only the JSON shows that it is complete. Holds a connection until the iteration ends or is left, or the
 * signal aborts.
 */
export interface ConciliationResponse extends AnswerBody {
  readonly httpStatus: number;
  /** Ends the transfer, also while a chunk is awaited. */
  readonly drop: () => void;
}

export interface PlatformClient extends ProvidersClient {
  /**
   * Requests the titles accepted on a day (`conciliationDate`) or since a day (`anticipationDate`). This call
   * and the iteration throw PlatformUnavailableError, PlatformRateLimitedError, PlatformAuthError,
   * PlatformRequestError, PlatformContractError and TokenUnusableError. After an abort they throw the
   * signal's reason, or ShutdownError if the reason is not an error of this program.
   */
  fetchTitles(window: PullWindow, signal: AbortSignal): Promise<ConciliationResponse>;
  /** Closes the connections. Requests are ended by their signals before. */
  close(): Promise<void>;
}

export function createPlatformClient(options: HttpOriginOptions): PlatformClient {
  const origin = new HttpOrigin(options);
  return {
    async fetchTitles(window, signal) {
      const query = toQuery(window);
      const path = '/api/anticipations/conciliation';
      const answer = await origin.send({ method: 'GET', path, query }, signal);
      return accept(answer);
    },
    pushProviders: (providers, signal) => pushProviders(origin, providers, signal),
    async close() {
      origin.close();
    },
  };
}

function toQuery(window: PullWindow): Record<string, string> {
  return { [window.to === null ? 'anticipationDate' : 'conciliationDate']: window.from };
}

/** Refuses everything except 200 with the whole document as JSON, before the body is read. */
function accept(answer: HttpAnswer): ConciliationResponse {
  const { status: httpStatus, headers } = answer;
  try {
    if (httpStatus !== 200) throw toStatusError(httpStatus, headers, new Date());
    if (headers['content-range'] !== undefined) {
      throw new PlatformContractError(
        'the platform answered 200 with a part of the document',
        CONTEXT,
      );
    }
    requireJson(headers['content-type']);
    return { httpStatus, ...answer.openBody(), drop: answer.drop };
  } catch (error) {
    answer.drop();
    throw error;
  }
}

const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]{1,64}\/[a-z0-9!#$&^_.+-]{1,64}$/;
const JSON_MEDIA_TYPE = /^application\/(?:[^/]+\+)?json$/;
/** Of an answer that its header refuses. */
const CONTEXT = { context: { httpStatus: 200 } };
const CHARSET = /;\s*charset\s*=\s*"?([^\s";]*)/i;

/** @throws PlatformContractError unless the header says JSON in UTF-8 */
function requireJson(header: string | undefined): void {
  const text = header ?? '';
  const mediaType = text.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (!JSON_MEDIA_TYPE.test(mediaType)) {
    // The header may hold any text, so only a well-formed media type is quoted.
    const got = MEDIA_TYPE.test(mediaType) ? mediaType : 'no media type';
    throw new PlatformContractError(
      `the platform answered with ${got}, expected application/json`,
      CONTEXT,
    );
  }
  const charset = CHARSET.exec(text)?.[1]?.toLowerCase() ?? 'utf-8';
  if (charset !== 'utf-8' && charset !== 'utf8') {
    throw new PlatformContractError(
      'the platform answered with JSON that is not in UTF-8',
      CONTEXT,
    );
  }
}
