/**
 * The made-up platform for tests, with days, faults and raw bodies on demand. It spoils what the platform of `demo`
 * answers.
 */
import { randomBytes } from 'node:crypto';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { addDays, type CivilDate, daysBetween } from '../../../src/base/values/business-day.ts';
import { parseTaxId } from '../../../src/base/values/tax-id.ts';
import {
  type Answer,
  bytesAnswer,
  createPlatform,
  type Days,
  DEFAULT_TITLES_PER_DAY,
  type Exchange,
  errorAnswer,
  FIRST_SYNTHETIC_DATE,
  SyntheticDays,
} from '../../../src/demo/sandbox.ts';
import { SyntheticTitles } from '../../../src/demo/synthetic-titles.ts';
import { FaultPlan, sendAnswer, standsIn } from './faults.ts';

const MAX_PROVIDERS_PER_REQUEST = 100;

const Text = Type.String({ minLength: 1 });

/**
 * The documented types. The required fields are not documented; a provider needs at least these
 * three. Unknown fields and unknown values of enumerations are accepted.
 */
const ProviderSchema = Type.Object({
  externalId: Text,
  identificationNumber: Text,
  name: Text,
  type: Type.Optional(Text),
  canAnticipate: Type.Optional(Type.Boolean()),
  phones: Type.Optional(Type.Array(Type.Object({ number: Type.String() }))),
  emailAddresses: Type.Optional(
    Type.Array(Type.Object({ email: Type.String({ pattern: '^[^@\\s]+@[^@\\s]+$' }) })),
  ),
  accounts: Type.Optional(
    Type.Array(
      Type.Object({
        bankNumber: Type.Optional(Type.String()),
        agencyNumber: Type.Optional(Type.String()),
        accountNumber: Type.Optional(Type.String()),
        accountDigit: Type.Optional(Type.String()),
        type: Type.Optional(Type.String()),
        defaultAccount: Type.Optional(Type.Boolean()),
      }),
    ),
  ),
});

const BatchSchema = Type.Object({ providers: Type.Array(Type.Unknown()) });

type RegisteredProvider = Type.Static<typeof ProviderSchema>;

const providerValidator = Compile(ProviderSchema);
const batchValidator = Compile(BatchSchema);

interface Outcome {
  readonly index: number;
  readonly externalId: string | null;
  readonly status: 'CREATED' | 'UPDATED' | 'REJECTED';
  readonly message?: string;
}

/**
 * The platform's providers: created or updated by `externalId`. A tax identifier belongs to one of them only.
 */
class ProviderRegistry {
  /** What a batch with an invalid provider does: whether its valid ones are applied. */
  appliesValid = false;
  readonly #byExternalId = new Map<string, RegisteredProvider>();
  /** May contain a provider that has changed its number since; `#holder` checks its present one. */
  readonly #lastHolder = new Map<string, string>();

  get byExternalId(): ReadonlyMap<string, RegisteredProvider> {
    return this.#byExternalId;
  }

  /** Answers one `POST /api/providers` with the parsed body. */
  receive(body: unknown): Answer {
    if (!batchValidator.Check(body)) return errorAnswer(400, 'providers must be an array');
    if (body.providers.length > MAX_PROVIDERS_PER_REQUEST) {
      return errorAnswer(400, `at most ${MAX_PROVIDERS_PER_REQUEST} providers a request`);
    }
    const staged = new Map<string, RegisteredProvider>();
    const outcomes = body.providers.map((item, index) => this.#stage(item, index, staged));
    return this.#settle(outcomes, staged);
  }

  /**
   * Applies the batch and answers. The documentation shows neither the body of a 200 nor whether a batch with an
   * invalid provider has an effect; here the body is empty.
   */
  #settle(outcomes: readonly Outcome[], staged: ReadonlyMap<string, RegisteredProvider>): Answer {
    const errors = outcomes.filter(({ status }) => status === 'REJECTED');
    if (errors.length > 0) {
      if (this.appliesValid) this.#apply(staged);
      return bytesAnswer(
        400,
        JSON.stringify({ status: 400, message: 'providers were refused', errors }),
      );
    }
    this.#apply(staged);
    return bytesAnswer(200, '{}');
  }

  #stage(item: unknown, index: number, staged: Map<string, RegisteredProvider>): Outcome {
    const reject = (externalId: string | null, message: string): Outcome => ({
      index,
      externalId,
      status: 'REJECTED',
      message,
    });
    if (!providerValidator.Check(item)) {
      const field = providerValidator.Errors(item)[0]?.instancePath || '/';
      return reject(null, `invalid data format at ${field}`);
    }
    const { externalId } = item;
    const taxId = parseTaxId(item.identificationNumber);
    if (taxId === null) return reject(externalId, 'identificationNumber is no valid CPF or CNPJ');
    const holder = this.#holder(taxId.digits, staged);
    if (holder !== null && holder !== externalId) {
      return reject(externalId, 'identificationNumber exists under a different externalId');
    }
    const isKnown = staged.has(externalId) || this.#byExternalId.has(externalId);
    staged.set(externalId, { ...item, identificationNumber: taxId.digits });
    return { index, externalId, status: isKnown ? 'UPDATED' : 'CREATED' };
  }

  #holder(digits: string, staged: ReadonlyMap<string, RegisteredProvider>): string | null {
    for (const provider of staged.values()) {
      if (provider.identificationNumber === digits) return provider.externalId;
    }
    const last = this.#lastHolder.get(digits);
    if (last === undefined || staged.has(last)) return null;
    return this.#byExternalId.get(last)?.identificationNumber === digits ? last : null;
  }

  #apply(staged: ReadonlyMap<string, RegisteredProvider>): void {
    for (const [externalId, provider] of staged) {
      this.#byExternalId.set(externalId, provider);
      this.#lastHolder.set(provider.identificationNumber, externalId);
    }
  }
}

export interface SandboxOptions {
  /** Default: any free port. */
  readonly port?: number;
  /** The same seed gives the same titles on every machine. */
  readonly seed?: number | string;
  /** Number of titles of a working day, plus or minus a tenth; default 60. Weekends have about a fifth. */
  readonly titlesPerDay?: number;
  /** Whether days are restated with age (see `SyntheticTitles`); default true. */
  readonly restate?: boolean;
  /** The platform's clock, which decides the date of today. */
  readonly now?: () => Date;
}

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

export interface LoggedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly at: Date;
  /** 0 until the head of the answer is sent. */
  readonly status: number;
}

/** A complete answer with titles, byte for byte, for tests with hostile answers. */
export interface RawBody {
  /** A function returns a body of any length, chunk by chunk, again for every request. */
  readonly body: string | Uint8Array | (() => Iterable<Uint8Array>);
  /** Names in lower case; default: `content-type: application/json`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default 200. */
  readonly status?: number;
}

const MAX_LOGGED_REQUESTS = 10_000;

export async function startSandbox(options: SandboxOptions = {}) {
  const tokens = new Set<string>();
  const synthetic = new SyntheticTitles({
    seed: String(options.seed ?? 'sandbox'),
    titlesPerDay: options.titlesPerDay ?? DEFAULT_TITLES_PER_DAY,
    restate: options.restate ?? true,
  });
  const days = new DayBook(synthetic, options.now ?? (() => new Date()));
  const rawBodies = new Map<string, RawBody>();
  const providers = new ProviderRegistry();
  const faults = new FaultPlan();
  const requests: LoggedRequest[] = [];
  const logged = new WeakMap<object, { status: number }>();
  const answered = (message: object, status: number) =>
    Object.assign(logged.get(message) ?? {}, { status });

  /** A request without a valid token, or one that Fastify refuses, uses up no fault. */
  const exchange: Exchange = (request, reply, regular) => {
    const isConciliation = request.method === 'GET';
    const { conciliationDate, anticipationDate } = request.query as Record<string, unknown>;
    const dates = [conciliationDate, anticipationDate].filter((value) => typeof value === 'string');
    const fault = faults.take(isConciliation ? 'conciliation' : 'providers', dates);
    let answer = standsIn(fault) ? errorAnswer(500, '') : regular();
    const raw = dates[0] === undefined ? undefined : rawBodies.get(dates[0]);
    if (isConciliation && answer.status === 200 && raw !== undefined) {
      const headers = { 'content-type': 'application/json', ...raw.headers };
      const bytes = typeof raw.body === 'function' ? raw.body() : [Buffer.from(raw.body)];
      answer = { status: raw.status ?? 200, headers, body: bytes };
    }
    reply.hijack();
    return sendAnswer(reply.raw, answer, fault, (status) => answered(request.raw, status));
  };

  const isAuthorized = (header = '') => tokens.has(header.replace(/^Bearer /, ''));
  const app = createPlatform({
    ...{ isAuthorized, days, exchange },
    receive: (body) => providers.receive(body),
  });
  // Before Fastify, which refuses some requests itself.
  app.server.prependListener('request', (message) => {
    const { pathname: path, searchParams } = new URL(message.url ?? '', 'http://sandbox');
    const query = Object.fromEntries(searchParams);
    const entry = { method: message.method ?? '', path, query, at: new Date(), status: 0 };
    requests.push(entry);
    if (requests.length > MAX_LOGGED_REQUESTS) requests.shift();
    logged.set(message, entry);
  });
  app.addHook('onSend', async (request, reply) => void answered(request.raw, reply.statusCode));
  const baseUrl = await app.listen({ host: '127.0.0.1', port: options.port ?? 0 });

  return {
    /** `http://127.0.0.1:<port>`, without a slash at the end. */
    baseUrl,
    faults,
    /** By external id; tax identifiers without their mask. */
    providers: providers.byExternalId as ReadonlyMap<string, RegisteredProvider>,
    /** The latest 10,000 requests. */
    requests: requests as readonly LoggedRequest[],
    issueToken({ isExpired = false } = {}) {
      const token = randomBytes(32).toString('base64url');
      if (!isExpired) tokens.add(token);
      return token;
    },
    /** What a batch with an invalid provider does; the answer is 400 in both cases. Default: the batch is refused. */
    setProviderRules({ onInvalid }: { readonly onInvalid: 'refuse-batch' | 'apply-valid' }) {
      providers.appliesValid = onInvalid === 'apply-valid';
    },
    /** Sets the titles of the day as JSON texts, which are sent unchanged; null: synthetic titles. */
    setDayTexts: (date: CivilDate, titles: readonly string[] | null) =>
      set(days.overrides, date, titles && [...titles]),
    /** Sets the number of synthetic titles, before withdrawals with age; null: the usual number. */
    setDaySize: (date: CivilDate, titleCount: number | null) =>
      set(days.overrides, date, titleCount),
    /** Sets the complete answer to requests with the date, in either parameter; null: the regular answer. */
    setRawBody: (date: CivilDate, raw: RawBody | null) => set(rawBodies, date, raw),
    /** Ends every connection immediately. */
    close: () => app.close(),
  };
}

function set<Value>(map: Map<string, Value>, date: CivilDate, value: Value | null): void {
  if (value === null) map.delete(date);
  else map.set(date, value);
}

/** The synthetic titles of each date, unless the day was set. A day that was set may be any date. */
class DayBook implements Days {
  readonly #synthetic: SyntheticTitles;
  readonly #days: SyntheticDays;
  /** The titles as JSON texts, or their number. */
  readonly overrides = new Map<CivilDate, readonly string[] | number>();

  constructor(synthetic: SyntheticTitles, now: () => Date) {
    this.#synthetic = synthetic;
    this.#days = new SyntheticDays(synthetic, now);
  }

  titlesOn(date: CivilDate): Iterable<string> {
    const override = this.overrides.get(date);
    if (typeof override !== 'number') return override ?? this.#days.titlesOn(date);
    const ageDays = Math.max(daysBetween(date, this.#days.today), 0);
    return this.#synthetic.titlesOn(date, ageDays, override);
  }

  *titlesSince(date: CivilDate): Generator<string, void> {
    const { today } = this.#days;
    const setDates = [...this.overrides.keys()].filter((set) => set >= date).sort();
    for (const early of setDates) if (early < FIRST_SYNTHETIC_DATE) yield* this.titlesOn(early);
    let next = date > FIRST_SYNTHETIC_DATE ? date : FIRST_SYNTHETIC_DATE;
    for (; next <= today; next = addDays(next, 1)) yield* this.titlesOn(next);
    for (const late of setDates) if (late > today) yield* this.titlesOn(late);
  }
}
