import { hash } from 'node:crypto';
import type { ColumnKind } from '../../base/export/table.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { Decimal } from '../../base/values/decimal.ts';
import type { JsonObject } from '../../base/values/json-value.ts';
import { moreContent, type PromotedField } from './promoted-fields.ts';

/**
 * The columns of `conciliation.title` with content of the platform, with the kind of a value. The order is that of the
 * hashes: first the columns that identify a title.
 * A further column is also one of `staged_title` and `booking_line` with their views, of the rights on `title` in
 * prisma/roles.sql, of `TITLE_SCHEMA` and of the texts.
 */
export const COLUMN_KINDS = {
  order_uid: 'text',
  accepted_date: 'date',
  anticipated_due_date: 'date',
  buyer_identification: 'text',
  provider_external_id: 'text',
  original_value: 'amount',
  provider_identification: 'text',
  provider_bank: 'text',
  provider_agency: 'text',
  provider_agency_digit: 'text',
  provider_account: 'text',
  provider_account_digit: 'text',
  financial_agent_type: 'text',
  financial_agent_identification: 'text',
  financial_agent_name: 'text',
  buyer_is_financial: 'boolean',
  payment_type: 'text',
  payment_bank: 'text',
  payment_agency: 'text',
  payment_agency_digit: 'text',
  payment_account: 'text',
  payment_account_digit: 'text',
  platform_discounted_value: 'amount',
  financial_discounted_value: 'amount',
  buyer_discounted_value: 'amount',
  billing_fee: 'amount',
  money_transfer_fee: 'amount',
  platform_commission: 'decimal_text',
  /** The fields beyond the documented interface, at their places; null: none. */
  extra: 'json',
} as const satisfies Record<string, ColumnKind>;

export type TitleColumn = keyof typeof COLUMN_KINDS;

/** A column with the value of one documented field. `extra` holds the fields without a column. */
export type ValueColumn = Exclude<TitleColumn, 'extra'>;

interface ValueOf {
  readonly text: string;
  readonly decimal_text: string;
  readonly date: CivilDate;
  readonly boolean: boolean;
  readonly amount: Decimal;
  readonly json: JsonObject;
}

/**
 * One accepted anticipation as the platform states it, flattened. Source: an item of `titles` in
 * `GET /api/anticipations/conciliation`; null means absent or null.
 */
export type Title = {
  readonly [Column in TitleColumn]:
    | ValueOf[(typeof COLUMN_KINDS)[Column]]
    | (Column extends 'order_uid' | 'accepted_date' | 'original_value' ? never : null);
};

export const TITLE_COLUMNS = Object.keys(COLUMN_KINDS) as readonly TitleColumn[];

export const VALUE_COLUMNS: readonly ValueColumn[] = TITLE_COLUMNS.filter(
  (column) => column !== 'extra',
);

export type AmountColumn = {
  [Column in TitleColumn]: (typeof COLUMN_KINDS)[Column] extends 'amount' ? Column : never;
}[TitleColumn];

/** The amounts. The day ledger keeps the sum of each over a day's current titles. */
export const AMOUNT_COLUMNS = TITLE_COLUMNS.filter(
  (column): column is AmountColumn => COLUMN_KINDS[column] === 'amount',
);

/**
 * The platform gives a title no identifier. The first columns identify a title. They are the terms of the
 * agreement. Fields that may be restated (discounts, fees, accounts) are not included. Titles with
 * the same identity are numbered by `occurrence`.
 */
export const IDENTITY_COLUMNS = VALUE_COLUMNS.slice(0, VALUE_COLUMNS.indexOf('original_value') + 1);

function canonicalText(title: Title, column: ValueColumn): string | null {
  const value = title[column];
  if (value === null || typeof value === 'string') return value;
  return typeof value === 'boolean' ? String(value) : value.canonical;
}

/** The first 128 bits of SHA-256, as 32 hexadecimal digits. */
export function hash128(canonical: string | Buffer): string {
  return hash('sha256', canonical, 'hex').slice(0, 32);
}

/**
 * Returns SHA-256 with a character for each byte. The first 16 characters are the bytes of `hash128`. Faster
 * than `hash128` for many hashes, because no hexadecimal digits are made or parsed.
 */
export function digestOf(canonical: Buffer): string {
  return hash('sha256', canonical, 'binary');
}

/** Returns hexadecimal digits as a character for each byte. */
export function toDigest(hexadecimal: string): string {
  return Buffer.from(hexadecimal, 'hex').toString('latin1');
}

/**
 * Encodes the columns unambiguously: null and the empty string differ, because a value begins with
 * '='; values cannot run into each other, because U+0000 ends each field and the contract check
 * refuses it in titles.
 */
function canonicalFields(title: Title, columns: readonly ValueColumn[]): string {
  let canonical = '';
  for (const column of columns) {
    const text = canonicalText(title, column);
    canonical += text === null ? '\u0000' : `=${text}\u0000`;
  }
  return canonical;
}

/** Returns 32 hexadecimal digits, equal for titles that may be the same obligation. */
export function identityHash(title: Title): string {
  return hash128(canonicalFields(title, IDENTITY_COLUMNS));
}

/**
 * Returns 32 hexadecimal digits, equal exactly for titles with equal values in every column, and in the members of
 * `extra` that name a destination of the payment or are promoted. Amounts are compared as numbers. A difference in other
 * undocumented fields does not change a title, because their meaning is unknown. One of them may be the time of the response.
 * @param promoted those of the title's date
 */
export function contentHash(title: Title, promoted: readonly PromotedField[] = []): string {
  return hash128(canonicalFields(title, VALUE_COLUMNS) + moreContent(title.extra, promoted));
}

/** Lanes of 16 bits, which make up the 16 bytes of a hash. */
const LANES = 8;
const LANE_BITS = 16n;
const HASH_BITS = 128;

/**
 * The titles of a date as their count and the sum modulo 2^128 of their content hashes. Two folds
 * are equal if the titles are equal as multisets, in any order and formatting. With an exclusive
 * or, two copies of a title would cancel each other. Carries are propagated when the fold is read.
 * A lane is exact up to 2^37 titles.
 */
export class TitleFold {
  readonly #lanes = new Float64Array(LANES);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** @param digest the 16 bytes of a content hash, each as a character; further characters are ignored */
  add(digest: string): void {
    const lanes = this.#lanes;
    for (let lane = 0; lane < LANES; lane++) {
      const value = 256 * digest.charCodeAt(2 * lane) + digest.charCodeAt(2 * lane + 1);
      lanes[lane] = (lanes[lane] as number) + value;
    }
    this.#count += 1;
  }

  /** The sum, as 32 hexadecimal digits. */
  toText(): string {
    let sum = 0n;
    for (const lane of this.#lanes) sum = (sum << LANE_BITS) + BigInt(lane);
    return BigInt.asUintN(HASH_BITS, sum).toString(16).padStart(32, '0');
  }
}

/** The fold of each date of a response. */
export class TitleFolds {
  readonly #byDate = new Map<CivilDate, TitleFold>();

  /** Returns the fold of the date, which is initially empty. */
  at(date: CivilDate): TitleFold {
    let fold = this.#byDate.get(date);
    if (fold === undefined) {
      fold = new TitleFold();
      this.#byDate.set(date, fold);
    }
    return fold;
  }
}
