import { parseTaxId } from './tax-id.ts';

/** A supplier as an item of `providers` in `POST /api/providers`. What is absent is not sent. */
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

/** What is known of a row of `conciliation.provider`: whether the platform has its content. */
export const SYNC_STATES = ['pending', 'synced', 'rejected', 'invalid'] as const;
export type SyncState = (typeof SYNC_STATES)[number];

/** As documented; one more and the platform refuses the request. */
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

/** What is wrong with one field, never the value, which is personal data. */
export interface ProviderFault {
  /** `accounts[0].bankNumber`; indexes from 0, as in the JSON that is sent. */
  readonly field: string;
  readonly expected: string;
}

export type ProviderCheck =
  | {
      readonly ok: true;
      readonly provider: Provider;
      /** Whether the tax identifier was written with lower case letters, which are sent raised. */
      readonly isRaised: boolean;
    }
  | { readonly ok: false /** At most `MAX_FAULTS`. */; readonly faults: readonly ProviderFault[] };

export const MAX_FAULTS = 20;

/** Of the columns that become keys: a title that names the provider holds no more. */
const MAX_KEY_CHARACTERS = 255;
const MAX_TEXT_CHARACTERS = 1000;
const MAX_ITEMS = 100;

const TAX_ID_EXPECTATION = 'expected a CPF or CNPJ with the right check digits';

/**
 * Dots between atoms before the `@`, labels of a domain name with at least two of them behind it.
 * Domain names may be written in any script, as they are registered under `.br`.
 */
const EMAIL =
  /^(?=.{1,64}@)[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+\p{L}(?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?$/u;
const MAX_EMAIL_CHARACTERS = 254;

/**
 * Holds a provider in the interface's shape against everything that can be known without asking the
 * platform, so that it refuses as little as possible. The interface does not say what is required:
 * without a key, a tax identifier and a name there is nothing to register, and a phone, an address or
 * an account without its number is none. Null and absent mean the same: not stated.
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

/** Reads the fields of one object and notes every fault, so that a person mends them in one go. */
class FieldReader {
  readonly #object: Fields;
  readonly #path: string;
  readonly #faults: ProviderFault[];

  constructor(object: Fields, path: string, faults: ProviderFault[]) {
    this.#object = object;
    this.#path = path;
    this.#faults = faults;
  }

  /** The text, or '' with a fault noted. */
  requiredText(field: string, maxLength = MAX_TEXT_CHARACTERS): string {
    const text = this.word(field, maxLength);
    if (text === undefined && !this.hasFault(field)) this.fault(field, 'missing');
    return text ?? '';
  }

  /** Text that says something. */
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
    return value.slice(0, MAX_ITEMS).flatMap((item: unknown, index) => {
      const path = `${this.#path}${field}[${index}]`;
      if (isObject(item)) return [read(new FieldReader(item, `${path}.`, this.#faults))];
      this.#faults.push({ field: path, expected: 'expected an object' });
      return [];
    });
  }

  /** A field that the interface does not have is a misspelt one, and its content would be lost. */
  refuseFurtherFields(known: readonly string[]): void {
    for (const field of Object.keys(this.#object)) {
      if (known.includes(field)) continue;
      // A name that is no name may be content that slipped.
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

/** `name: missing; phones[0].number: expected text`, for people. Free of personal data. */
export function describeFaults(faults: readonly ProviderFault[]): string {
  return faults.map(({ field, expected }) => `${field}: ${expected}`).join('; ');
}
