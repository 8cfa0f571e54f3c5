import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { parseTaxId } from '../../../src/base/values/tax-id.ts';
import { type Answer, bytesAnswer, errorAnswer } from '../../../src/demo/sandbox.ts';

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

export type RegisteredProvider = Type.Static<typeof ProviderSchema>;

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
export class ProviderRegistry {
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
