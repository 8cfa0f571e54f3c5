import {
  type FileReading,
  type FileRecord,
  readFile,
  textFault,
  unknownField,
} from '../../../base/files/import-file.ts';
import { parseCivilDate } from '../../../base/values/business-day.ts';
import { type FieldFault, isObject, MAX_KEY_CHARACTERS } from '../../../base/values/field-fault.ts';
import { parseTaxId, TAX_ID_EXPECTATION } from '../../../base/values/tax-id.ts';

/** The states of a payable in the ERP. */
export const PAYABLE_STATUSES = ['open', 'paid', 'cancelled'] as const;

/** How a payable was settled. */
const SETTLEMENTS = ['payment', 'assignment', 'offset'] as const;

/** Returns the value of a field in its normal form, or refuses the text. @param isCell of a CSV file */
type Read = (text: string, refuse: (expected: string) => null, isCell: boolean) => string | null;

/** Three decimals are refused: in Brazil 1.234 means one thousand two hundred and thirty-four. */
export const AMOUNT = /^-?(?:0|[1-9]\d{0,17})(?:\.\d{1,2})?$/;
/** A zero with a sign was another value before. */
const SIGNED_ZERO = /^-0(?:\.0+)?$/;
const AMOUNT_EXPECTATION =
  'expected an exact decimal as text, with at most 18 digits and two decimals and no separator of thousands, such as "1234.50"';

/** `1234.50`, `1234,50`, `1.234,50` or `1,234.50`. */
const AMOUNT_CELL =
  /^-?(?:(?:0|[1-9]\d*)(?:[.,]\d{1,2})?|[1-9]\d{0,2}(?:(?:\.\d{3})+,|(?:,\d{3})+\.)\d{1,2})$/;
/** The sign of the currency before an amount, with the sign of the amount before or after it. */
const REAIS = /^(-?)\s*R\$\s*/i;
const AMOUNT_CELL_EXPECTATION =
  'expected an amount such as 1234.50, -1.234,50 or R$ 1.234,50, with at most 18 digits and two decimals, without leading zeros, and with the sign in front';
/** Refused, because the last separator may stand before thousands or before decimals. */
const AMBIGUOUS_AMOUNT = /^-?\d{1,3}(?:(?:\.\d{3})+|(?:,\d{3})+)$/;

/** Day, month and year in the order of Brazil, or the year first; then at most a time of midnight. */
const DATE_CELL =
  /^(?:(?<day>\d{2})([/.-])(?<month>\d{2})\2(?<year>\d{4})|(?<iso>\d{4}-\d{2}-\d{2})|(?<plain>\d{8}))(?:[T ]00:00(?::00(?:\.0+)?)?)?$/;
const DATE_CELL_EXPECTATION =
  'expected a calendar date such as 31/03/2026, 31-03-2026, 2026-03-31 or 20260331, with four digits of the year and no time but 00:00:00';
/** What ERPs write where there is no date. Blanks around it are gone. */
const NO_DATE = /^(?:0{8}|0{4}-00-00|00([/.-])00\1(?:00|0000)|([/.-]) *\2)$/;

/** Describes a text without its content: 9 stands for a digit, A for a letter. */
function formOf(text: string): string {
  const form = text.slice(0, 30).replace(/\d/g, '9').replace(/\p{L}/gu, 'A');
  const isAmbiguous = AMBIGUOUS_AMOUNT.test(text.replace(REAIS, '$1'));
  return `got the form ${form}${isAmbiguous ? ', which has no decimals to tell thousands from: write 1.234,00' : ''}`;
}

const BOOKING_KEY = /^\d{4}-\d{2}-\d{2}:[\da-f]{32}:[1-9]\d{0,8}:[1-9]\d{0,8}$/;
const CURRENCY = /^[A-Z]{3}$/;
const SUPPLIER_EXPECTATION = 'missing; expected supplierExternalId, supplierTaxId or both';

const anyText: Read = (text) => text.trim();
const date: Read = (text, refuse, isCell) => {
  if (!isCell) return parseCivilDate(text) ?? refuse('expected a calendar date as YYYY-MM-DD');
  if (NO_DATE.test(text)) return null;
  const { day, month, year, iso, plain } = DATE_CELL.exec(text)?.groups ?? {};
  const written = iso ?? plain?.replace(/^(....)(..)/, '$1-$2-') ?? `${year}-${month}-${day}`;
  return parseCivilDate(written) ?? refuse(`${DATE_CELL_EXPECTATION}; ${formOf(text)}`);
};
/** An exact decimal in plain notation. The last separator of a cell is the decimal one. */
const amount: Read = (written, refuse, isCell) => {
  const cell = written.replace(REAIS, '$1');
  const text = isCell ? cell.replace(/[.,](?=\d{3})/g, '').replace(',', '.') : written;
  if (isCell && !(AMOUNT_CELL.test(cell) && AMOUNT.test(text))) {
    return refuse(`${AMOUNT_CELL_EXPECTATION}; ${formOf(written)}`);
  }
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
const STATUS_CELLS = new Map<string, string>([
  ...PAYABLE_STATUSES.map((status) => [status, status] as const),
  ...Object.entries({ aberto: 'open', pago: 'paid', cancelado: 'cancelled' }),
]);
const status: Read = (text, refuse, isCell) =>
  isCell
    ? (STATUS_CELLS.get(text.toLowerCase()) ??
      refuse(`expected ${[...STATUS_CELLS.keys()].join(', ')}; ${formOf(text)}`))
    : oneOf(PAYABLE_STATUSES)(text, refuse, isCell);

/** The fields of a payable in the order of the documents: how a text is read, and what the field says. */
const FIELDS = {
  erpKey: [anyText, "The ERP's key, unique over all companies. Required."],
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
  status: [status, `${PAYABLE_STATUSES.join(', ')}; default open.`],
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
/** The fields that every payable has. */
export const REQUIRED_PAYABLE_FIELDS: readonly PayableField[] = ['erpKey', 'openValue'];
/** What the fields say, one a line. */
export const PAYABLE_HELP = PAYABLE_FIELDS.map((field) => `${field}: ${FIELDS[field][1]}`).join(
  '\n',
);

/** One payable of a file or a request, or its faults. */
export interface StatedPayable extends Pick<FileRecord, 'at' | 'raw'> {
  /** Null if there are faults. */
  readonly payable: Payable | null;
  readonly faults: readonly FieldFault[];
}

const SHAPE = { list: 'payables', columns: PAYABLE_FIELDS, required: REQUIRED_PAYABLE_FIELDS };

/**
 * Reads the payables of a file and checks each of them.
 * @throws InputError when the file cannot be read, or does not have the format of its name
 */
export function readPayableFile(reading: FileReading): AsyncGenerator<StatedPayable> {
  return readFile(reading, SHAPE, ({ at, raw, value, isCsv, fault }) =>
    fault === null
      ? { at, raw, ...checkPayable(value, isCsv) }
      : { at, raw, payable: null, faults: [fault] },
  );
}

/** Checks the payables of a JSON list. */
export function* checkPayables(list: readonly unknown[]): Generator<StatedPayable> {
  for (const [index, value] of list.entries()) {
    yield { at: index + 1, raw: JSON.stringify(value), ...checkPayable(value, false) };
  }
}

const MAX_VALUE_CHARACTERS = 60;

/**
 * Checks a payable and collects all faults. Null, blank text and absent are equal. A payable names its supplier
 * by the ERP's code, by the tax identifier, or by both. An absent status is `open`.
 */
function checkPayable(value: unknown, isCell: boolean): Pick<StatedPayable, 'payable' | 'faults'> {
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
      if (!REQUIRED_PAYABLE_FIELDS.includes(field)) return null;
      return refuse(field, 'missing');
    }
    const fault = textFault(stated, read === amount ? MAX_VALUE_CHARACTERS : MAX_KEY_CHARACTERS);
    if (fault !== null) return refuse(field, read === amount ? AMOUNT_EXPECTATION : fault);
    return read(String(stated), (expected) => refuse(field, expected), isCell);
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
