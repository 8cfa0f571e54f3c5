import { type ConciliationError, PlatformContractError } from '../../base/runtime/errors.ts';
import type { HttpAnswer, HttpOrigin } from './http-origin.ts';
import { toStatusError } from './status-error.ts';

/** The documented limit. The platform refuses a request with more. */
export const MAX_PROVIDERS_PER_REQUEST = 100;

/** Enough for the status of a hundred providers. Further bytes are not read. */
export const MAX_ANSWER_BYTES = 1024 * 1024;

/** Any answer to `POST /api/providers`, including errors. */
export interface ProvidersAnswer {
  readonly httpStatus: number;
  /** Decoded, at most `MAX_ANSWER_BYTES`. The body of an error may be incomplete or missing. */
  readonly body: Buffer;
  /** Null for 200, otherwise the meaning of the status, as for pulls. */
  readonly error: ConciliationError | null;
}

export interface ProvidersClient {
  /**
   * Creates or updates up to `MAX_PROVIDERS_PER_REQUEST` providers. The same request may be repeated. Throws
   * without a complete answer; the platform may nevertheless have applied the request. After an abort
   * the error is the signal's reason, or ShutdownError if the reason is not an error of this program.
   * @throws PlatformUnavailableError
   * @throws PlatformContractError
   * @throws TokenUnusableError
   */
  pushProviders(providers: readonly object[], signal: AbortSignal): Promise<ProvidersAnswer>;
}

export async function pushProviders(
  origin: HttpOrigin,
  providers: readonly object[],
  signal: AbortSignal,
): Promise<ProvidersAnswer> {
  const answer = await origin.send(
    { method: 'POST', path: '/api/providers', body: { providers } },
    signal,
  );
  const { status: httpStatus } = answer;
  try {
    const error = toError(answer);
    return { httpStatus, body: await readBody(answer, error !== null, signal), error };
  } finally {
    answer.drop();
  }
}

/**
 * The body of a 200 is not documented and may be anything, including empty. A web page comes from a
 * proxy or another server and proves nothing.
 */
function toError({ status: httpStatus, headers }: HttpAnswer): ConciliationError | null {
  if (httpStatus !== 200) return toStatusError(httpStatus, headers, new Date());
  return /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(headers['content-type'] ?? '')
    ? new PlatformContractError('the platform answered 200 with a web page', {
        context: { httpStatus },
      })
    : null;
}

/** The status of an error counts even if its body does not arrive. */
async function readBody(
  answer: HttpAnswer,
  isError: boolean,
  signal: AbortSignal,
): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let left = MAX_ANSWER_BYTES;
  try {
    for await (const piece of answer.openBody().chunks) {
      pieces.push(piece.subarray(0, left));
      left -= piece.length;
      if (left <= 0) break;
    }
  } catch (error) {
    if (!isError || signal.aborted) throw error;
  }
  return Buffer.concat(pieces);
}
