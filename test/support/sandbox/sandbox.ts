/**
 * The made-up platform for tests, with days, faults and raw bodies on demand. It spoils what the platform of `demo`
 * answers.
 */
import { randomBytes } from 'node:crypto';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import {
  type CivilDate,
  datesBetween,
  daysBetween,
} from '../../../src/base/values/business-day.ts';
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
import {
  SyntheticTitles,
  type SyntheticTitlesOptions,
} from '../../../src/demo/synthetic-titles.ts';
import { FaultPlan, sendAnswer, standsIn } from './faults.ts';

const MAX_PROVIDERS_PER_REQUEST = 100;

const Text = Type.String({ minLength: 1 });
const optionalTexts = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, Type.Optional(Type.String())]));

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
        ...optionalTexts('bankNumber', 'agencyNumber', 'accountNumber', 'accountDigit', 'type'),
        defaultAccount: Type.Optional(Type.Boolean()),
      }),
    ),
  ),
});

type RegisteredProvider = Type.Static<typeof ProviderSchema>;

const providerValidator = Compile(ProviderSchema);
const batchValidator = Compile(
  Type.Object({ providers: Type.Array(Type.Unknown(), { maxItems: MAX_PROVIDERS_PER_REQUEST }) }),
);

/**
 * The platform's providers: created or updated by `externalId`. A tax identifier belongs to one of them only.
 */
class ProviderRegistry {
  /** What a batch with an invalid provider does: whether its valid ones are applied. */
  appliesValid = false;
  readonly byExternalId = new Map<string, RegisteredProvider>();

  /**
   * Answers one `POST /api/providers` with the parsed body. The documentation shows neither the body of a 200 nor
   * whether a batch with an invalid provider has an effect; here the body is empty.
   */
  receive(body: unknown): Answer {
    if (!batchValidator.Check(body)) return errorAnswer(400, 'providers must be a short array');
    const staged = new Map<string, RegisteredProvider>();
    const errors = body.providers.flatMap((item, index) => {
      const fault = this.#stage(item, staged);
      return fault === null ? [] : { index, status: 'REJECTED', ...fault };
    });
    if (errors.length === 0 || this.appliesValid) {
      for (const [externalId, provider] of staged) this.byExternalId.set(externalId, provider);
    }
    if (errors.length === 0) return bytesAnswer(200, '{}');
    const refusal = { status: 400, message: 'providers were refused', errors };
    return bytesAnswer(400, JSON.stringify(refusal));
  }

  /** Returns why a provider is refused; null: it is staged. */
  #stage(item: unknown, staged: Map<string, RegisteredProvider>) {
    if (!providerValidator.Check(item)) {
      const field = providerValidator.Errors(item)[0]?.instancePath || '/';
      return { externalId: null, message: `invalid data format at ${field}` };
    }
    const { externalId } = item;
    const digits = parseTaxId(item.identificationNumber)?.digits;
    if (digits === undefined) {
      return { externalId, message: 'identificationNumber is no valid CPF or CNPJ' };
    }
    const all = new Map([...this.byExternalId, ...staged]).values();
    if ([...all].some((it) => it.identificationNumber === digits && it.externalId !== externalId)) {
      return { externalId, message: 'identificationNumber exists under a different externalId' };
    }
    staged.set(externalId, { ...item, identificationNumber: digits });
    return null;
  }
}

interface SandboxOptions extends Partial<SyntheticTitlesOptions> {
  /** Default: any free port. */
  readonly port?: number;
  /** The platform's clock, which decides the date of today. */
  readonly now?: () => Date;
}

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

interface LoggedRequest {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** 0 until the head of the answer is sent. */
  readonly status: number;
}

export async function startSandbox({
  port = 0,
  now = () => new Date(),
  ...titles
}: SandboxOptions = {}) {
  const tokens = new Set<string>();
  const defaults = { seed: 'sandbox', titlesPerDay: DEFAULT_TITLES_PER_DAY, restate: true };
  const synthetic = new SyntheticTitles({ ...defaults, ...titles });
  const syntheticDays = new SyntheticDays(synthetic, now);
  /** The titles as JSON texts, or their number. */
  const overrides = new Map<CivilDate, readonly string[] | number>();
  /** The synthetic titles of each date, unless the day was set. A day that was set may be any date. */
  const days: Days = {
    titlesOn(date) {
      const override = overrides.get(date);
      if (typeof override !== 'number') return override ?? syntheticDays.titlesOn(date);
      const ageDays = Math.max(daysBetween(date, syntheticDays.today), 0);
      return synthetic.titlesOn(date, ageDays, override);
    },
    *titlesSince(date) {
      const usual = datesBetween(FIRST_SYNTHETIC_DATE, syntheticDays.today);
      const dates = [...new Set([...usual, ...overrides.keys()])].filter((each) => each >= date);
      for (const each of dates.sort()) yield* days.titlesOn(each);
    },
  };
  const providers = new ProviderRegistry();
  const faults = new FaultPlan();
  const requests: LoggedRequest[] = [];

  /** A request without a valid token, or one that Fastify refuses, uses up no fault. */
  const exchange: Exchange = (request, reply, regular) => {
    const { conciliationDate, anticipationDate } = request.query as Record<string, unknown>;
    const dates = [conciliationDate, anticipationDate].filter((value) => typeof value === 'string');
    const fault = faults.take(request.method === 'GET' ? 'conciliation' : 'providers', dates);
    const answer = standsIn(fault) ? errorAnswer(500, '') : regular();
    reply.hijack();
    return sendAnswer(reply.raw, answer, fault);
  };

  const isAuthorized = (header = '') => tokens.has(header.replace(/^Bearer /, ''));
  const app = createPlatform({
    ...{ isAuthorized, days, exchange },
    receive: (body) => providers.receive(body),
  });
  // Before Fastify, which refuses some requests itself.
  app.server.prependListener('request', (message, response) => {
    const { pathname: path, searchParams } = new URL(message.url ?? '', 'http://sandbox');
    requests.push({
      path,
      query: Object.fromEntries(searchParams),
      get status() {
        return response.headersSent ? response.statusCode : 0;
      },
    });
  });
  const baseUrl = await app.listen({ host: '127.0.0.1', port });

  return {
    /** `http://127.0.0.1:<port>`, without a slash at the end. */
    baseUrl,
    faults,
    /** By external id; tax identifiers without their mask. */
    providers: providers.byExternalId as ReadonlyMap<string, RegisteredProvider>,
    requests: requests as readonly LoggedRequest[],
    issueToken() {
      const token = randomBytes(32).toString('base64url');
      tokens.add(token);
      return token;
    },
    /** What a batch with an invalid provider does; the answer is 400 in both cases. Default: the batch is refused. */
    setProviderRules({ onInvalid }: { readonly onInvalid: 'refuse-batch' | 'apply-valid' }) {
      providers.appliesValid = onInvalid === 'apply-valid';
    },
    /** Sets the titles of the day as JSON texts, which are sent unchanged; null: synthetic titles. */
    setDayTexts(date: CivilDate, titles: readonly string[] | null) {
      if (titles === null) overrides.delete(date);
      else overrides.set(date, [...titles]);
    },
    /** Sets the number of synthetic titles, before withdrawals with age. */
    setDaySize: (date: CivilDate, titleCount: number) => overrides.set(date, titleCount),
    /** Forgets the providers, their rules, the faults and the requests. */
    reset() {
      providers.byExternalId.clear();
      providers.appliesValid = false;
      faults.clear();
      requests.length = 0;
    },
    /** Ends every connection immediately. */
    close: () => app.close(),
  };
}
