import Type, { type Static, type TObject, type TProperties } from 'typebox';
import { parseCivilDate } from '../domain/business-day.ts';
import { MAX_DECIMAL_DIGITS, parseDecimal } from '../domain/decimal.ts';
import { isStorableText } from '../domain/field-reader.ts';
import { JsonNumber } from '../domain/json-value.ts';
import { toTypeMismatch } from './title-faults.ts';

/** For indexed columns: with four bytes a character, the text still fits an index entry of PostgreSQL. */
export const MAX_KEY_CHARACTERS = 255;
export const MAX_TEXT_CHARACTERS = 1000;

const TEXT_EXPECTATION = 'expected text without U+0000 and lone surrogates';

/** Whether a plain notation of the number has at most `MAX_DECIMAL_DIGITS` digits. */
export function isStorableNumber({ text }: JsonNumber): boolean {
  // Only an exponent gives a number more digits than its text has characters.
  return (text.length <= MAX_DECIMAL_DIGITS && !/e/i.test(text)) || parseDecimal(text) !== null;
}
const NUMBER_EXPECTATION = `expected a number of at most ${MAX_DECIMAL_DIGITS} digits`;

// A refinement checks a rule that JSON Schema cannot express, after the rest of its schema.

function requiredText(maxLength: number) {
  const schema = Type.String({ minLength: 1, maxLength });
  return Type.Refine(schema, isStorableText, () => TEXT_EXPECTATION);
}

function text(maxLength = MAX_TEXT_CHARACTERS) {
  return Type.Optional(
    Type.Refine(
      Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength }),
      (value) => value === null || isStorableText(value),
      () => TEXT_EXPECTATION,
    ),
  );
}

function isDate(text: string | null): boolean {
  return text === null || parseCivilDate(text) !== null;
}
const toDateExpectation = () => 'expected a calendar date as YYYY-MM-DD';

function isExactNumber(value: unknown): boolean {
  return value instanceof JsonNumber && isStorableNumber(value);
}

function toNumberFault(value: unknown): string {
  return value instanceof JsonNumber ? NUMBER_EXPECTATION : toTypeMismatch('number', value);
}

function amount() {
  return Type.Optional(
    Type.Refine(
      Type.Unsafe<JsonNumber | null>({ description: 'number, exact; or null' }),
      (value) => value === null || isExactNumber(value),
      toNumberFault,
    ),
  );
}

/** In JavaScript a `JsonNumber` is an object. */
function isNoNumber(value: unknown): boolean {
  return !(value instanceof JsonNumber);
}

function object<P extends TProperties>(properties: P) {
  return Type.Refine(Type.Object(properties), isNoNumber, (value) =>
    toTypeMismatch('object', value),
  );
}

function optionalObject<P extends TProperties>(properties: P) {
  return Type.Optional(
    Type.Refine(
      Type.Unsafe<Static<TObject<P>> | null>({ type: ['object', 'null'], properties }),
      isNoNumber,
      (value) => toTypeMismatch('object', value),
    ),
  );
}

const BANK_ACCOUNT = {
  bank: text(),
  agency: text(),
  agencyDigit: text(),
  account: text(),
  accountDigit: text(),
};

/**
 * The platform's contract for one item of `titles` in `GET /api/anticipations/conciliation`, field by field
 * as documented. The necessary fields are required; all others may be absent or null. Further fields and
 * further values of enumerations are allowed, because the document does not exclude them. Lengths are in code
 * points. A number is a `JsonNumber`, for which JSON Schema has no type.
 */
export const CONCILIATION_TITLE_SCHEMA = object({
  order: object({ uid: requiredText(MAX_KEY_CHARACTERS) }),
  financialAgent: optionalObject({
    type: text(),
    identificationNumber: text(),
    name: text(),
    buyerIsFinancial: Type.Optional(Type.Unsafe<boolean | null>({ type: ['boolean', 'null'] })),
    payment: optionalObject({ type: text(), ...BANK_ACCOUNT }),
  }),
  buyerIdentification: text(MAX_KEY_CHARACTERS),
  providerExternalId: text(MAX_KEY_CHARACTERS),
  platformDiscountedValue: amount(),
  financialDiscountedValue: amount(),
  buyerDiscountedValue: amount(),
  billingFee: amount(),
  moneyTransferFee: amount(),
  originalValue: Type.Refine(
    Type.Unsafe<JsonNumber>({ description: 'number, exact' }),
    isExactNumber,
    toNumberFault,
  ),
  anticipatedDueDate: Type.Optional(
    Type.Refine(
      Type.Unsafe<string | null>({ type: ['string', 'null'] }),
      isDate,
      toDateExpectation,
    ),
  ),
  acceptedDate: Type.Refine(Type.String(), isDate, toDateExpectation),
  platformCommission: text(),
  provider: optionalObject({
    identification: text(),
    /** Has the length of `providerExternalId`, because it may replace it. */
    externalId: text(MAX_KEY_CHARACTERS),
    bankAccount: optionalObject(BANK_ACCOUNT),
  }),
});

/** A title that has passed the schema. */
export type ConciliationTitle = Static<typeof CONCILIATION_TITLE_SCHEMA>;
