import { VALUE_COLUMNS, type ValueColumn } from '../domain/title.ts';
import { MAX_KEY_CHARACTERS, MAX_TEXT_CHARACTERS } from '../platform/title-schema.ts';

/** What a value of a title may be, besides null. */
export const ValueKind = Object.freeze({
  text: 0,
  date: 1,
  amount: 2,
  boolean: 3,
  object: 4,
} as const);

export type ValueKind = (typeof ValueKind)[keyof typeof ValueKind];

export interface LayoutField {
  /** Where the field stands in the title, such as `financialAgent.payment.bank`. */
  readonly path: string;
  readonly kind: ValueKind;
  /** Null for an object, and for `provider.externalId`, which only stands in for another field. */
  readonly column: ValueColumn | null;
  readonly isRequired: boolean;
  /** Of a text. The contract counts characters, so it may allow more bytes than these. */
  readonly maxBytes: number;
  /** The value of the enumeration that is no drift; null where there is no enumeration. */
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
 * The documented title once more, as one has to know it who reads bytes: what title-schema.ts and
 * title-columns.ts say of values, this says of fields. Within each object in the documented order.
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
 * Every documented field of a title. Those with a column come first, in the order of the columns, so
 * that a field's index here is its column's in `VALUE_COLUMNS`.
 */
export const TITLE_LAYOUT: readonly LayoutField[] = [
  ...VALUE_COLUMNS.flatMap((name) => DOCUMENTED_FIELDS.filter(({ column }) => column === name)),
  ...DOCUMENTED_FIELDS.filter(({ column }) => column === null),
];

export function fieldAt(path: string): number {
  return TITLE_LAYOUT.findIndex((field) => field.path === path);
}

/** The field's name within its object. */
export function nameOf({ path }: LayoutField): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

/** The index of the object that holds the field; -1 where that is the title itself. */
export function parentOf({ path }: LayoutField): number {
  return fieldAt(path.slice(0, Math.max(path.lastIndexOf('.'), 0)));
}

/** The fields of an object, by index, in the documented order. */
export function membersOf(object: number): number[] {
  return DOCUMENTED_FIELDS.filter((field) => parentOf(field) === object).map(({ path }) =>
    fieldAt(path),
  );
}
