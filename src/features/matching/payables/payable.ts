import { parseCivilDate } from '../../../base/values/business-day.ts';
import {
  type FieldFault,
  FieldReader,
  isObject,
  MAX_KEY_CHARACTERS,
} from '../../../base/values/field-reader.ts';
import { parseTaxId, TAX_ID_EXPECTATION } from '../../../base/values/tax-id.ts';

/** The states of a payable in the ERP. */
export const PAYABLE_STATUSES = ['open', 'paid', 'cancelled'] as const;
type PayableStatus = (typeof PAYABLE_STATUSES)[number];

/** How a payable was settled. */
export const SETTLEMENTS = ['payment', 'assignment', 'offset'] as const;
type Settlement = (typeof SETTLEMENTS)[number];

/** A payable of the ERP, as a file or a request states it. */
export interface Payable {
  /** The ERP's own key, unique over all companies. */
  readonly erpKey: string;
  /** The company or branch that owes, in the words of the ERP. */
  readonly company: string | null;
  readonly supplierExternalId: string | null;
  /** CPF or CNPJ without mask, upper case. */
  readonly supplierTaxId: string | null;
  readonly document: string | null;
  readonly instalment: string | null;
  /** The platform's order, where the ERP knows it. */
  readonly orderUid: string | null;
  readonly dueDate: string | null;
  /** An exact decimal in plain notation. Negative: a credit note. */
  readonly openValue: string;
  readonly status: PayableStatus;
  /** CPF or CNPJ of the party that the ERP is going to pay; null: the supplier. */
  readonly payee: string | null;
  /** The ERP's version of the payable: an integer, a date or a time. Other texts do not compare. */
  readonly version: string | null;
  readonly settledAs: Settlement | null;
  /** The key of the booking line that settled the payable. */
  readonly settledBy: string | null;
  readonly settledOn: string | null;
  /** CPF or CNPJ of the party that was paid. */
  readonly paidTo: string | null;
  /** The whole value, an exact decimal in plain notation. */
  readonly totalValue: string | null;
  /** ISO 4217; null: BRL. */
  readonly currency: string | null;
  /** The key of the booking line whose posting made this payable of the financial agent. */
  readonly bookingKey: string | null;
  readonly issueDate: string | null;
}

/** The fields in the order of the documents. */
export const PAYABLE_FIELDS = [
  'erpKey',
  'company',
  'supplierExternalId',
  'supplierTaxId',
  'document',
  'instalment',
  'orderUid',
  'dueDate',
  'openValue',
  'status',
  'payee',
  'version',
  'settledAs',
  'settledBy',
  'settledOn',
  'paidTo',
  'totalValue',
  'currency',
  'bookingKey',
  'issueDate',
] as const satisfies readonly (keyof Payable)[];

export const AMOUNT_FIELDS = [
  'openValue',
  'totalValue',
] as const satisfies readonly (keyof Payable)[];
export const DATE_FIELDS = [
  'dueDate',
  'settledOn',
  'issueDate',
] as const satisfies readonly (keyof Payable)[];

/** The fields that every payable has. */
export const REQUIRED_PAYABLE_FIELDS = [
  'erpKey',
  'openValue',
] as const satisfies readonly (keyof Payable)[];

export type PayableCheck =
  | { readonly ok: true; readonly payable: Payable }
  | { readonly ok: false; readonly faults: readonly FieldFault[] };

const MAX_VALUE_CHARACTERS = 60;
/** Three decimals are refused: in Brazil 1.234 means one thousand two hundred and thirty-four. */
const AMOUNT = /^-?(?:0|[1-9]\d{0,17})(?:\.\d{1,2})?$/;
/** A zero with a sign was another value before. */
const SIGNED_ZERO = /^-0(?:\.0+)?$/;
const AMOUNT_EXPECTATION =
  'expected an exact decimal as text, with at most two decimals and no separator of thousands, such as "1234.50"';
const BOOKING_KEY = /^\d{4}-\d{2}-\d{2}:[\da-f]{32}:[1-9]\d{0,8}:[1-9]\d{0,8}$/;
const CURRENCY = /^[A-Z]{3}$/;
const SUPPLIER_EXPECTATION = 'missing; expected supplierExternalId, supplierTaxId or both';

/**
 * Checks a payable and collects all faults. Null, blank text and absent are equal. A payable names its supplier
 * by the ERP's code, by the tax identifier, or by both. An absent status is `open`.
 */
export function checkPayable(value: unknown): PayableCheck {
  if (!isObject(value))
    return { ok: false, faults: [{ field: '(payable)', expected: 'expected an object' }] };
  const faults: FieldFault[] = [];
  const check = new FieldReader(withoutEmpty(value), '', faults);
  const text = (field: keyof Payable) => check.word(field, MAX_KEY_CHARACTERS)?.trim() ?? null;
  const taxId = (field: 'supplierTaxId' | 'payee' | 'paidTo') => {
    const written = text(field);
    if (written === null) return null;
    const parsed = parseTaxId(written);
    if (parsed === null) check.fault(field, TAX_ID_EXPECTATION);
    return parsed?.digits ?? null;
  };
  const payable = {
    erpKey: check.requiredText('erpKey', MAX_KEY_CHARACTERS).trim(),
    company: text('company'),
    supplierExternalId: text('supplierExternalId'),
    supplierTaxId: taxId('supplierTaxId'),
    document: text('document'),
    instalment: text('instalment'),
    orderUid: text('orderUid'),
    dueDate: dateOf(check, 'dueDate'),
    openValue: amountOf(check, 'openValue') ?? missing(check, 'openValue', AMOUNT_EXPECTATION),
    status: wordOf(check, 'status', PAYABLE_STATUSES) ?? 'open',
    payee: taxId('payee'),
    version: text('version'),
    settledAs: wordOf(check, 'settledAs', SETTLEMENTS),
    settledBy: bookingKeyOf(check, 'settledBy'),
    settledOn: dateOf(check, 'settledOn'),
    paidTo: taxId('paidTo'),
    totalValue: amountOf(check, 'totalValue'),
    currency: currencyOf(check),
    bookingKey: bookingKeyOf(check, 'bookingKey'),
    issueDate: dateOf(check, 'issueDate'),
  };
  if (
    payable.supplierExternalId === null &&
    payable.supplierTaxId === null &&
    !check.hasFault('supplierExternalId') &&
    !check.hasFault('supplierTaxId')
  ) {
    check.fault('supplierExternalId', SUPPLIER_EXPECTATION);
  }
  check.refuseFurtherFields(PAYABLE_FIELDS);
  return faults.length > 0 ? { ok: false, faults } : { ok: true, payable };
}

function withoutEmpty(value: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(
    Object.entries(value).filter(([, each]) => typeof each !== 'string' || each.trim() !== ''),
  );
}

function missing(check: FieldReader, field: keyof Payable, expectation: string): string {
  if (!check.hasFault(field)) check.fault(field, `missing; ${expectation}`);
  return '';
}

function dateOf(check: FieldReader, field: (typeof DATE_FIELDS)[number]): string | null {
  const text = check.text(field, MAX_KEY_CHARACTERS);
  if (text === undefined) return null;
  const date = parseCivilDate(text);
  if (date === null) check.fault(field, 'expected a calendar date as YYYY-MM-DD');
  return date;
}

function amountOf(check: FieldReader, field: (typeof AMOUNT_FIELDS)[number]): string | null {
  const text = check.text(field, MAX_VALUE_CHARACTERS);
  if (text === undefined) return null;
  if (!AMOUNT.test(text)) check.fault(field, AMOUNT_EXPECTATION);
  else if (SIGNED_ZERO.test(text)) check.fault(field, 'expected zero without a sign');
  return text;
}

function wordOf<Word extends string>(
  check: FieldReader,
  field: 'status' | 'settledAs',
  words: readonly Word[],
): Word | null {
  const text = check.text(field, MAX_KEY_CHARACTERS);
  if (text === undefined) return null;
  const word = words.find((known) => known === text.trim().toLowerCase()) ?? null;
  if (word === null) check.fault(field, `expected ${words.join(', ')}`);
  return word;
}

function bookingKeyOf(check: FieldReader, field: 'settledBy' | 'bookingKey'): string | null {
  const key = check.text(field, MAX_KEY_CHARACTERS)?.trim().toLowerCase();
  if (key === undefined) return null;
  if (!BOOKING_KEY.test(key)) {
    check.fault(field, 'expected the key of a booking line, as bookings and booking_feed state it');
  }
  return key;
}

function currencyOf(check: FieldReader): string | null {
  const text = check.text('currency', MAX_KEY_CHARACTERS)?.trim();
  if (text === undefined) return null;
  if (!CURRENCY.test(text)) {
    check.fault('currency', 'expected a currency of three upper-case letters, such as BRL');
  }
  return text;
}
