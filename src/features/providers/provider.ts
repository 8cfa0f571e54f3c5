import {
  type FieldFault,
  FieldReader,
  isObject,
  MAX_KEY_CHARACTERS,
} from '../../base/values/field-reader.ts';
import { parseTaxId, TAX_ID_EXPECTATION } from '../../base/values/tax-id.ts';

/** A supplier as an item of `providers` in `POST /api/providers`. Undefined fields are not sent. */
export type Provider = Extract<ReturnType<typeof checkProvider>, { ok: true }>['provider'];

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
] as const;

export const ACCOUNT_FIELDS = [
  'bankNumber',
  'agencyNumber',
  'accountNumber',
  'accountDigit',
  'type',
  'defaultAccount',
] as const;

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
 * @returns with at most `MAX_FAULTS` faults, or whether letters of the tax identifier became upper case
 */
export function checkProvider(value: unknown) {
  const faults: FieldFault[] = [];
  const refused = () => ({ ok: false as const, faults: faults.slice(0, MAX_FAULTS) });
  if (!isObject(value)) {
    faults.push({ field: '(provider)', expected: 'expected an object' });
    return refused();
  }
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
  if (faults.length > 0 || taxId === null) return refused();
  const own = { externalId, type, identificationNumber: taxId.digits, name, canAnticipate };
  return {
    ok: true as const,
    provider: { ...own, phones, emailAddresses, accounts },
    isRaised: /[a-z]/.test(identificationNumber),
  };
}

function toPhone(item: FieldReader) {
  const number = item.requiredText('number');
  item.refuseFurtherFields(['number']);
  return { number };
}

function toEmail(item: FieldReader) {
  const email = item.requiredText('email', MAX_EMAIL_CHARACTERS);
  if (!EMAIL.test(email) && !item.hasFault('email')) {
    item.fault('email', 'expected an e-mail address');
  }
  item.refuseFurtherFields(['email']);
  return { email };
}

function toAccount(item: FieldReader) {
  const account = {
    bankNumber: item.requiredText('bankNumber'),
    agencyNumber: item.requiredText('agencyNumber'),
    accountNumber: item.requiredText('accountNumber'),
    accountDigit: item.text('accountDigit'),
    type: item.word('type'),
    defaultAccount: item.flag('defaultAccount'),
  };
  item.refuseFurtherFields(ACCOUNT_FIELDS);
  return account;
}

/** Describes faults for people: `name: missing; phones[0].number: expected text`. Free of personal data. */
export function describeFaults(faults: readonly FieldFault[]): string {
  return faults.map(({ field, expected }) => `${field}: ${expected}`).join('; ');
}
