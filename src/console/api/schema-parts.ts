/** Parts of the schemas of `/api`. A schema checks the input and is published as OpenAPI. */

import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import type { CivilDate } from '../../base/values/business-day.ts';
import { AMOUNT_COLUMNS } from '../../core/title/title.ts';

export const words = <Word extends string>(values: readonly Word[]) =>
  Type.Unsafe<Word>({ type: 'string', enum: values });

/** The types of JSON Schema, in TypeScript. */
interface Scalars {
  readonly string: string;
  readonly integer: number;
  readonly boolean: boolean;
}

export const orNull = <Name extends keyof Scalars>(type: Name, more: object = {}) =>
  Type.Unsafe<Scalars[Name] | null>({ type: [type, 'null'], ...more });

export const text = Type.String();

export const textOrNull = orNull('string');

export const date = Type.Unsafe<CivilDate>({
  type: 'string',
  format: 'date',
  examples: ['2026-03-02'],
});

/** A date of the ledger. Pages link to its neighbours, which the first and the last date of the calendar lack. */
export const ledgerDate = Type.Unsafe<CivilDate>({
  type: 'string',
  format: 'date',
  pattern: '^(?!000[01]|9999)',
  examples: ['2026-03-02'],
});

export const dateOrNull = Type.Unsafe<CivilDate | null>({
  type: ['string', 'null'],
  format: 'date',
});

/** A row has a `Date`, which becomes text in the answer. */
export const instant = Type.Unsafe<Date>({ type: 'string', format: 'date-time' });

export const instantOrNull = Type.Unsafe<Date | null>({
  type: ['string', 'null'],
  format: 'date-time',
});

export const count = Type.Integer({ minimum: 0 });

export const id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

/** Text, because most JSON parsers would round a number to a double. */
export const amount = Type.String({ description: 'An exact decimal.', examples: ['1234.50'] });

/** A bank account as the titles state it. Personal data. */
export const bankAccount = Type.Object({
  bank: textOrNull,
  agency: orNull('string', { description: 'Masked.' }),
  agencyDigit: textOrNull,
  account: orNull('string', { description: 'Masked.' }),
  accountDigit: textOrNull,
  destination: Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()], {
    description: 'Undocumented fields that name a destination, such as a Pix key. Masked.',
  }),
});

export type BankAccount = Static<typeof bankAccount>;

export const each = <Name extends string, Schema extends TSchema>(
  names: readonly Name[],
  schema: Schema,
  options: { readonly description?: string } = {},
) =>
  Type.Unsafe<Readonly<Record<Name, Static<Schema>>>>(
    Type.Object(Object.fromEntries(names.map((name) => [name, schema])), options),
  );

export const sums = each(AMOUNT_COLUMNS, amount);

export const ErrorAnswer = Type.Object({
  code: Type.String({ description: 'Stable; may be matched.' }),
  message: Type.String(),
  position: Type.Optional(
    Type.String({
      description: 'Of a feed that does not have the position asked for: where to read again from.',
    }),
  ),
});

/** Values as PostgreSQL writes them into jsonb, amounts as exact decimal text; null: not stated. */
export const ChangedField = Type.Object({
  column: Type.String({
    description:
      'A column of conciliation.title, a named field, or a member of an account such as provider.bankAccount.pixKey.',
  }),
  isAccount: Type.Boolean({ description: 'A field beyond the columns with an account: masked.' }),
  before: orNull('string'),
  after: orNull('string'),
});
export type ChangedField = Readonly<Static<typeof ChangedField>>;

export const pageOfList = {
  offset: Type.Optional(
    Type.Integer({
      ...{ minimum: 0, maximum: 1_000_000_000, default: 0 },
      description: 'Rows to skip. Rows that come or go between two requests move the others.',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
};

/** Returns the schemas of the input that is in a path, and those of the rest. */
export function splitInput(path: string, input: TProperties): readonly [TProperties, TProperties] {
  const isInPath = (name: string) => path.split('/').includes(`:${name}`);
  const part = (wanted: boolean) =>
    Object.fromEntries(Object.entries(input).filter(([name]) => isInPath(name) === wanted));
  return [part(true), part(false)];
}
