import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox';
import { parseCivilDate } from '../../base/values/business-day.ts';
import { MAX_DECIMAL_DIGITS, parseDecimal } from '../../base/values/decimal.ts';
import {
  isStorableText,
  MAX_KEY_CHARACTERS,
  MAX_TEXT_CHARACTERS,
  TEXT_EXPECTATION,
} from '../../base/values/field-fault.ts';
import { JsonNumber } from '../../base/values/json-value.ts';
import { VALUE_COLUMNS, type ValueColumn } from './title.ts';

/** Returns JSON's name of the type: `null`, `boolean`, `string`, `number`, `array` or `object`. */
export function toJsonType(value: unknown): string {
  if (value === null) return 'null';
  if (value instanceof JsonNumber) return 'number';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** `expected a string, got a number`. */
export function toTypeMismatch(expectedType: string, value: unknown): string {
  return `expected ${withArticle(expectedType)}, got ${withArticle(toJsonType(value))}`;
}

function withArticle(type: string): string {
  if (type === 'null') return type;
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

/** Whether a plain notation of the number has at most `MAX_DECIMAL_DIGITS` digits. */
export function isStorableNumber({ text }: JsonNumber): boolean {
  // Only an exponent gives a number more digits than its text has characters.
  return (text.length <= MAX_DECIMAL_DIGITS && !/e/i.test(text)) || parseDecimal(text) !== null;
}
const NUMBER_EXPECTATION = `expected a number of at most ${MAX_DECIMAL_DIGITS} digits`;

/** The type of a value; every value may also be null. */
export const ValueKind = Object.freeze({
  text: 0,
  date: 1,
  amount: 2,
  boolean: 3,
  object: 4,
} as const);

export type ValueKind = (typeof ValueKind)[keyof typeof ValueKind];

/** Keywords of a schema that are no part of JSON Schema: where the value goes. */
type Place = {
  /** Null for an object, and for `provider.externalId`, which is read where `providerExternalId` is absent. */
  readonly column: ValueColumn | null;
  readonly kind: ValueKind;
  /** The documented value of an enumeration; null: the field is not an enumeration. */
  readonly only: string | null;
};

function place(kind: ValueKind, column: ValueColumn | null, only: string | null = null): Place {
  return { column, kind, only };
}

// A refinement checks a rule that JSON Schema cannot express, after the rest of its schema.

function text(column: ValueColumn | null, maxLength = MAX_TEXT_CHARACTERS, only?: string) {
  const type = ['string', 'null'];
  const schema = { type, maxLength, ...place(ValueKind.text, column, only) };
  return Type.Optional(
    Type.Refine(
      Type.Unsafe<string | null>(schema),
      (value) => value === null || isStorableText(value),
      () => TEXT_EXPECTATION,
    ),
  );
}

function date<T extends string | null>(column: ValueColumn, type: string | readonly string[]) {
  return Type.Refine(
    Type.Unsafe<T>({ type, ...place(ValueKind.date, column) }),
    (value) => value === null || parseCivilDate(value) !== null,
    () => 'expected a calendar date as YYYY-MM-DD',
  );
}

function amount<T extends JsonNumber | null>(column: ValueColumn, isRequired: boolean) {
  return Type.Refine(
    Type.Unsafe<T>({ description: 'number, exact', ...place(ValueKind.amount, column) }),
    (value) =>
      value === null ? !isRequired : value instanceof JsonNumber && isStorableNumber(value),
    (value) => (value instanceof JsonNumber ? NUMBER_EXPECTATION : toTypeMismatch('number', value)),
  );
}

const optionalAmount = (column: ValueColumn) =>
  Type.Optional(amount<JsonNumber | null>(column, false));

/** In JavaScript a `JsonNumber` is an object. */
function isNoNumber(value: unknown): boolean {
  return !(value instanceof JsonNumber);
}

function object<P extends TProperties>(properties: P) {
  const schema = Type.Object(properties, place(ValueKind.object, null));
  return Type.Refine(schema, isNoNumber, (value) => toTypeMismatch('object', value));
}

function optionalObject<P extends TProperties>(properties: P) {
  const schema = { type: ['object', 'null'], properties, ...place(ValueKind.object, null) };
  return Type.Optional(
    Type.Refine(Type.Unsafe<Static<TObject<P>> | null>(schema), isNoNumber, (value) =>
      toTypeMismatch('object', value),
    ),
  );
}

const bankAccount = (owner: 'payment' | 'provider') => ({
  bank: text(`${owner}_bank`),
  agency: text(`${owner}_agency`),
  agencyDigit: text(`${owner}_agency_digit`),
  account: text(`${owner}_account`),
  accountDigit: text(`${owner}_account_digit`),
});

/**
 * The platform's contract for one item of `titles` in `GET /api/anticipations/conciliation`, field by field
 * as documented. The necessary fields are required; all others may be absent or null. Further fields and
 * further values of enumerations are allowed, because the document does not exclude them. Lengths are in code
 * points. A number is a `JsonNumber`, for which JSON Schema has no type.
 */
export const CONCILIATION_TITLE_SCHEMA = object({
  order: object({
    uid: Type.Refine(
      Type.String({
        minLength: 1,
        maxLength: MAX_KEY_CHARACTERS,
        ...place(ValueKind.text, 'order_uid'),
      }),
      isStorableText,
      () => TEXT_EXPECTATION,
    ),
  }),
  financialAgent: optionalObject({
    type: text('financial_agent_type', MAX_TEXT_CHARACTERS, 'INDIVIDUAL'),
    identificationNumber: text('financial_agent_identification'),
    name: text('financial_agent_name'),
    buyerIsFinancial: Type.Optional(
      Type.Unsafe<boolean | null>({
        type: ['boolean', 'null'],
        ...place(ValueKind.boolean, 'buyer_is_financial'),
      }),
    ),
    payment: optionalObject({
      type: text('payment_type', MAX_TEXT_CHARACTERS, 'BANK_TRANSFER'),
      ...bankAccount('payment'),
    }),
  }),
  buyerIdentification: text('buyer_identification', MAX_KEY_CHARACTERS),
  providerExternalId: text('provider_external_id', MAX_KEY_CHARACTERS),
  platformDiscountedValue: optionalAmount('platform_discounted_value'),
  financialDiscountedValue: optionalAmount('financial_discounted_value'),
  buyerDiscountedValue: optionalAmount('buyer_discounted_value'),
  billingFee: optionalAmount('billing_fee'),
  moneyTransferFee: optionalAmount('money_transfer_fee'),
  originalValue: amount<JsonNumber>('original_value', true),
  anticipatedDueDate: Type.Optional(
    date<string | null>('anticipated_due_date', ['string', 'null']),
  ),
  acceptedDate: date<string>('accepted_date', 'string'),
  platformCommission: text('platform_commission'),
  provider: optionalObject({
    identification: text('provider_identification'),
    /** Has the length of `providerExternalId`, because it may replace it. */
    externalId: text(null, MAX_KEY_CHARACTERS),
    bankAccount: optionalObject(bankAccount('provider')),
  }),
});

/** A title that has passed the schema. */
export type ConciliationTitle = Static<typeof CONCILIATION_TITLE_SCHEMA>;

/** A documented field, in the order of the schema. */
export interface TitleField extends Place {
  /** The field's path in the title, such as `financialAgent.payment.bank`. */
  readonly path: string;
  readonly isRequired: boolean;
  /** Of a text. */
  readonly maxLength: number;
}

interface ObjectSchema {
  readonly properties: Readonly<Record<string, TSchema & Place & Partial<ObjectSchema>>>;
  readonly required?: readonly string[];
}

function fieldsOf({ properties, required = [] }: ObjectSchema, prefix: string): TitleField[] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const { column, kind, only, maxLength = 0 } = field as Place & { maxLength?: number };
    const path = prefix + name;
    const isRequired = required.includes(name);
    const inner = kind === ValueKind.object ? fieldsOf(field as never, `${path}.`) : [];
    return [{ path, column, kind, only, isRequired, maxLength }, ...inner];
  });
}

const FIELDS = fieldsOf(CONCILIATION_TITLE_SCHEMA as unknown as ObjectSchema, '');

/**
 * Every documented field of a title. Fields with a column come first, in the order of the columns, so
 * that a field's index here is the index of its column in `VALUE_COLUMNS`.
 */
export const TITLE_FIELDS: readonly TitleField[] = [
  ...VALUE_COLUMNS.flatMap((name) => FIELDS.filter(({ column }) => column === name)),
  ...FIELDS.filter(({ column }) => column === null),
];
