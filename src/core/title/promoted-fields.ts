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

export type PartyKind = 'provider' | 'financial_agent';

/**
 * The members of `payment` and `bankAccount` beyond the documented interface that name the destination of a payment.
 * Other members do not count, because one of them may be a time or a number of the title.
 */
export const DESTINATION_MEMBERS = [
  'key',
  'pixKey',
  'keyType',
  'ispb',
  'type',
  'operation',
  'variation',
  'holder',
] as const;

/** By kind of party, the object of `extra` that has the undocumented members of its account. */
export const DESTINATION_PATHS = {
  provider: ['provider', 'bankAccount'],
  financial_agent: ['financialAgent', 'payment'],
} as const satisfies Record<PartyKind, readonly [string, string]>;

type ContentField = Pick<PromotedField, 'name' | 'path'>;

/** The undocumented fields that are content of the titles of every date. The name of a promoted field has no point. */
export const DESTINATION_FIELDS: readonly ContentField[] = Object.values(DESTINATION_PATHS)
  .flatMap((path) => DESTINATION_MEMBERS.map((member) => [...path, member]))
  .map((path) => ({ name: path.join('.'), path }));

/** The same text as `textAt` of title-hashes.sql.ts; null: not stated. */
function textOf(value: JsonValue | undefined): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return value;
  if (value instanceof JsonNumber) return parseDecimal(value.text)?.canonical ?? null;
  return toJsonbText(value);
}

/** The undocumented content of a title, unambiguously, for its content hash; '' for a title without any. */
export function moreContent(extra: JsonObject | null, promoted: readonly ContentField[]): string {
  if (extra === null) return '';
  let text = '';
  for (const { name, path } of [...DESTINATION_FIELDS, ...promoted]) {
    let value: JsonValue | undefined = extra;
    for (const member of path) {
      value = value !== undefined && isJsonObject(value) ? value[member] : undefined;
    }
    const stated = textOf(value);
    if (stated !== null) text += `${name}=${stated}\u0000`;
  }
  return text;
}
