import { type HttpAnswer, HttpOrigin, type HttpOriginOptions } from './http-origin.ts';
import { isTokenRefused } from './status-error.ts';
import type { TokenSource } from './token.ts';

export interface AuthorizedRequestsOptions extends HttpOriginOptions {
  /** The path is the prefix of every request's path. */
  readonly baseUrl: URL;
  readonly token: TokenSource;
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

/** Requests to the platform that carry the token. All operations share one pool of connections. */
export class AuthorizedRequests {
  readonly #options: AuthorizedRequestsOptions;
  readonly #origin: HttpOrigin;

  constructor(options: AuthorizedRequestsOptions) {
    this.#options = options;
    this.#origin = new HttpOrigin(options);
  }

  /**
   * Sends a request and returns the answer with any status. If the platform refuses the token and
   * the source holds another one, the request is sent a second time, once. Throws the errors of
   * `HttpOrigin.send` and of the token's source.
   */
  async send(request: PlatformRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const { token } = this.#options;
    const bearer = await token.current();
    const answer = await this.#sendWith(bearer, request, signal);
    if (!isTokenRefused(statusOf(answer))) return answer;
    // The token may have been replaced since it was read. An unchanged token, or a second refusal,
    // needs a person.
    const rotated = await token.current().catch((error: unknown) => {
      answer.message.destroy();
      throw error;
    });
    if (rotated === bearer) return answer;
    answer.message.destroy();
    return this.#sendWith(rotated, request, signal);
  }

  /** Aborts every request with a ShutdownError and closes all connections. */
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
