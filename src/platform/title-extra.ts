import type { TSchema } from 'typebox';
import { toDisplayText } from '../domain/display-text.ts';
import type { JsonObject, JsonValue } from '../domain/json-value.ts';
import { toJsonType } from './title-faults.ts';
import { CONCILIATION_TITLE_SCHEMA, type ConciliationTitle } from './title-schema.ts';

const MAX_PATH_CHARACTERS = 200;
const MAX_VALUE_CHARACTERS = 64;

/** A part of a response beyond the documented interface. It does not reject a title. */
export interface DriftItem {
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
interface DocumentedObject {
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

class ExtraCollector {
  readonly drift: DriftItem[] = [];

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
   * The provider's external id is documented in two places and has one column. The column holds the title's
   * own, or the provider's if the title has no id. A different id of the provider is kept here.
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
  }
}
