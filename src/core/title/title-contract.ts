// Not `typebox/compile`, the same validator with another 6 MB of code for conversions.

import type { TSchema } from 'typebox';
import type { TLocalizedValidationError } from 'typebox/error';
import { Compile } from 'typebox/schema';
import { type CivilDate, parseCivilDate } from '../../base/values/business-day.ts';
import { parseDecimal } from '../../base/values/decimal.ts';
import { isStorableText, MAX_FAULTS, toDisplayText } from '../../base/values/field-fault.ts';
import {
  isJsonObject,
  JsonNumber,
  type JsonObject,
  type JsonValue,
  toJsonText,
} from '../../base/values/json-value.ts';
import type { Title } from './title.ts';
import {
  CONCILIATION_TITLE_SCHEMA,
  type ConciliationTitle,
  isStorableNumber,
  TITLE_FIELDS,
  toJsonType,
  toTypeMismatch,
} from './title-schema.ts';

/**
 * The accepted dates of one request. A pull requests one day (`conciliationDate`, `to === from`), a sweep
 * everything accepted since `from` (`anticipationDate`, `to === null`). The platform offers no bounded range.
 */
export interface PullWindow {
  readonly from: CivilDate;
  readonly to: CivilDate | null;
}

export function isInWindow(window: PullWindow, date: CivilDate): boolean {
  return date >= window.from && (window.to === null || date <= window.to);
}

export type TitleCheck =
  | { readonly ok: true; readonly title: Title; readonly drift: readonly DriftItem[] }
  | {
      readonly ok: false;
      /** At most `MAX_FAULTS`, as `field.path: expected …`. No values, except the accepted date. */
      readonly reasons: readonly string[];
      /** The accepted date of the title, if it is inside the window. */
      readonly acceptedDate: CivilDate | null;
    };

const CONTRACT = Compile(CONCILIATION_TITLE_SCHEMA);

/**
 * Checks one item of `titles` against the contract and flattens it to a row. `extra` holds the
 * fields without a column.
 */
export function checkTitle(value: JsonValue, window: PullWindow): TitleCheck {
  const acceptedDate = findAcceptedDate(value);
  const isInside = acceptedDate !== null && isInWindow(window, acceptedDate);
  if (isInside && CONTRACT.Check(value)) {
    const drift: DriftItem[] = [];
    return { ok: true, title: toRow(value, collectExtra(value, drift)), drift };
  }
  return {
    ok: false,
    reasons: explain(value, isInside ? null : acceptedDate),
    acceptedDate: isInside ? acceptedDate : null,
  };
}

const COLUMNS = TITLE_FIELDS.flatMap(({ column, path }) =>
  column === null ? [] : { column, names: path.split('.') },
);

/** Returns a title that has passed the schema as a row: dates and amounts are not checked again. */
function toRow(title: JsonObject, extra: JsonObject | null): Title {
  const row: Record<string, unknown> = { extra };
  for (const { column, names } of COLUMNS) {
    const value = valueAt(title, names);
    row[column] = value instanceof JsonNumber ? parseDecimal(value.text) : value;
  }
  row['provider_external_id'] ??= valueAt(title, ['provider', 'externalId']);
  return row as unknown as Title;
}

/** Null where the field or an object around it is absent. */
function valueAt(title: JsonObject, names: readonly string[]): JsonValue {
  let value: JsonValue = title;
  for (const name of names) value = (value as JsonObject | null)?.[name] ?? null;
  return value;
}

function findAcceptedDate(value: JsonValue): CivilDate | null {
  const text = isJsonObject(value) ? value['acceptedDate'] : null;
  return typeof text === 'string' ? parseCivilDate(text) : null;
}

/** Returns all reasons. `outsideDate` is an accepted date outside the window. */
function explain(value: JsonValue, outsideDate: CivilDate | null): string[] {
  const reasons: string[] = [];
  if (outsideDate !== null) {
    reasons.push(`acceptedDate: ${outsideDate} is outside the requested window`);
  }
  reasons.push(...CONTRACT.Errors(value)[1].flatMap((error) => toReasons(value, error)));
  return reasons.slice(0, MAX_FAULTS);
}

/**
 * Describes one error of the schema check: the field's path and the expected value. Never the
 * value, which may be personal data.
 */
function toReasons(title: JsonValue, error: TLocalizedValidationError): string[] {
  // Only documented fields have a schema, and none of their names needs escaping.
  const fields = error.instancePath.split('/').slice(1);
  const value = fields.reduce<JsonValue>(fieldOf, title);
  const path = fields.length === 0 ? '(title)' : fields.join('.');
  switch (error.keyword) {
    case 'type':
      return [`${path}: ${toTypeMismatch([error.params.type].flat()[0] ?? '', value)}`];
    case 'required':
      // For an expected object, a number fails only here: in JavaScript it is an object without fields.
      if (!isJsonObject(value)) return [`${path}: ${toTypeMismatch('object', value)}`];
      return error.params.requiredProperties.map(
        (name) => `${[...fields, name].join('.')}: missing`,
      );
    case 'minLength':
      return [`${path}: expected text that is not empty`];
    case 'maxLength':
      return [`${path}: expected at most ${error.params.limit} characters`];
    case '~refine':
      return [`${path}: ${error.params.message}`];
    default:
      return [`${path}: not as documented (${error.keyword})`];
  }
}

function fieldOf(value: JsonValue, field: string): JsonValue {
  return isJsonObject(value) ? (value[field] ?? null) : null;
}

const MAX_PATH_CHARACTERS = 200;
const MAX_VALUE_CHARACTERS = 64;

/** A part of a response beyond the documented interface. It does not reject a title. */
export interface DriftItem {
  /** The object of the interface that has the field, or the enumeration; of these there are a dozen. */
  readonly place: string;
  /** Such as `titles[].financialAgent.type`; at most 200 printable characters. */
  readonly path: string;
  readonly kind: 'unknown_field' | 'unknown_value';
  /** For a field its JSON type, for an enumeration the value; at most 64 printable characters. */
  readonly value: string;
}

/** An object of the documented interface: its path, and its fields with the objects among them. */
export interface DocumentedObject {
  readonly path: string;
  readonly fields: ReadonlyMap<string, DocumentedObject | 'value'>;
}

export const DOCUMENTED_TITLE = toDocumentedObject(CONCILIATION_TITLE_SCHEMA, '');

function toDocumentedObject(schema: TSchema & { properties: unknown }, path: string) {
  const fields = new Map<string, DocumentedObject | 'value'>();
  for (const [name, field] of Object.entries(schema.properties as Record<string, TSchema>)) {
    const isObject = 'properties' in field;
    fields.set(name, isObject ? toDocumentedObject(field, `${path}${name}.`) : 'value');
  }
  return { path, fields };
}

type Fields = Record<string, JsonValue>;

/** Without a prototype, a field named `__proto__` is an ordinary field. */
function emptyObject(): Fields {
  return Object.create(null) as Fields;
}

/**
 * Returns a value with the JSON text in place of each part that `jsonb` does not keep exactly. Only that part: a named
 * field may be beside it.
 */
function toStorable(value: JsonValue): JsonValue {
  if (typeof value === 'string') return isStorableText(value) ? value : toJsonText(value);
  if (value instanceof JsonNumber) return isStorableNumber(value) ? value : value.text;
  if (value === null || typeof value === 'boolean') return value;
  if (!isJsonObject(value)) return value.map(toStorable);
  const kept = emptyObject();
  for (const name of Object.keys(value))
    kept[toStorableName(name)] = toStorable(value[name] ?? null);
  return kept;
}

const toStorableName = (name: string) => (isStorableText(name) ? name : JSON.stringify(name));

/**
 * Returns the fields without a column, at their places; null: none.
 *
 * @param drift gets the undocumented fields and the undocumented values of enumerations
 */
function collectExtra(title: ConciliationTitle, drift: DriftItem[]): JsonObject | null {
  const agent = title.financialAgent;
  addEnumValue(drift, 'financialAgent.type', agent?.type, 'INDIVIDUAL');
  addEnumValue(drift, 'financialAgent.payment.type', agent?.payment?.type, 'BANK_TRANSFER');
  const unknown = collectUnknown(drift, title, DOCUMENTED_TITLE);

  // The provider's external id is documented in two places and has one column. The column holds the title's
  // own, or the provider's if the title has no id. A different id of the provider is kept here.
  const inner = title.provider?.externalId ?? null;
  const outer = title.providerExternalId ?? null;
  if (inner === null || outer === null || inner === outer) return unknown;
  const place = 'titles[].provider.externalId';
  const value = 'differs from providerExternalId';
  drift.push({ place, path: place, kind: 'unknown_value', value });
  const extra = unknown ?? emptyObject();
  extra['provider'] = Object.assign(emptyObject(), extra['provider'], { externalId: inner });
  return extra;
}

function collectUnknown(
  drift: DriftItem[],
  object: object,
  { path, fields }: DocumentedObject,
): Fields | null {
  let unknown: Fields | null = null;
  const keep = (name: string, value: JsonValue) => {
    unknown ??= emptyObject();
    unknown[name] = value;
  };
  for (const [name, value] of Object.entries(object as JsonObject)) {
    const known = fields.get(name);
    if (known === 'value') continue;
    if (known !== undefined) {
      const inner = value && collectUnknown(drift, value as JsonObject, known);
      if (inner !== null) keep(name, inner);
      continue;
    }
    const keptName = toStorableName(name);
    const kept = toStorable(value);
    const shown = toDisplayText(path + keptName, MAX_PATH_CHARACTERS - 'titles[].'.length);
    const place = `titles[].${path}`;
    const type = toJsonType(kept);
    drift.push({ place, path: `titles[].${shown}`, kind: 'unknown_field', value: type });
    keep(keptName, kept);
  }
  return unknown;
}

function addEnumValue(
  drift: DriftItem[],
  path: string,
  value: string | null | undefined,
  known: string,
): void {
  if (value == null || value === known) return;
  const shown = toDisplayText(value, MAX_VALUE_CHARACTERS);
  const place = `titles[].${path}`;
  drift.push({ place, path: place, kind: 'unknown_value', value: shown });
}
