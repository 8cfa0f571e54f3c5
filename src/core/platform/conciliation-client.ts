/**
 * The platform's interface: the operation `GET /api/anticipations/conciliation` here, `POST /api/providers`
 * in providers-client.ts, the token for both, and the contract of a title. Faults of the platform leave this
 * folder as errors of `errors.ts` or as the reasons of a rejected title. This folder repeats no request,
 * except once after a replaced token.
 */

import { PlatformContractError } from '../../base/runtime/errors.ts';
import type { PullWindow } from '../planner/pull-plan.ts';
import { requireJson } from './content-type.ts';
import {
  type AnswerBody,
  type HttpAnswer,
  HttpClient,
  type HttpClientOptions,
} from './http-client.ts';
import { type ProvidersClient, pushProviders } from './providers-client.ts';
import { toStatusError } from './status-error.ts';

/**
 * The body, to be iterated once. Ends only after a complete transfer as far as HTTP can tell: if the end of
 * the connection is the end of the body, only the JSON shows that it is complete. Holds a connection until
 * the iteration ends or is left, or the signal aborts.
 */
export interface ConciliationResponse extends AnswerBody {
  /** 200; any other status is an error. */
  readonly httpStatus: number;
}

export interface PlatformClient extends ProvidersClient {
  /**
   * Requests the titles accepted on a day (`conciliationDate`) or since a day (`anticipationDate`). This call
   * and the iteration throw PlatformUnavailableError, PlatformRateLimitedError, PlatformAuthError,
   * PlatformRequestError, PlatformContractError and TokenUnusableError. After an abort they throw the
   * signal's reason, or ShutdownError if the reason is not an error of this program.
   */
  fetchTitles(window: PullWindow, signal: AbortSignal): Promise<ConciliationResponse>;
  /** Aborts every request with a ShutdownError and closes all connections. */
  close(): Promise<void>;
}

export function createPlatformClient(options: HttpClientOptions): PlatformClient {
  const client = new HttpClient(options);
  return {
    async fetchTitles(window, signal) {
      const query = toQuery(window);
      const path = '/api/anticipations/conciliation';
      return accept(await client.send({ method: 'GET', path, query }, signal));
    },
    pushProviders: (providers, signal) => pushProviders(client, providers, signal),
    close: () => client.close(),
  };
}

function toQuery(window: PullWindow): Record<string, string> {
  if (window.to !== null && window.to !== window.from) {
    throw new RangeError('the platform can be asked for one day or for all since a day');
  }
  return { [window.to === null ? 'anticipationDate' : 'conciliationDate']: window.from };
}

/** Refuses everything except 200 with the whole document as JSON, before the body is read. */
function accept(answer: HttpAnswer): ConciliationResponse {
  const { httpStatus } = answer;
  try {
    if (httpStatus !== 200) throw toStatusError(answer, new Date());
    if (answer.header('content-range') !== undefined) {
      throw new PlatformContractError('the platform answered 200 with a part of the document');
    }
    requireJson(answer.header('content-type'));
    return { httpStatus, ...answer.open() };
  } catch (error) {
    answer.drop();
    throw error;
  }
}
