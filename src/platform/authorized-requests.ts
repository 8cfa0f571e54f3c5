import { type HttpAnswer, HttpOrigin, type HttpOriginOptions } from './http-origin.ts';
import { isTokenRefused } from './status-error.ts';
import type { TokenSource } from './token.ts';

export interface AuthorizedRequestsOptions extends HttpOriginOptions {
  /** Its path is a prefix of every request's. */
  readonly baseUrl: URL;
  readonly token: TokenSource;
  readonly userAgent: string;
}

/** One of the platform's operations, as its documentation spells it. */
export interface PlatformRequest {
  readonly method: 'GET' | 'POST';
  /** Below the base address, beginning with `/`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
}

/** Requests to the platform that carry the token. All operations share one pool of connections. */
export class AuthorizedRequests {
  readonly #options: AuthorizedRequestsOptions;
  readonly #origin: HttpOrigin;

  constructor(options: AuthorizedRequestsOptions) {
    this.#options = options;
    this.#origin = new HttpOrigin(options);
  }

  /**
   * The answer, whatever its status. Once only, after a refused token that was rotated meanwhile, the
   * request is sent a second time. Throws as `HttpOrigin.send` and the token's source do.
   */
  async send(request: PlatformRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const { token } = this.#options;
    const bearer = await token.current();
    const answer = await this.#sendWith(bearer, request, signal);
    if (!isTokenRefused(statusOf(answer))) return answer;
    // The token may have been rotated since it was read. One that is the same, or refused too, is for
    // a person to see to.
    const rotated = await token.reread().catch((error: unknown) => {
      answer.message.destroy();
      throw error;
    });
    if (rotated === bearer) return answer;
    answer.message.destroy();
    return this.#sendWith(rotated, request, signal);
  }

  /** Ends every request under way with a ShutdownError and closes all connections. */
  close(): void {
    this.#origin.close();
  }

  #sendWith(bearer: string, request: PlatformRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const body = request.body === undefined ? null : Buffer.from(JSON.stringify(request.body));
    return this.#origin.send(
      {
        method: request.method,
        url: this.#toUrl(request),
        headers: {
          accept: 'application/json',
          'accept-encoding': 'gzip',
          authorization: `Bearer ${bearer}`,
          'user-agent': this.#options.userAgent,
          ...(body !== null && {
            'content-type': 'application/json',
            'content-length': body.length,
          }),
        },
        body,
      },
      signal,
    );
  }

  #toUrl({ path, query = {} }: PlatformRequest): URL {
    const url = new URL(this.#options.baseUrl);
    url.pathname = url.pathname.replace(/\/+$/, '') + path;
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  }
}

export function statusOf(answer: HttpAnswer): number {
  return answer.message.statusCode ?? 0;
}
