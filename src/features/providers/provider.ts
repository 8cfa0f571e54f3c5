import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import type { TLocalizedValidationError } from 'typebox/error';
import { Compile } from 'typebox/schema';
import { textFault, unknownField } from '../../base/files/import-file.ts';
import { type FieldFault, MAX_FAULTS, MAX_KEY_CHARACTERS } from '../../base/values/field-fault.ts';
import { parseTaxId, TAX_ID_EXPECTATION } from '../../base/values/tax-id.ts';
import { asWritten } from '../../console/declare.tsx';

/** An external id as it is stored. PostgreSQL holds neither U+0000 nor lone surrogates. */
export const externalId = asWritten(
  Type.String({
    ...{ minLength: 1, maxLength: 1000, pattern: '^[^\\0\\p{Surrogate}]+$' },
    description: 'The external id.',
  }),
);

/** The address of a provider's page. A parameter, because an external id may hold any character. */
export function providerHref(externalId: string): string {
  return `/provider?${new URLSearchParams({ id: externalId })}`;
}

/** The key of a provider in the watch on bank accounts. */
export function accountPartyKey(externalId: string): string {
  return externalId.replace(/^ +| +$/g, '');
}

/** A supplier as an item of `providers` in `POST /api/providers`. */
export type Provider = Static<typeof PROVIDER>;

/** The states of a row of `conciliation.provider`. */
export const SYNC_STATES = ['pending', 'synced', 'rejected', 'invalid'] as const;
export type SyncState = (typeof SYNC_STATES)[number];

/**
 * Atoms with dots before the `@`, then a domain name of at least two labels. The labels may be in
 * any script, as registered under `.br`.
 */
const EMAIL =
  /^(?=.{1,64}@)[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+\p{L}(?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?$/u;
const MAX_EMAIL_CHARACTERS = 254;
const MAX_ITEMS = 100;
/** Of a list as JSON. The limit of the table is twice as much, because its text has blanks between the values. */
const MAX_LIST_BYTES = 32 * 1024;

/** A text for which `faultOf` returns null, and not what was expected. */
const checked = (faultOf: (value: string) => string | null) =>
  Type.Refine(
    Type.Unsafe<string>({}),
    (value) => faultOf(value) === null,
    (value) => faultOf(value) ?? '',
  );

/** Text with at least one visible character. */
const word = (maxLength?: number, faultOf: (text: string) => string | null = () => null) =>
  checked(
    (value) =>
      textFault(value, maxLength) ??
      (value.trim() === '' ? 'expected text that is not blank' : faultOf(value)),
  );

const strict = <Fields extends TProperties>(fields: Fields) =>
  Type.Object(fields, { additionalProperties: false });

const listOf = <Item extends TSchema>(item: Item) =>
  Type.Refine(
    Type.Array(item, { maxItems: MAX_ITEMS }),
    (items) => Buffer.byteLength(JSON.stringify(items)) <= MAX_LIST_BYTES,
    () => `expected at most ${MAX_LIST_BYTES} bytes`,
  );

const Account = strict({
  bankNumber: word(),
  agencyNumber: word(),
  accountNumber: word(),
  accountDigit: Type.Optional(checked((value) => textFault(value))),
  type: Type.Optional(word()),
  defaultAccount: Type.Optional(Type.Boolean()),
});

/**
 * Checks a provider as far as possible without the platform, and refuses as little as possible. The interface does not
 * document required fields. A provider needs a key, a tax identifier and a name; a phone, an address or an account needs
 * its number.
 */
const PROVIDER = strict({
  externalId: word(MAX_KEY_CHARACTERS),
  type: Type.Optional(word()),
  identificationNumber: word(MAX_KEY_CHARACTERS, (text) =>
    parseTaxId(text) === null ? TAX_ID_EXPECTATION : null,
  ),
  name: word(),
  canAnticipate: Type.Optional(Type.Boolean()),
  phones: Type.Optional(listOf(strict({ number: word() }))),
  emailAddresses: Type.Optional(
    listOf(
      strict({
        email: word(MAX_EMAIL_CHARACTERS, (text) =>
          EMAIL.test(text) ? null : 'expected an e-mail address',
        ),
      }),
    ),
  ),
  accounts: Type.Optional(
    Type.Refine(
      listOf(Account),
      (accounts) => accounts.filter((account) => account.defaultAccount === true).length <= 1,
      () => 'expected at most one default account',
    ),
  ),
});
const CHECK = Compile(PROVIDER);

/** The fields with one value, and those that are lists of texts. */
export const OWN_FIELDS = fieldsOf(PROVIDER.properties).filter((field) => field !== 'accounts');
export const ACCOUNT_FIELDS = fieldsOf(Account.properties);

function fieldsOf<Fields extends object>(fields: Fields) {
  return Object.keys(fields) as (keyof Fields & string)[];
}

/** Null and absent are equal. Returns at most `MAX_FAULTS` faults. */
export function checkProvider(value: unknown) {
  const stated: unknown = JSON.parse(JSON.stringify(value), withoutNull);
  if (!CHECK.Check(stated)) {
    const faults = CHECK.Errors(stated)[1].flatMap(faultsOf).slice(0, MAX_FAULTS);
    return { ok: false as const, faults };
  }
  const identificationNumber = parseTaxId(stated.identificationNumber)?.digits ?? '';
  return { ok: true as const, provider: { ...stated, identificationNumber } };
}

/** An item stays. */
function withoutNull(this: unknown, _: string, value: unknown): unknown {
  return value === null && !Array.isArray(this) ? undefined : value;
}

const TYPES: Readonly<Record<string, string>> = {
  array: 'an array',
  boolean: 'true or false',
  object: 'an object',
};

function faultsOf({ keyword, instancePath, params }: TLocalizedValidationError): FieldFault[] {
  const place = instancePath
    .slice(1)
    .replace(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.');
  const inside = place === '' ? '' : `${place}.`;
  const field = place || '(provider)';
  switch (keyword) {
    case 'required':
      return params.requiredProperties.map((name) => ({
        field: inside + name,
        expected: 'missing',
      }));
    case 'additionalProperties':
      return params.additionalProperties.map((name) => unknownField(name, inside));
    case 'type':
      return [{ field, expected: `expected ${TYPES[String(params.type)]}` }];
    case 'maxItems':
      return [{ field, expected: `expected at most ${params.limit} items` }];
    case '~refine':
      return [{ field, expected: params.message }];
    default:
      return [];
  }
}

/** Describes faults for people: `name: missing; phones[0].number: expected text`. Free of personal data. */
export function describeFaults(faults: readonly FieldFault[]): string {
  return faults.map(({ field, expected }) => `${field}: ${expected}`).join('; ');
}
