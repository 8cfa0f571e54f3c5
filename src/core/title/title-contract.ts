// Not `typebox/compile`, the same validator with another 6 MB of code for conversions.

import type { TLocalizedValidationError } from 'typebox/error';
import { Compile } from 'typebox/schema';
import { Settings } from 'typebox/system';
import { type CivilDate, parseCivilDate } from '../../base/values/business-day.ts';
import { parseDecimal } from '../../base/values/decimal.ts';
import {
  isJsonObject,
  JsonNumber,
  type JsonObject,
  type JsonValue,
} from '../../base/values/json-value.ts';
import type { Title } from './title.ts';
import { collectExtra, type DriftItem } from './title-extra.ts';
import { CONCILIATION_TITLE_SCHEMA, TITLE_FIELDS, toTypeMismatch } from './title-schema.ts';

/**
 * The accepted dates of one request. A pull requests one day (`conciliationDate`, `to === from`), a sweep
 * everything accepted since `from` (`anticipationDate`, `to === null`). The platform offers no bounded range.
 */
export interface PullWindow {
  readonly from: CivilDate;
  readonly to: CivilDate | null;
}

/** Returns the window of a pull: one date. */
export function dayWindow(date: CivilDate): PullWindow {
  return { from: date, to: date };
}

/** Returns the window of a sweep: every date since `from`. */
export function sweepWindow(from: CivilDate): PullWindow {
  return { from, to: null };
}

export function isInWindow(window: PullWindow, date: CivilDate): boolean {
  return date >= window.from && (window.to === null || date <= window.to);
}

export type TitleCheck =
  | { readonly ok: true; readonly title: Title; readonly drift: readonly DriftItem[] }
  | {
      readonly ok: false;
      /** At most 20, as `field.path: expected …`. No values, except the accepted date. */
      readonly reasons: readonly string[];
      /** The accepted date of the title, if it is inside the window. */
      readonly acceptedDate: CivilDate | null;
    };

const MAX_REASONS = 20;

// A global setting. Other schemas only get more complete diagnostics.
Settings.Set({ maxErrors: MAX_REASONS });

const CONTRACT = Compile(CONCILIATION_TITLE_SCHEMA);

/**
 * Checks one item of `titles` against the contract and flattens it to a row. `extra` holds the
 * fields without a column.
 */
export function checkTitle(value: JsonValue, window: PullWindow): TitleCheck {
  const acceptedDate = findAcceptedDate(value);
  const isInside = acceptedDate !== null && isInWindow(window, acceptedDate);
  if (isInside && CONTRACT.Check(value)) {
    const { extra, drift } = collectExtra(value);
    return { ok: true, title: toRow(value, extra), drift };
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
  return reasons.slice(0, MAX_REASONS);
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
