import { parseDecimal } from '../../base/values/decimal.ts';
import {
  isJsonObject,
  JsonNumber,
  type JsonObject,
  type JsonValue,
  toJsonbText,
} from '../../base/values/json-value.ts';

/**
 * document: also compared with the document of a payable. provider_account, agent_account: also a part of the account
 * of the party.
 */
export const FIELD_ROLES = ['identifier', 'document', 'provider_account', 'agent_account'] as const;
export type FieldRole = (typeof FIELD_ROLES)[number];

/** An undocumented field of a title to which an administrator gave a name. */
export interface PromotedField {
  readonly name: string;
  /** In `extra`. */
  readonly path: readonly string[];
  readonly role: FieldRole;
}

/** The promoted fields that are content of the titles of a date, by name; they never change. */
export interface ContentVersion {
  /** `day.content_version` */
  readonly version: number;
  readonly fields: readonly PromotedField[];
}

/** The same text as `promotedValue` of title-hashes.sql.ts; null: not stated. */
function textOf(value: JsonValue | undefined): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return value;
  if (value instanceof JsonNumber) return parseDecimal(value.text)?.canonical ?? null;
  return toJsonbText(value);
}

/** The stated fields, unambiguously, for the content hash of a title; '' for a title without any. */
export function promotedText(extra: JsonObject | null, fields: readonly PromotedField[]): string {
  let text = '';
  for (const { name, path } of fields) {
    let value: JsonValue | undefined = extra;
    for (const member of path) {
      value = value !== undefined && isJsonObject(value) ? value[member] : undefined;
    }
    const stated = textOf(value);
    if (stated !== null) text += `promoted.${name}=${stated}\u0000`;
  }
  return text;
}
