import { parseTaxId } from './tax-id.ts';

/** A supplier as an item of `providers` in `POST /api/providers`. Absent fields are not sent. */
export interface Provider {
  readonly externalId: string;
  readonly type?: string;
  /** CPF or CNPJ without mask, upper case. */
  readonly identificationNumber: string;
  readonly name: string;
  readonly canAnticipate?: boolean;
  readonly phones?: readonly ProviderPhone[];
  readonly emailAddresses?: readonly ProviderEmail[];
  readonly accounts?: readonly ProviderAccount[];
}

interface ProviderPhone {
  readonly number: string;
}

interface ProviderEmail {
  readonly email: string;
}

export interface ProviderAccount {
  readonly bankNumber: string;
  readonly agencyNumber: string;
  readonly accountNumber: string;
  readonly accountDigit?: string;
  readonly type?: string;
  readonly defaultAccount?: boolean;
}

/** The states of a row of `conciliation.provider`. */
export const SYNC_STATES = ['pending', 'synced', 'rejected', 'invalid'] as const;
export type SyncState = (typeof SYNC_STATES)[number];

/** The documented limit. The platform refuses a request with more. */
export const MAX_PROVIDERS_PER_REQUEST = 100;

const PROVIDER_FIELDS = [
  'externalId',
  'type',
  'identificationNumber',
  'name',
  'canAnticipate',
  'phones',
  'emailAddresses',
  'accounts',
] as const satisfies readonly (keyof Provider)[];

export const ACCOUNT_FIELDS = [
  'bankNumber',
  'agencyNumber',
  'accountNumber',
  'accountDigit',
  'type',
  'defaultAccount',
] as const satisfies readonly (keyof ProviderAccount)[];

/** The fault of one field, without the value, which is personal data. */
export interface ProviderFault {
  /** `accounts[0].bankNumber`; indexes start at 0, as in JSON. */
  readonly field: string;
  readonly expected: string;
}

export type ProviderCheck =
  | {
      readonly ok: true;
      readonly provider: Provider;
      /** Whether the tax identifier had lower-case letters, which are sent in upper case. */
      readonly isRaised: boolean;
    }
  | { readonly ok: false /** At most `MAX_FAULTS`. */; readonly faults: readonly ProviderFault[] };

export const MAX_FAULTS = 20;

/** The limit for key columns. Titles that name the provider have the same limit. */
const MAX_KEY_CHARACTERS = 255;
const MAX_TEXT_CHARACTERS = 1000;
const MAX_ITEMS = 100;
/** Of a list as JSON. The limit of the table is twice as much, because its text has blanks between the values. */
const MAX_LIST_BYTES = 32 * 1024;

const TAX_ID_EXPECTATION = 'expected a CPF or CNPJ with the right check digits';

/**
 * Atoms with dots before the `@`, then a domain name of at least two labels. The labels may be in
 * any script, as registered under `.br`.
 */
const EMAIL =
  /^(?=.{1,64}@)[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+\p{L}(?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?$/u;
const MAX_EMAIL_CHARACTERS = 254;

/**
 * Checks a provider as far as possible without the platform, and refuses as little as possible. The
 * interface does not document required fields. A provider needs a key, a tax identifier and a name;
 * a phone, an address or an account needs its number. Null and absent are equal.
 */
export function checkProvider(value: unknown): ProviderCheck {
  const faults: ProviderFault[] = [];
  if (!isObject(value))
    return { ok: false, faults: [{ field: '(provider)', expected: 'expected an object' }] };
  const check = new FieldReader(value, '', faults);
  const externalId = check.requiredText('externalId', MAX_KEY_CHARACTERS);
  const type = check.word('type');
  const identificationNumber = check.requiredText('identificationNumber', MAX_KEY_CHARACTERS);
  const taxId = parseTaxId(identificationNumber);
  if (taxId === null && !check.hasFault('identificationNumber')) {
    check.fault('identificationNumber', TAX_ID_EXPECTATION);
  }
  const name = check.requiredText('name');
  const canAnticipate = check.flag('canAnticipate');
  const phones = check.items('phones', toPhone);
  const emailAddresses = check.items('emailAddresses', toEmail);
  const accounts = check.items('accounts', toAccount);
  if ((accounts ?? []).filter((account) => account.defaultAccount === true).length > 1) {
    check.fault('accounts', 'expected at most one default account');
  }
  check.refuseFurtherFields(PROVIDER_FIELDS);
  if (faults.length > 0 || taxId === null)
    return { ok: false, faults: faults.slice(0, MAX_FAULTS) };
  return {
    ok: true,
    provider: {
      externalId,
      ...(type !== undefined && { type }),
      identificationNumber: taxId.digits,
      name,
      ...(canAnticipate !== undefined && { canAnticipate }),
      ...(phones !== undefined && { phones }),
      ...(emailAddresses !== undefined && { emailAddresses }),
      ...(accounts !== undefined && { accounts }),
    },
    isRaised: /[a-z]/.test(identificationNumber),
  };
}

function toPhone(item: FieldReader): ProviderPhone {
  const number = item.requiredText('number');
  item.refuseFurtherFields(['number']);
  return { number };
}

function toEmail(item: FieldReader): ProviderEmail {
  const email = item.requiredText('email', MAX_EMAIL_CHARACTERS);
  if (!EMAIL.test(email) && !item.hasFault('email')) {
    item.fault('email', 'expected an e-mail address');
  }
  item.refuseFurtherFields(['email']);
  return { email };
}

function toAccount(item: FieldReader): ProviderAccount {
  const bankNumber = item.requiredText('bankNumber');
  const agencyNumber = item.requiredText('agencyNumber');
  const accountNumber = item.requiredText('accountNumber');
  const accountDigit = item.text('accountDigit');
  const type = item.word('type');
  const defaultAccount = item.flag('defaultAccount');
  item.refuseFurtherFields(ACCOUNT_FIELDS);
  return {
    bankNumber,
    agencyNumber,
    accountNumber,
    ...(accountDigit !== undefined && { accountDigit }),
    ...(type !== undefined && { type }),
    ...(defaultAccount !== undefined && { defaultAccount }),
  };
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the fields of one object and collects all faults, so that a person can correct all of them
 * at the same time.
 */
class FieldReader {
  readonly #object: Fields;
  readonly #path: string;
  readonly #faults: ProviderFault[];

  constructor(object: Fields, path: string, faults: ProviderFault[]) {
    this.#object = object;
    this.#path = path;
    this.#faults = faults;
  }

  /** Returns the text, or '' after recording a fault. */
  requiredText(field: string, maxLength = MAX_TEXT_CHARACTERS): string {
    const text = this.word(field, maxLength);
    if (text === undefined && !this.hasFault(field)) this.fault(field, 'missing');
    return text ?? '';
  }

  /** Text with at least one visible character. */
  word(field: string, maxLength = MAX_TEXT_CHARACTERS): string | undefined {
    const text = this.text(field, maxLength);
    if (text === undefined || text.trim() !== '') return text;
    this.fault(field, 'expected text that is not blank');
    return undefined;
  }

  text(field: string, maxLength = MAX_TEXT_CHARACTERS): string | undefined {
    const value = this.#object[field] ?? undefined;
    if (value === undefined) return undefined;
    if (typeof value !== 'string') this.fault(field, 'expected text');
    else if ([...value.slice(0, 2 * maxLength + 1)].length > maxLength) {
      this.fault(field, `expected at most ${maxLength} characters`);
    } else if (/[\0\p{Surrogate}]/u.test(value)) {
      this.fault(field, 'expected text without U+0000 and lone surrogates');
    } else return value;
    return undefined;
  }

  flag(field: string): boolean | undefined {
    const value = this.#object[field] ?? undefined;
    if (value === undefined || typeof value === 'boolean') return value;
    this.fault(field, 'expected true or false');
    return undefined;
  }

  items<T>(field: string, read: (item: FieldReader) => T): T[] | undefined {
    const value = this.#object[field] ?? undefined;
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) {
      this.fault(field, 'expected an array');
      return undefined;
    }
    if (value.length > MAX_ITEMS) this.fault(field, `expected at most ${MAX_ITEMS} items`);
    const items = value.slice(0, MAX_ITEMS).flatMap((item: unknown, index) => {
      const path = `${this.#path}${field}[${index}]`;
      if (isObject(item)) return [read(new FieldReader(item, `${path}.`, this.#faults))];
      this.#faults.push({ field: path, expected: 'expected an object' });
      return [];
    });
    if (Buffer.byteLength(JSON.stringify(items)) > MAX_LIST_BYTES) {
      this.fault(field, `expected at most ${MAX_LIST_BYTES} bytes`);
    }
    return items;
  }

  /** An unknown field is probably misspelled, and its content would be lost. */
  refuseFurtherFields(known: readonly string[]): void {
    for (const field of Object.keys(this.#object)) {
      if (known.includes(field)) continue;
      // A name that is not an identifier may be content of another field.
      const name = /^[A-Za-z_]\w{0,39}$/.test(field) ? field : '(another field)';
      this.fault(name, 'not a field of the interface');
    }
  }

  fault(field: string, expected: string): void {
    this.#faults.push({ field: this.#path + field, expected });
  }

  hasFault(field: string): boolean {
    return this.#faults.some((fault) => fault.field === this.#path + field);
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Describes faults for people: `name: missing; phones[0].number: expected text`. Free of personal data. */
export function describeFaults(faults: readonly ProviderFault[]): string {
  return faults.map(({ field, expected }) => `${field}: ${expected}`).join('; ');
}
