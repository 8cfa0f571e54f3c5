import type { TSchema } from 'typebox';
import { toDisplayText } from '../../base/values/display-text.ts';
import { isStorableText } from '../../base/values/field-reader.ts';
import {
  isJsonObject,
  JsonNumber,
  type JsonObject,
  type JsonValue,
  toJsonText,
} from '../../base/values/json-value.ts';
import {
  CONCILIATION_TITLE_SCHEMA,
  type ConciliationTitle,
  isStorableNumber,
  toJsonType,
} from './title-schema.ts';

const MAX_PATH_CHARACTERS = 200;
const MAX_VALUE_CHARACTERS = 64;
/** Holds, as one text, the undocumented fields of an object whose names cannot be stored. */
const FURTHER_FIELDS = '(further fields)';

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

/** The parts of a title beyond the documented interface. */
export interface TitleExtra {
  /** The fields without a column, at their places; null: none. */
  readonly extra: JsonObject | null;
  readonly drift: readonly DriftItem[];
}

/** Collects the undocumented fields of the title and the undocumented values of enumerations. */
export function collectExtra(title: ConciliationTitle): TitleExtra {
  const collector = new ExtraCollector();
  const agent = title.financialAgent;
  collector.addEnumValue('financialAgent.type', agent?.type, 'INDIVIDUAL');
  collector.addEnumValue('financialAgent.payment.type', agent?.payment?.type, 'BANK_TRANSFER');
  const unknown = collector.collectUnknown(title, DOCUMENTED_TITLE);
  const extra = collector.addInnerExternalId(title, unknown);
  return { extra, drift: collector.drift };
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

/** Whether `jsonb` keeps the value exactly. */
function isStorable(value: JsonValue): boolean {
  if (typeof value === 'string') return isStorableText(value);
  if (value === null || typeof value === 'boolean') return true;
  if (value instanceof JsonNumber) return isStorableNumber(value);
  if (!isJsonObject(value)) return value.every(isStorable);
  return Object.keys(value).every(
    (name) => isStorableText(name) && isStorable(value[name] ?? null),
  );
}

type Fields = Record<string, JsonValue>;

/** Without a prototype, a field named `__proto__` is an ordinary field. */
function emptyObject(): Fields {
  return Object.create(null) as Fields;
}

class ExtraCollector {
  readonly drift: DriftItem[] = [];

  collectUnknown(object: object, { path, fields }: DocumentedObject): Fields | null {
    let unknown: Fields | null = null;
    const keep = (name: string, value: JsonValue) => {
      unknown ??= emptyObject();
      unknown[name] = value;
    };
    const further: string[] = [];
    for (const [name, value] of Object.entries(object as JsonObject)) {
      const known = fields.get(name);
      if (known === 'value') continue;
      if (known !== undefined) {
        const inner = value && this.collectUnknown(value as JsonObject, known);
        if (inner !== null) keep(name, inner);
      } else if (isStorableText(name)) {
        keep(name, this.#addUnknownField(path, name, value));
      } else {
        further.push(`${JSON.stringify(name)}:${toJsonText(value)}`);
      }
    }
    if (further.length > 0) {
      let name = FURTHER_FIELDS;
      while (name in object) name += ' ';
      keep(name, this.#addUnknownField(path, name, further.join(', ')));
    }
    return unknown;
  }

  addEnumValue(path: string, value: string | null | undefined, known: string): void {
    if (value == null || value === known) return;
    const shown = toDisplayText(value, MAX_VALUE_CHARACTERS);
    const place = `titles[].${path}`;
    this.drift.push({ place, path: place, kind: 'unknown_value', value: shown });
  }

  /**
   * The provider's external id is documented in two places and has one column. The column holds the title's
   * own, or the provider's if the title has no id. A different id of the provider is kept here.
   */
  addInnerExternalId(title: ConciliationTitle, unknown: Fields | null): Fields | null {
    const inner = title.provider?.externalId ?? null;
    const outer = title.providerExternalId ?? null;
    if (inner === null || outer === null || inner === outer) return unknown;
    this.drift.push({
      place: 'titles[].provider.externalId',
      path: 'titles[].provider.externalId',
      kind: 'unknown_value',
      value: 'differs from providerExternalId',
    });
    const extra = unknown ?? emptyObject();
    extra['provider'] = Object.assign(emptyObject(), extra['provider'], { externalId: inner });
    return extra;
  }

  /** Returns the value as it is kept: as its JSON text where `jsonb` cannot hold it. */
  #addUnknownField(path: string, name: string, value: JsonValue): JsonValue {
    const kept = isStorable(value) ? value : toJsonText(value);
    const shown = toDisplayText(path + name, MAX_PATH_CHARACTERS - 'titles[].'.length);
    this.drift.push({
      place: `titles[].${path}`,
      path: `titles[].${shown}`,
      kind: 'unknown_field',
      value: toJsonType(kept),
    });
    return kept;
  }
}
