/** The fields of a list's filter. A field is declared once: for the address, the form and the API. */

import { type TSchema, Type } from 'typebox';
import { InputError } from '../../base/runtime/errors.ts';
import { type Language, parseAmount, type TextKey, textOf } from '../../base/texts/texts.ts';
import { type CivilDate, parseCivilDate } from '../../base/values/business-day.ts';
import { FormField } from '../shell/layout.tsx';
import { textParameter, textParameters, usePage } from '../shell/page-context.ts';
import { ActionForm, Submit } from '../shell/parts.tsx';
import { isLikeTaxId } from '../shell/search.sql.ts';

export interface FilterField<Value> {
  /** Of the field in the form, and of the message about a text that is no value. */
  readonly label: TextKey;
  /** Of the parameter in the API. */
  readonly schema: TSchema;
  /** The value without the parameter. */
  readonly absent: Value;
  /** What the message about such a text asks for. */
  readonly expected: 'amount' | 'date' | 'id' | 'text' | 'word';
  /** Returns the value of a text; undefined: it has none. */
  readonly parse: (text: string, language: Language) => Value | undefined;
  /**
   * tabs: links above the list, in place of a field. hidden: kept in addresses and forms only. search: text that may be
   * a tax identifier, which must not get into an address, because proxies log addresses.
   */
  readonly look: 'choice' | 'tabs' | 'date' | 'text' | 'search' | 'hidden';
  /** The texts of a choice, and the key of each one's text. */
  readonly choices?: readonly (readonly [string, TextKey])[];
}

// biome-ignore lint/suspicious/noExplicitAny: a field of any value
export type FilterFields = Readonly<Record<string, FilterField<any>>>;

export type FilterOf<Fields extends FilterFields> = {
  readonly [Name in keyof Fields]: Fields[Name] extends FilterField<infer Value> ? Value : never;
};

const wordField = <Word extends string>(
  label: TextKey,
  words: readonly Word[],
  keyOf: (word: Word) => TextKey,
) => ({
  label,
  look: 'choice' as const,
  expected: 'word' as const,
  schema: Type.Unsafe({ type: 'string', enum: words }),
  parse: (text: string) => words.find((word) => word === text),
  choices: words.map((word) => [word, keyOf(word)] as const),
});

/** One of some words. Without the parameter, the word is `absent`. */
export function choice<const Word extends string>(
  label: TextKey,
  words: readonly Word[],
  absent: Word,
  keyOf: (word: Word) => TextKey,
): FilterField<Word> {
  const field = wordField(label, words, keyOf);
  return { ...field, absent, schema: { ...field.schema, default: absent } };
}

/** One of some words, or null for all. */
export function anyOf<const Word extends string>(
  label: TextKey,
  words: readonly Word[],
  keyOf: (word: Word) => TextKey,
): FilterField<Word | null> {
  const field = wordField(label, words, keyOf);
  return { ...field, absent: null, choices: [['', 'filter.all'], ...field.choices] };
}

export const dateField = (label: TextKey): FilterField<CivilDate | null> => ({
  label,
  absent: null,
  look: 'date',
  expected: 'date',
  schema: Type.Unsafe({ type: 'string', format: 'date' }),
  parse: (text) => parseCivilDate(text) ?? undefined,
});

export const textField = (label: TextKey, maxLength = 200): FilterField<string | null> => ({
  label,
  absent: null,
  look: 'text',
  expected: 'text',
  schema: Type.String({ maxLength }),
  parse: (text) => (text.length <= maxLength ? text : undefined),
});

/** An amount as decimal text, and as a person wrote it. */
interface WrittenAmount {
  readonly decimal: string;
  readonly toString: () => string;
}

/** @param pattern of the decimal texts that the field takes */
export const amountField = (label: TextKey, pattern = /./): FilterField<WrittenAmount | null> => ({
  ...textField(label),
  absent: null,
  expected: 'amount',
  parse: (written, language) => {
    const decimal = parseAmount(written, language);
    if (decimal === null || !pattern.test(decimal)) return undefined;
    return { decimal, toString: () => written };
  },
});

export const searchField = (label: TextKey): FilterField<string | null> => ({
  ...textField(label),
  look: 'search',
});

/** The id of a row, which has no control in the form. 0: any. Ids are large after a restore of the database. */
export const idField = (label: TextKey): FilterField<number> => ({
  label,
  absent: 0,
  look: 'hidden',
  expected: 'id',
  schema: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 }),
  parse: (text) =>
    /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined,
});

export const asTabs = <Value,>(field: FilterField<Value>): FilterField<Value> => ({
  ...field,
  look: 'tabs',
});

export const asHidden = <Value,>(field: FilterField<Value>): FilterField<Value> => ({
  ...field,
  look: 'hidden',
});

/**
 * Reads a filter from a query or a form.
 * @param language of amounts
 * @throws InputError that names a parameter whose text is no value, or that is stated more than once: without the
 * condition, other rows would be selected
 */
export function readFilter<Fields extends FilterFields>(
  fields: Fields,
  source: unknown,
  language: Language = 'en',
): FilterOf<Fields> {
  const filter = Object.entries(fields).map(([name, field]) => {
    const { label, schema, expected, absent, parse } = field;
    const [text, ...others] = textsOf(source, name);
    const value: unknown = text === undefined ? absent : parse(text, language);
    if (value !== undefined && others.length === 0) return [name, value];
    const max = Number(Reflect.get(schema, 'maxLength') ?? 0);
    throw new InputError(textOf('en')('faults.filter', { field: name, expected, max }), {
      context: { fault: 'filter', field: textOf(language)(label), expected, max },
    });
  });
  return Object.fromEntries(filter);
}

/** A schema of the API has converted numbers. */
function textsOf(source: unknown, name: string): string[] {
  const value: unknown =
    typeof source === 'object' && source !== null ? Reflect.get(source, name) : null;
  return typeof value === 'number' ? [String(value)] : textParameters(source, name);
}

/**
 * Returns the parameters of a form that was sent, and whether one may be a tax identifier. If none may, they become an
 * address, which can be kept and sent.
 */
export function postedParameters(fields: FilterFields, body: unknown) {
  const written = Object.keys(fields).flatMap((name): [name: string, text: string][] => {
    const text = textParameter(body, name)?.trim() ?? '';
    return text === '' ? [] : [[name, text]];
  });
  return { written, isPrivate: written.some(([, text]) => isLikeTaxId(text)) };
}

export const parameterSchemas = (fields: FilterFields) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { schema }]) => [name, Type.Optional(schema)]),
  );

/** Returns the parameters of a filter, without the fields that have their absent value. */
export function parametersOf<Fields extends FilterFields>(
  fields: Fields,
  filter: Partial<FilterOf<Fields>>,
): [name: string, text: string][] {
  return Object.entries(fields).flatMap(([name, { absent }]): [string, string][] => {
    const value = filter[name];
    return value === undefined || value === null || value === absent ? [] : [[name, String(value)]];
  });
}

export function FilterForm(props: {
  readonly fields: FilterFields;
  readonly filter: Readonly<Record<string, unknown>>;
  readonly path: string;
}) {
  const { fields, filter, path } = props;
  const { text } = usePage();
  const isInput = ({ look }: FilterField<unknown>) => look !== 'tabs' && look !== 'hidden';
  const kept = Object.fromEntries(Object.entries(fields).filter(([, field]) => !isInput(field)));
  const content = (
    <>
      {parametersOf(kept, filter).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      {Object.entries(fields)
        .filter(([, field]) => isInput(field))
        .map(([name, field]) => (
          <FormField key={name} name={name} {...field} value={filter[name]} />
        ))}
      <div class="buttons">
        <Submit class="primary">{text('filter.apply')}</Submit>
        <a class="button" href={path}>
          {text('filter.clear')}
        </a>
      </div>
    </>
  );
  return Object.values(fields).some(({ look }) => look === 'search') ? (
    <ActionForm action={path} class="filters">
      {content}
    </ActionForm>
  ) : (
    <form method="get" action={path} class="filters">
      {content}
    </form>
  );
}

/** The fields that are links above the list. */
export function FilterTabs(props: {
  readonly fields: FilterFields;
  readonly filter: Readonly<Record<string, unknown>>;
  readonly hrefOf: (change: Readonly<Record<string, unknown>>) => string;
  /** The number of rows by word. Absent: the links state no number. */
  readonly counts?: Readonly<Record<string, number>> | undefined;
}) {
  const { fields, filter, counts } = props;
  const { text, formats } = usePage();
  return (
    <>
      {Object.entries(fields)
        .filter(([, { look }]) => look === 'tabs')
        .map(([name, field]) => (
          <nav key={name} class="tabs" aria-label={text(field.label)}>
            {(field.choices ?? []).map(([word, key]) => {
              const value = word === '' ? null : word;
              const count = counts?.[word === '' ? 'all' : word];
              return (
                <a
                  key={word}
                  href={props.hrefOf({ [name]: value })}
                  {...((filter[name] ?? null) === value && { 'aria-current': 'page' })}
                >
                  {text(key)}
                  {count !== undefined && ` (${formats.count(count)})`}
                </a>
              );
            })}
          </nav>
        ))}
    </>
  );
}
