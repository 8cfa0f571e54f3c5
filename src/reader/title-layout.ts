import { VALUE_COLUMNS, type ValueColumn } from '../domain/title.ts';
import { MAX_KEY_CHARACTERS, MAX_TEXT_CHARACTERS } from '../platform/title-schema.ts';

/** The type of a value; every value may also be null. */
export const ValueKind = Object.freeze({
  text: 0,
  date: 1,
  amount: 2,
  boolean: 3,
  object: 4,
} as const);

export type ValueKind = (typeof ValueKind)[keyof typeof ValueKind];

export interface LayoutField {
  /** The field's path in the title, such as `financialAgent.payment.bank`. */
  readonly path: string;
  readonly kind: ValueKind;
  /** Null for an object, and for `provider.externalId`, which is read where `providerExternalId` is absent. */
  readonly column: ValueColumn | null;
  readonly isRequired: boolean;
  /**
   * The longest text that the fast reader takes. The contract counts characters, so it may allow more bytes.
   */
  readonly maxBytes: number;
  /** The documented value of an enumeration; null: the field is not an enumeration. */
  readonly only: string | null;
}

type Options = Partial<Pick<LayoutField, 'isRequired' | 'maxBytes' | 'only'>>;

function define(
  kind: ValueKind,
  path: string,
  column: ValueColumn | null,
  { isRequired = false, maxBytes = MAX_TEXT_CHARACTERS, only = null }: Options = {},
): LayoutField {
  return { path, kind, column, isRequired, maxBytes, only };
}

const text = define.bind(null, ValueKind.text);
const date = define.bind(null, ValueKind.date);
const amount = define.bind(null, ValueKind.amount);
const boolean = define.bind(null, ValueKind.boolean);
const object = (path: string, options?: Options) => define(ValueKind.object, path, null, options);

const REQUIRED = { isRequired: true };
const KEY = { maxBytes: MAX_KEY_CHARACTERS };

/**
 * The documented fields of a title, in the documented order within each object, for a reader of bytes.
 * title-schema.ts and title-columns.ts have the same contract for parsed values.
 */
const DOCUMENTED_FIELDS: readonly LayoutField[] = [
  object('order', REQUIRED),
  text('order.uid', 'order_uid', { ...REQUIRED, ...KEY }),
  object('financialAgent'),
  text('financialAgent.type', 'financial_agent_type', { only: 'INDIVIDUAL' }),
  text('financialAgent.identificationNumber', 'financial_agent_identification'),
  text('financialAgent.name', 'financial_agent_name'),
  boolean('financialAgent.buyerIsFinancial', 'buyer_is_financial'),
  object('financialAgent.payment'),
  text('financialAgent.payment.type', 'payment_type', { only: 'BANK_TRANSFER' }),
  text('financialAgent.payment.bank', 'payment_bank'),
  text('financialAgent.payment.agency', 'payment_agency'),
  text('financialAgent.payment.agencyDigit', 'payment_agency_digit'),
  text('financialAgent.payment.account', 'payment_account'),
  text('financialAgent.payment.accountDigit', 'payment_account_digit'),
  text('buyerIdentification', 'buyer_identification', KEY),
  text('providerExternalId', 'provider_external_id', KEY),
  amount('platformDiscountedValue', 'platform_discounted_value'),
  amount('financialDiscountedValue', 'financial_discounted_value'),
  amount('buyerDiscountedValue', 'buyer_discounted_value'),
  amount('billingFee', 'billing_fee'),
  amount('moneyTransferFee', 'money_transfer_fee'),
  amount('originalValue', 'original_value', REQUIRED),
  date('anticipatedDueDate', 'anticipated_due_date'),
  date('acceptedDate', 'accepted_date', REQUIRED),
  text('platformCommission', 'platform_commission'),
  object('provider'),
  text('provider.identification', 'provider_identification'),
  text('provider.externalId', null, KEY),
  object('provider.bankAccount'),
  text('provider.bankAccount.bank', 'provider_bank'),
  text('provider.bankAccount.agency', 'provider_agency'),
  text('provider.bankAccount.agencyDigit', 'provider_agency_digit'),
  text('provider.bankAccount.account', 'provider_account'),
  text('provider.bankAccount.accountDigit', 'provider_account_digit'),
];

/**
 * Every documented field of a title. Fields with a column come first, in the order of the columns, so
 * that a field's index here is the index of its column in `VALUE_COLUMNS`.
 */
export const TITLE_LAYOUT: readonly LayoutField[] = [
  ...VALUE_COLUMNS.flatMap((name) => DOCUMENTED_FIELDS.filter(({ column }) => column === name)),
  ...DOCUMENTED_FIELDS.filter(({ column }) => column === null),
];

/** Returns the index of a documented field in `TITLE_LAYOUT`. */
export function fieldAt(path: string): number {
  return TITLE_LAYOUT.findIndex((field) => field.path === path);
}

/** The field's name within its object. */
function nameOf({ path }: LayoutField): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

/** The index of the object that holds the field; -1: the title itself. */
export function parentOf({ path }: LayoutField): number {
  return fieldAt(path.slice(0, Math.max(path.lastIndexOf('.'), 0)));
}

/** The fields of an object, by index, in the documented order. */
export function membersOf(object: number): number[] {
  return DOCUMENTED_FIELDS.filter((field) => parentOf(field) === object).map(({ path }) =>
    fieldAt(path),
  );
}

/** No documented name is at this place. */
export const NO_NAME = -1;

/**
 * Every name as it is written, `"name":`, in words of four bytes. The last word ends with the name, so it
 * may overlap the word before it.
 */
const nameTexts = TITLE_LAYOUT.map((field) => Buffer.from(`"${nameOf(field)}":`));
const nameWords = nameTexts.map(toWords);
const NAME_LENGTHS = Int32Array.from(nameTexts, ({ length }) => length);
const NAME_WORDS = Int32Array.from(nameWords.flat());
const NAME_STARTS = Int32Array.from([0, ...nameWords], (_, field) =>
  nameWords.slice(0, field).reduce((total, { length }) => total + length, 0),
);

/** The fields of each object; the index is that of the object plus 1, and 0 for the title itself. */
export const MEMBERS = Array.from({ length: 1 + TITLE_LAYOUT.length }, (_, index) =>
  membersOf(index - 1),
);

function toWords(name: Buffer): number[] {
  const words: number[] = [];
  for (let at = 0; at + 4 < name.length; at += 4) words.push(name.readInt32LE(at));
  return [...words, name.readInt32LE(name.length - 4)];
}

/** The index after the field's name and its colon; `NO_NAME` where another name is there. */
export function endOfName(view: DataView, from: number, field: number): number {
  const last = (NAME_STARTS[field + 1] as number) - 1;
  const end = from + (NAME_LENGTHS[field] as number);
  let at = from;
  for (let index = NAME_STARTS[field] as number; index < last; index++) {
    if (view.getInt32(at, true) !== NAME_WORDS[index]) return NO_NAME;
    at += 4;
  }
  return view.getInt32(end - 4, true) === NAME_WORDS[last] ? end : NO_NAME;
}

/** The field of the object whose name is there, or `NO_NAME`. */
export function findMember(view: DataView, at: number, object: number): number {
  const members = MEMBERS[1 + object] ?? [];
  return members.find((field) => endOfName(view, at, field) !== NO_NAME) ?? NO_NAME;
}
