import { textFault, unknownField } from '../../../base/files/import-file.ts';
import { parseCivilDate } from '../../../base/values/business-day.ts';
import { type FieldFault, isObject, MAX_KEY_CHARACTERS } from '../../../base/values/field-fault.ts';
import { parseTaxId, TAX_ID_EXPECTATION } from '../../../base/values/tax-id.ts';

/** The states of a payable in the ERP. */
export const PAYABLE_STATUSES = ['open', 'paid', 'cancelled'] as const;

/** How a payable was settled. */
const SETTLEMENTS = ['payment', 'assignment', 'offset'] as const;

/** Returns the value of a field in its normal form, or refuses the text. */
type Read = (text: string, refuse: (expected: string) => null) => string | null;

/** Three decimals are refused: in Brazil 1.234 means one thousand two hundred and thirty-four. */
export const AMOUNT = /^-?(?:0|[1-9]\d{0,17})(?:\.\d{1,2})?$/;
/** A zero with a sign was another value before. */
const SIGNED_ZERO = /^-0(?:\.0+)?$/;
const AMOUNT_EXPECTATION =
  'expected an exact decimal as text, with at most two decimals and no separator of thousands, such as "1234.50"';
const BOOKING_KEY = /^\d{4}-\d{2}-\d{2}:[\da-f]{32}:[1-9]\d{0,8}:[1-9]\d{0,8}$/;
const CURRENCY = /^[A-Z]{3}$/;
const SUPPLIER_EXPECTATION = 'missing; expected supplierExternalId, supplierTaxId or both';

const anyText: Read = (text) => text.trim();
/** A spreadsheet has made a number of a long key, and its last digits are lost. */
const ROUNDED_NUMBER = /^\d(?:[.,]\d+)?E\+\d+$/i;
const KEY_EXPECTATION =
  'expected the key as the ERP writes it, got a number that a spreadsheet has rounded; give the column the format text';
const key: Read = (text, refuse) =>
  ROUNDED_NUMBER.test(text.trim()) ? refuse(KEY_EXPECTATION) : text.trim();
const date: Read = (text, refuse) =>
  parseCivilDate(text) ?? refuse('expected a calendar date as YYYY-MM-DD');
/** An exact decimal in plain notation. */
const amount: Read = (text, refuse) => {
  if (!AMOUNT.test(text)) return refuse(AMOUNT_EXPECTATION);
  return SIGNED_ZERO.test(text) ? refuse('expected zero without a sign') : text;
};
/** CPF or CNPJ without mask, upper case. */
const taxId: Read = (text, refuse) => parseTaxId(text.trim())?.digits ?? refuse(TAX_ID_EXPECTATION);
const currency: Read = (text, refuse) =>
  CURRENCY.exec(text.trim())?.[0] ??
  refuse('expected a currency of three upper-case letters, such as BRL');
const bookingKey: Read = (text, refuse) =>
  BOOKING_KEY.exec(text.trim().toLowerCase())?.[0] ??
  refuse('expected the key of a booking line, as bookings and booking_feed state it');
const oneOf =
  (words: readonly string[]): Read =>
  (text, refuse) =>
    words.find((known) => known === text.trim().toLowerCase()) ??
    refuse(`expected ${words.join(', ')}`);

/** The fields of a payable in the order of the documents: how a text is read, and what the field says. */
const FIELDS = {
  erpKey: [key, "The ERP's key, unique over all companies. Required."],
  company: [anyText, 'The company or branch that owes.'],
  supplierExternalId: [anyText, "The supplier's code in the ERP. Required without supplierTaxId."],
  supplierTaxId: [taxId, 'CPF or CNPJ of the supplier. Required without supplierExternalId.'],
  document: [anyText, 'The number of the invoice.'],
  instalment: [anyText, 'The instalment of the document.'],
  orderUid: [anyText, "The platform's order, where the ERP knows the order."],
  dueDate: [date, 'YYYY-MM-DD.'],
  openValue: [
    amount,
    'An exact decimal as text with at most two decimals, such as "1234.50". Negative: a credit note. Required.',
  ],
  status: [oneOf(PAYABLE_STATUSES), `${PAYABLE_STATUSES.join(', ')}; default open.`],
  payee: [taxId, 'CPF or CNPJ of the party that the ERP is going to pay; absent: the supplier.'],
  version: [
    anyText,
    "The ERP's version of the payable: an integer, a date or a time, always in one form. In a delta, an older version replaces no newer one.",
  ],
  settledAs: [oneOf(SETTLEMENTS), `How the payable was settled: ${SETTLEMENTS.join(', ')}.`],
  settledBy: [bookingKey, 'The key of the booking line that settled the payable.'],
  settledOn: [date, 'When the payable was settled, YYYY-MM-DD.'],
  paidTo: [taxId, 'CPF or CNPJ of the party that was paid.'],
  totalValue: [amount, 'The whole value, as openValue.'],
  currency: [currency, 'Three upper-case letters (ISO 4217); absent: BRL.'],
  bookingKey: [
    bookingKey,
    'The key of the booking line whose posting made this payable of the financial agent.',
  ],
  issueDate: [date, 'When the document was issued, YYYY-MM-DD.'],
} satisfies Record<string, readonly [Read, string]>;

type PayableField = keyof typeof FIELDS;

/** A payable of the ERP, as a file or a request states it. Null: not stated. */
export type Payable = Readonly<Record<PayableField, string | null>>;

export const PAYABLE_FIELDS = Object.keys(FIELDS) as PayableField[];
export const AMOUNT_FIELDS = PAYABLE_FIELDS.filter((field) => FIELDS[field][0] === amount);
export const DATE_FIELDS = PAYABLE_FIELDS.filter((field) => FIELDS[field][0] === date);
/** The fields that every payable has. */
export const REQUIRED_PAYABLE_FIELDS = ['erpKey', 'openValue'] as const;
/** What the fields say, one a line. */
export const PAYABLE_HELP = PAYABLE_FIELDS.map((field) => `${field}: ${FIELDS[field][1]}`).join(
  '\n',
);

/** A payable, or its faults. */
export interface CheckedPayable {
  /** Null if there are faults. */
  readonly payable: Payable | null;
  readonly faults: readonly FieldFault[];
}

const MAX_VALUE_CHARACTERS = 60;

/**
 * Checks a payable and collects all faults. Null, blank text and absent are equal. A payable names its supplier
 * by the ERP's code, by the tax identifier, or by both. An absent status is `open`.
 */
export function checkPayable(value: unknown): CheckedPayable {
  if (!isObject(value))
    return { payable: null, faults: [{ field: '(payable)', expected: 'expected an object' }] };
  const faults: FieldFault[] = [];
  const refuse = (field: string, expected: string) => {
    faults.push({ field, expected });
    return null;
  };
  const isBlank = (stated: unknown) => typeof stated === 'string' && stated.trim() === '';
  const readField = (field: PayableField): string | null => {
    const [read] = FIELDS[field];
    const stated = value[field] ?? '';
    if (isBlank(stated)) {
      if (field === 'status') return 'open';
      if (!REQUIRED_PAYABLE_FIELDS.some((required) => required === field)) return null;
      return refuse(field, read === amount ? `missing; ${AMOUNT_EXPECTATION}` : 'missing');
    }
    const fault = textFault(stated, read === amount ? MAX_VALUE_CHARACTERS : MAX_KEY_CHARACTERS);
    if (fault !== null) return refuse(field, read === amount ? AMOUNT_EXPECTATION : fault);
    return read(String(stated), (expected) => refuse(field, expected));
  };
  const payable = Object.fromEntries(
    PAYABLE_FIELDS.map((field) => [field, readField(field)]),
  ) as Payable;
  const hasSupplier = payable.supplierExternalId !== null || payable.supplierTaxId !== null;
  if (!hasSupplier && !faults.some(({ field }) => field.startsWith('supplier'))) {
    refuse('supplierExternalId', SUPPLIER_EXPECTATION);
  }
  for (const [name, stated] of Object.entries(value)) {
    if (!Object.hasOwn(FIELDS, name) && !isBlank(stated)) faults.push(unknownField(name));
  }
  return { payable: faults.length > 0 ? null : payable, faults };
}
