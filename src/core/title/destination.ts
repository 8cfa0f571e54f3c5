import { parseDecimal } from '../../base/values/decimal.ts';
import {
  isJsonObject,
  JsonNumber,
  type JsonObject,
  type JsonValue,
  toJsonbText,
} from '../../base/values/json-value.ts';

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

type DestinationMember = (typeof DESTINATION_MEMBERS)[number];

/** The stated members of `DESTINATION_MEMBERS`, and promoted fields by name. Personal data. */
export type Destination = Readonly<
  Partial<Record<DestinationMember, string>> & Record<string, string>
>;

/** Returns the destination that an object of undocumented members states; null: none of the members has a value. */
function destinationOf(members: JsonValue | undefined): Destination | null {
  if (members === undefined || !isJsonObject(members)) return null;
  const stated: Record<string, string> = {};
  let isStated = false;
  for (const name of DESTINATION_MEMBERS) {
    const text = textOf(members[name]);
    if (text === null) continue;
    stated[name] = text;
    isStated = true;
  }
  return isStated ? stated : null;
}

/** Of a number its whole digits, of an object or a list its text, as `destinationMember` of title-hashes.sql.ts. */
function textOf(value: JsonValue | undefined): string | null {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null || typeof value === 'boolean') return null;
  if (!(value instanceof JsonNumber)) return toJsonbText(value);
  const digits = parseDecimal(value.text)?.canonical ?? '';
  return /^\d{1,20}$/.test(digits) ? digits : null;
}

/** By kind of party, the object of `extra` that has the undocumented members of its account. */
export const DESTINATION_PATHS = {
  provider: ['provider', 'bankAccount'],
  financial_agent: ['financialAgent', 'payment'],
} as const satisfies Record<PartyKind, readonly [string, string]>;

/** Returns the destination that the undocumented members of a title state for a kind of party. */
function destinationIn(extra: JsonObject | null, kind: PartyKind): Destination | null {
  const [outer, inner] = DESTINATION_PATHS[kind];
  const object = extra?.[outer];
  return object === undefined || !isJsonObject(object) ? null : destinationOf(object[inner]);
}

/**
 * The undocumented members of a title that name a destination, unambiguously, for its content hash; '' for a title
 * without any.
 */
export function destinationText(extra: JsonObject | null): string {
  if (extra === null) return '';
  let text = '';
  for (const kind of ['provider', 'financial_agent'] as const) {
    const destination = destinationIn(extra, kind);
    for (const member of DESTINATION_MEMBERS) {
      const value = destination?.[member];
      if (value !== undefined)
        text += `${DESTINATION_PATHS[kind].join('.')}.${member}=${value}\u0000`;
    }
  }
  return text;
}

/** A bank account as the titles state it. Personal data. */
export interface BankAccount {
  readonly bank: string | null;
  readonly agency: string | null;
  readonly agencyDigit: string | null;
  readonly account: string | null;
  readonly accountDigit: string | null;
  /** The undocumented fields that name a destination; null: none. */
  readonly destination: Destination | null;
}
