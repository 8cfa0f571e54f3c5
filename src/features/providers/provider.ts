import {
  type FieldFault,
  FieldReader,
  isObject,
  MAX_KEY_CHARACTERS,
} from '../../base/values/field-reader.ts';
import { parseTaxId, TAX_ID_EXPECTATION } from '../../base/values/tax-id.ts';

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

/** The fields with one value, and those that are lists of texts. */
export const OWN_FIELDS = [
  'externalId',
  'type',
  'identificationNumber',
  'name',
  'canAnticipate',
  'phones',
  'emailAddresses',
] as const satisfies readonly (keyof Provider)[];

export const ACCOUNT_FIELDS = [
  'bankNumber',
  'agencyNumber',
  'accountNumber',
  'accountDigit',
  'type',
  'defaultAccount',
] as const satisfies readonly (keyof ProviderAccount)[];

export type ProviderCheck =
  | {
      readonly ok: true;
      readonly provider: Provider;
      /** Whether the tax identifier had lower-case letters, which are sent in upper case. */
      readonly isRaised: boolean;
    }
  | { readonly ok: false /** At most `MAX_FAULTS`. */; readonly faults: readonly FieldFault[] };

export const MAX_FAULTS = 20;

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
  const faults: FieldFault[] = [];
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
  check.refuseFurtherFields([...OWN_FIELDS, 'accounts']);
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

/** Describes faults for people: `name: missing; phones[0].number: expected text`. Free of personal data. */
export function describeFaults(faults: readonly FieldFault[]): string {
  return faults.map(({ field, expected }) => `${field}: ${expected}`).join('; ');
}
