import type { TSchema } from 'typebox';
import { toDisplayText } from '../domain/display-text.ts';
import { isJsonObject, JsonNumber, type JsonObject, type JsonValue } from '../domain/json-value.ts';
import { toJsonType } from './title-faults.ts';
import {
  CONCILIATION_TITLE_SCHEMA,
  type ConciliationTitle,
  isStorableNumber,
  isStorableText,
  NUMBER_EXPECTATION,
  TEXT_EXPECTATION,
} from './title-schema.ts';

const MAX_PATH_CHARACTERS = 200;
const MAX_VALUE_CHARACTERS = 64;

/** Something that the documented interface does not have. It never fails a title. */
export interface DriftItem {
  /** Such as `titles[].financialAgent.type`; at most 200 printable characters. */
  readonly path: string;
  readonly kind: 'unknown_field' | 'unknown_value';
  /** Of a field its JSON type, of an enumeration the value; at most 64 printable characters. */
  readonly value: string;
}

/** What a title says beyond the documented interface. */
export interface TitleExtra {
  /** What no column takes, where it stood; null when there is none. */
  readonly extra: JsonObject | null;
  readonly drift: readonly DriftItem[];
  /** What of it the database cannot keep, as reasons. */
  readonly faults: readonly string[];
}

/** Everything in the title that is not documented: its fields, and its values of enumerations. */
export function collectExtra(title: ConciliationTitle): TitleExtra {
  const collector = new ExtraCollector();
  const agent = title.financialAgent;
  collector.addEnumValue('financialAgent.type', agent?.type, 'INDIVIDUAL');
  collector.addEnumValue('financialAgent.payment.type', agent?.payment?.type, 'BANK_TRANSFER');
  const unknown = collector.collectUnknown(title, DOCUMENTED_TITLE);
  const extra = collector.addInnerExternalId(title, unknown);
  return { extra, drift: collector.drift, faults: collector.faults };
}

/** An object of the documented interface: its path, and its fields with the objects among them. */
interface DocumentedObject {
  readonly path: string;
  readonly fields: ReadonlyMap<string, DocumentedObject | 'value'>;
}

const DOCUMENTED_TITLE = toDocumentedObject(CONCILIATION_TITLE_SCHEMA, '');

function toDocumentedObject(schema: TSchema & { properties: unknown }, path: string) {
  const fields = new Map<string, DocumentedObject | 'value'>();
  for (const [name, field] of Object.entries(schema.properties as Record<string, TSchema>)) {
    const isObject = 'properties' in field;
    fields.set(name, isObject ? toDocumentedObject(field, `${path}${name}.`) : 'value');
  }
  return { path, fields };
}

type Fields = Record<string, JsonValue>;

/** Without a prototype, a field named `__proto__` is just a field. */
function emptyObject(): Fields {
  return Object.create(null) as Fields;
}

class ExtraCollector {
  readonly drift: DriftItem[] = [];
  readonly faults: string[] = [];

  collectUnknown(object: object, documented: DocumentedObject): Fields | null {
    let unknown: Fields | null = null;
    for (const name of Object.keys(object)) {
      const known = documented.fields.get(name);
      if (known === 'value') continue;
      const value = (object as JsonObject)[name] ?? null;
      if (known === undefined) {
        unknown ??= emptyObject();
        unknown[name] = value;
        this.#addUnknownField(documented.path + name, value);
      } else if (value !== null) {
        const inner = this.collectUnknown(value as JsonObject, known);
        if (inner === null) continue;
        unknown ??= emptyObject();
        unknown[name] = inner;
      }
    }
    return unknown;
  }

  addEnumValue(path: string, value: string | null | undefined, known: string): void {
    if (value == null || value === known) return;
    const shown = toDisplayText(value, MAX_VALUE_CHARACTERS);
    this.drift.push({ path: `titles[].${path}`, kind: 'unknown_value', value: shown });
  }

  /**
   * The provider's external id is documented twice and has one column. The title's own goes there, or
   * the provider's where the title has none; a provider's that contradicts the title's is kept here.
   */
  addInnerExternalId(title: ConciliationTitle, unknown: Fields | null): Fields | null {
    const inner = title.provider?.externalId ?? null;
    const outer = title.providerExternalId ?? null;
    if (inner === null || outer === null || inner === outer) return unknown;
    this.drift.push({
      path: 'titles[].provider.externalId',
      kind: 'unknown_value',
      value: 'differs from providerExternalId',
    });
    const extra = unknown ?? emptyObject();
    extra['provider'] = Object.assign(emptyObject(), extra['provider'], { externalId: inner });
    return extra;
  }

  #addUnknownField(path: string, value: JsonValue): void {
    const shown = toDisplayText(path, MAX_PATH_CHARACTERS - 'titles[].'.length);
    this.drift.push({ path: `titles[].${shown}`, kind: 'unknown_field', value: toJsonType(value) });
    const fault = isStorableText(path) ? findFault(value) : TEXT_EXPECTATION;
    if (fault !== null) this.faults.push(`${shown}: ${fault}`);
  }
}

/** Why PostgreSQL's `jsonb` could not keep the value; null where it can. */
function findFault(value: JsonValue): string | null {
  if (typeof value === 'string') return isStorableText(value) ? null : TEXT_EXPECTATION;
  if (value instanceof JsonNumber) return isStorableNumber(value) ? null : NUMBER_EXPECTATION;
  if (value === null || typeof value === 'boolean') return null;
  if (isJsonObject(value) && !Object.keys(value).every(isStorableText)) return TEXT_EXPECTATION;
  for (const item of Object.values(value)) {
    const fault = findFault(item);
    if (fault !== null) return fault;
  }
  return null;
}
