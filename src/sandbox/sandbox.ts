/**
 * A complete local platform: both documented operations, tokens, synthetic titles that are restated
 * with age, and faults on demand. It serves rehearsals (`conciliation sandbox`, `demo`), tests and
 * the benchmark. Where the platform's documentation is incomplete, the sandbox documents its own
 * behaviour; the real platform may behave differently.
 */
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import type { CivilDate } from '../domain/business-day.ts';
import { InputError } from '../runtime/errors.ts';
import { registerAdminRoutes } from './admin-routes.ts';
import { DayBook } from './day-book.ts';
import { FaultPlan } from './faults.ts';
import { registerPlatformRoutes } from './platform-routes.ts';
import { ProviderRegistry, type ProviderRules, type RegisteredProvider } from './providers.ts';
import type { RawBodies, RawBody } from './raw-bodies.ts';
import { type LoggedRequest, RequestLog } from './request-log.ts';
import { SyntheticTitles } from './synthetic-titles.ts';
import { createTokenAuthority } from './token.ts';
import { welcomeText } from './welcome.ts';

const DEFAULT_TITLES_PER_DAY = 60;
const DEFAULT_TOKEN_LIFETIME_SECONDS = 86_400;

export interface SandboxOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default: any free port. */
  readonly port?: number;
  /** The same seed gives the same titles on every machine. */
  readonly seed?: number | string;
  /** Number of titles of a working day, plus or minus a tenth; default 60. Weekends have about a fifth. */
  readonly titlesPerDay?: number;
  /** HS256 secret; random by default, so that tokens are valid only for this sandbox. */
  readonly secret?: string;
  /** Default one day. */
  readonly tokenLifetimeSeconds?: number;
  /** Whether days are restated with age (see `SyntheticTitles`); default true. */
  readonly restate?: boolean;
  /** The platform's clock, which decides the date of today. Tokens use the real clock. */
  readonly now?: () => Date;
}

export interface Sandbox {
  /** `http://127.0.0.1:<port>`, without a slash at the end. */
  readonly baseUrl: string;
  readonly faults: FaultPlan;
  /** By external id; tax identifiers without their mask. */
  readonly providers: ReadonlyMap<string, RegisteredProvider>;
  /** The latest 10,000 requests, except those to `/_sandbox`. */
  readonly requests: readonly LoggedRequest[];
  issueToken(options?: { readonly expiresInSeconds?: number }): string;
  setProviderRules(rules: Partial<ProviderRules>): void;
  /** Sets the titles of the day, sent as `JSON.stringify` writes them; null: synthetic titles. */
  setDay(date: CivilDate, titles: readonly unknown[] | null): void;
  /** Like `setDay`, with each title as JSON text, which is sent unchanged. */
  setDayTexts(date: CivilDate, titles: readonly string[] | null): void;
  /** Sets the number of synthetic titles, before withdrawals with age; null: the usual number. */
  setDaySize(date: CivilDate, titleCount: number | null): void;
  /** Sets the complete answer to requests with the date, in either parameter; null: the regular answer. */
  setRawBody(date: CivilDate, raw: RawBody | null): void;
  /** Ends every connection immediately. */
  close(): Promise<void>;
}

/**
 * Resolves when the sandbox listens.
 * @throws InputError when it cannot listen on the host and port
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const tokens = createTokenAuthority(options.secret ?? randomBytes(32).toString('base64url'));
  const synthetic = new SyntheticTitles({
    seed: String(options.seed ?? 'sandbox'),
    titlesPerDay: options.titlesPerDay ?? DEFAULT_TITLES_PER_DAY,
    restate: options.restate ?? true,
  });
  const days = new DayBook(synthetic, options.now ?? (() => new Date()));
  const rawBodies: RawBodies = new Map();
  const providers = new ProviderRegistry();
  const faults = new FaultPlan();
  const log = new RequestLog();
  const issueToken = (expiresInSeconds?: number) =>
    tokens.issue(
      expiresInSeconds ?? options.tokenLifetimeSeconds ?? DEFAULT_TOKEN_LIFETIME_SECONDS,
    );
  const parts = { tokens, days, rawBodies, providers, faults, log, issueToken };

  // No logger: paths hold only dates, but an error may quote a body with personal data.
  const app = fastify({ logger: false, forceCloseConnections: true, exposeHeadRoutes: false });
  app.addHook('onRequest', async (request) => {
    if (!request.url.startsWith('/_sandbox')) log.received(request.raw, new Date());
  });
  app.addHook('onSend', async (request, reply) => log.answered(request.raw, reply.statusCode));
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    const status = error instanceof InputError ? 400 : (error.statusCode ?? 500);
    const message = status < 500 ? error.message : 'internal server error';
    return reply.code(status).send({ status, message });
  });
  app.get('/', async (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send(welcomeText),
  );
  await app.register(registerPlatformRoutes, parts);
  await app.register(registerAdminRoutes, { prefix: '/_sandbox', ...parts });
  const baseUrl = await listen();

  return {
    baseUrl,
    faults,
    providers: providers.byExternalId,
    requests: log.entries,
    issueToken: ({ expiresInSeconds } = {}) => issueToken(expiresInSeconds),
    setProviderRules: (rules) => providers.setRules(rules),
    setDay: (date, titles) =>
      days.setTexts(date, titles?.map((title) => JSON.stringify(title)) ?? null),
    setDayTexts: (date, titles) => days.setTexts(date, titles),
    setDaySize: (date, titleCount) => days.setSize(date, titleCount),
    setRawBody: (date, raw) => {
      if (raw === null) rawBodies.delete(date);
      else rawBodies.set(date, raw);
    },
    close: () => app.close(),
  };

  async function listen(): Promise<string> {
    const host = options.host ?? '127.0.0.1';
    try {
      await app.listen({ host, port: options.port ?? 0 });
    } catch (cause) {
      await app.close();
      throw new InputError(`the sandbox cannot listen on ${host}, port ${options.port ?? 0}`, {
        cause,
      });
    }
    return toBaseUrl(app.server.address() as AddressInfo);
  }
}

function toBaseUrl({ address, port }: AddressInfo): string {
  // A wildcard address is for listening, not for connecting.
  if (address === '0.0.0.0' || address === '::') return `http://127.0.0.1:${port}`;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}
