/**
 * The made-up platform for tests, with days, faults and raw bodies on demand. It spoils what the platform of `demo`
 * answers.
 */
import { randomBytes } from 'node:crypto';
import type { CivilDate } from '../../../src/base/values/business-day.ts';
import type { Exchange, RegisteredProvider } from '../../../src/demo/sandbox.ts';
import { createPlatform, DEFAULT_TITLES_PER_DAY, errorAnswer } from '../../../src/demo/sandbox.ts';
import { SyntheticTitles } from '../../../src/demo/synthetic-titles.ts';
import { DayBook } from './day-book.ts';
import { FaultPlan } from './faults.ts';
import { IMPLAUSIBLE_KINDS, implausibleTitles } from './implausible-titles.ts';
import { type ProviderRules, RuledProviders } from './provider-rules.ts';
import { type RawBody, rawAnswer } from './raw-bodies.ts';
import { type LoggedRequest, RequestLog } from './request-log.ts';
import { sendAnswer, standsIn } from './send-answer.ts';
import { createTokenAuthority } from './tokens.ts';

const DEFAULT_TOKEN_LIFETIME_SECONDS = 86_400;

export interface SandboxOptions {
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
  /** The latest 10,000 requests. */
  readonly requests: readonly LoggedRequest[];
  issueToken(options?: { readonly expiresInSeconds?: number }): string;
  setProviderRules(rules: Partial<ProviderRules>): void;
  /** Sets the titles of the day as JSON texts, which are sent unchanged; null: synthetic titles. */
  setDayTexts(date: CivilDate, titles: readonly string[] | null): void;
  /** Sets the number of synthetic titles, before withdrawals with age; null: the usual number. */
  setDaySize(date: CivilDate, titleCount: number | null): void;
  /** Sets the complete answer to requests with the date, in either parameter; null: the regular answer. */
  setRawBody(date: CivilDate, raw: RawBody | null): void;
  /** Ends every connection immediately. */
  close(): Promise<void>;
}

/** Resolves when the sandbox listens. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const tokens = createTokenAuthority(options.secret ?? randomBytes(32).toString('base64url'));
  const synthetic = new SyntheticTitles({
    seed: String(options.seed ?? 'sandbox'),
    titlesPerDay: options.titlesPerDay ?? DEFAULT_TITLES_PER_DAY,
    restate: options.restate ?? true,
  });
  const days = new DayBook(synthetic, options.now ?? (() => new Date()));
  const rawBodies = new Map<string, RawBody>();
  const providers = new RuledProviders();
  const faults = new FaultPlan();
  const log = new RequestLog();

  /** A request without a valid token, or one that Fastify refuses, uses up no fault. */
  const exchange: Exchange = (request, reply, regular) => {
    const isConciliation = request.method === 'GET';
    const { conciliationDate, anticipationDate } = request.query as Record<string, unknown>;
    const dates = [conciliationDate, anticipationDate].filter((value) => typeof value === 'string');
    const fault = faults.take(isConciliation ? 'conciliation' : 'providers', dates);
    const kind = IMPLAUSIBLE_KINDS.find((known) => known === fault?.kind);
    const regularAnswer = () =>
      kind === undefined ? regular() : regular((titles) => implausibleTitles(titles, kind));
    let answer = standsIn(fault) ? errorAnswer(500, '') : regularAnswer();
    const raw = dates[0] === undefined ? undefined : rawBodies.get(dates[0]);
    if (isConciliation && answer.status === 200 && raw !== undefined) answer = rawAnswer(raw);
    reply.hijack();
    return sendAnswer(reply.raw, answer, fault, (status) => log.answered(request.raw, status));
  };

  const app = createPlatform({ isAuthorized: tokens.isAuthorized, days, providers, exchange });
  // Before Fastify, which refuses some requests itself.
  app.server.prependListener('request', (message) => log.received(message, new Date()));
  app.addHook('onSend', async (request, reply) => log.answered(request.raw, reply.statusCode));
  const baseUrl = await app.listen({ host: '127.0.0.1', port: options.port ?? 0 });

  return {
    baseUrl,
    faults,
    providers: providers.byExternalId,
    requests: log.entries,
    issueToken: ({ expiresInSeconds } = {}) =>
      tokens.issue(
        expiresInSeconds ?? options.tokenLifetimeSeconds ?? DEFAULT_TOKEN_LIFETIME_SECONDS,
      ),
    setProviderRules: (rules) => providers.setRules(rules),
    setDayTexts: (date, titles) => days.setTexts(date, titles),
    setDaySize: (date, titleCount) => days.setSize(date, titleCount),
    setRawBody: (date, raw) => {
      if (raw === null) rawBodies.delete(date);
      else rawBodies.set(date, raw);
    },
    close: () => app.close(),
  };
}
