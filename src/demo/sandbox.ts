/**
 * A made-up platform: both documented operations, tokens, and synthetic titles that are restated with age. Where the
 * platform's documentation is incomplete, the sandbox documents its own behaviour; the real platform may behave
 * differently.
 */
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { InputError } from '../base/runtime/errors.ts';
import { type PlatformParts, registerPlatformRoutes, regularExchange } from './platform-routes.ts';
import { ProviderRegistry } from './providers.ts';
import { SyntheticDays } from './synthetic-days.ts';
import { SyntheticTitles } from './synthetic-titles.ts';
import { createTokenAuthority } from './token.ts';

export const DEFAULT_TITLES_PER_DAY = 60;
const TOKEN_LIFETIME_SECONDS = 86_400;

export interface Sandbox {
  /** `http://127.0.0.1:<port>`, without a slash at the end. */
  readonly baseUrl: string;
  issueToken(options?: { readonly expiresInSeconds?: number }): string;
  /** Ends every connection immediately. */
  close(): Promise<void>;
}

/** Resolves when the sandbox listens, on any free port. */
export async function startSandbox(): Promise<Sandbox> {
  const tokens = createTokenAuthority(randomBytes(32).toString('base64url'));
  const titles = new SyntheticTitles({
    seed: 'sandbox',
    titlesPerDay: DEFAULT_TITLES_PER_DAY,
    restate: true,
  });
  const app = createPlatform({
    tokens,
    days: new SyntheticDays(titles, () => new Date()),
    providers: new ProviderRegistry(),
    exchange: regularExchange,
  });
  const baseUrl = await listen(app, 0);
  return {
    baseUrl,
    issueToken: ({ expiresInSeconds = TOKEN_LIFETIME_SECONDS } = {}) =>
      tokens.issue(expiresInSeconds),
    close: () => app.close(),
  };
}

/** Returns a platform of these parts, which does not listen yet. */
export function createPlatform(parts: PlatformParts): FastifyInstance {
  // No logger: paths hold only dates, but an error may quote a body with personal data.
  const app = fastify({ logger: false, forceCloseConnections: true, exposeHeadRoutes: false });
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    const status = error.statusCode ?? 500;
    const message = status < 500 ? error.message : 'internal server error';
    return reply.code(status).send({ status, message });
  });
  app.register(registerPlatformRoutes, parts);
  return app;
}

/**
 * Returns the address of the platform on the loopback.
 * @throws InputError when the port is taken; the platform is closed then
 */
export async function listen(app: FastifyInstance, port: number): Promise<string> {
  const host = '127.0.0.1';
  try {
    await app.listen({ host, port });
  } catch (cause) {
    await app.close();
    throw new InputError(`the sandbox cannot listen on ${host}, port ${port}`, { cause });
  }
  return `http://${host}:${(app.server.address() as AddressInfo).port}`;
}
