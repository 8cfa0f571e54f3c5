import { hash } from 'node:crypto';
import type { CivilDate } from './business-day.ts';
import type { Decimal } from './decimal.ts';
import type { JsonObject } from './json-value.ts';

/**
 * One accepted anticipation as the platform states it, flattened. Source: an item of `titles` in
 * `GET /api/anticipations/conciliation`; null stands for absent and for null alike. Field names are
 * the columns of `conciliation.title`.
 */
export interface Title {
  readonly order_uid: string;
  readonly accepted_date: CivilDate;
  readonly anticipated_due_date: CivilDate | null;
  readonly buyer_identification: string | null;
  readonly provider_external_id: string | null;
  readonly provider_identification: string | null;
  readonly provider_bank: string | null;
  readonly provider_agency: string | null;
  readonly provider_agency_digit: string | null;
  readonly provider_account: string | null;
  readonly provider_account_digit: string | null;
  readonly financial_agent_type: string | null;
  readonly financial_agent_identification: string | null;
  readonly financial_agent_name: string | null;
  readonly buyer_is_financial: boolean | null;
  readonly payment_type: string | null;
  readonly payment_bank: string | null;
  readonly payment_agency: string | null;
  readonly payment_agency_digit: string | null;
  readonly payment_account: string | null;
  readonly payment_account_digit: string | null;
  readonly original_value: Decimal;
  readonly platform_discounted_value: Decimal | null;
  readonly financial_discounted_value: Decimal | null;
  readonly buyer_discounted_value: Decimal | null;
  readonly billing_fee: Decimal | null;
  readonly money_transfer_fee: Decimal | null;
  readonly platform_commission: string | null;
  /** Fields that the documented interface does not have, where they stood; null when none. */
  readonly extra: JsonObject | null;
}

export type TitleColumn = keyof Title;

/** A column that one documented field decides. `extra` holds the fields that no column holds. */
export type ValueColumn = Exclude<TitleColumn, 'extra'>;

/** Every column that the platform's answer decides, in the order of the tables. */
export const TITLE_COLUMNS = [
  'order_uid',
  'accepted_date',
  'anticipated_due_date',
  'buyer_identification',
  'provider_external_id',
  'provider_identification',
  'provider_bank',
  'provider_agency',
  'provider_agency_digit',
  'provider_account',
  'provider_account_digit',
  'financial_agent_type',
  'financial_agent_identification',
  'financial_agent_name',
  'buyer_is_financial',
  'payment_type',
  'payment_bank',
  'payment_agency',
  'payment_agency_digit',
  'payment_account',
  'payment_account_digit',
  'original_value',
  'platform_discounted_value',
  'financial_discounted_value',
  'buyer_discounted_value',
  'billing_fee',
  'money_transfer_fee',
  'platform_commission',
  'extra',
] as const satisfies readonly TitleColumn[];

export const VALUE_COLUMNS: readonly ValueColumn[] = TITLE_COLUMNS.filter(
  (column) => column !== 'extra',
);

/** The amounts; the day ledger keeps the sum of each over a day's current titles. */
export const AMOUNT_COLUMNS = [
  'original_value',
  'platform_discounted_value',
  'financial_discounted_value',
  'buyer_discounted_value',
  'billing_fee',
  'money_transfer_fee',
] as const satisfies readonly TitleColumn[];

/**
 * A title has no identifier, so these fields stand in for one. They are what the parties agreed on;
 * what may still be restated (discounts, fees, accounts) is not among them. Several titles may share
 * one identity; `occurrence` numbers them.
 */
export const IDENTITY_COLUMNS = [
  'order_uid',
  'buyer_identification',
  'provider_external_id',
  'accepted_date',
  'anticipated_due_date',
  'original_value',
] as const satisfies readonly ValueColumn[];

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
 * SHA-256 as a character for each byte, of which the first 16 are what `hash128` has in digits. To be
 * preferred where many are made: half the characters have to be looked at, and no digit be read.
 */
export function digestOf(canonical: Buffer): string {
  return hash('sha256', canonical, 'binary');
}

/**
 * Null and the empty string differ, and no value runs into the next: a value is marked with '=', and
 * U+0000 ends a field because no title that holds one passes the contract check.
 */
export function canonicalFields(title: Title, columns: readonly ValueColumn[]): string {
  let canonical = '';
  for (const column of columns) {
    const text = canonicalText(title, column);
    canonical += text === null ? '\u0000' : `=${text}\u0000`;
  }
  return canonical;
}

/** Equal for titles that may be one and the same obligation. 32 hexadecimal digits. */
export function identityHash(title: Title): string {
  return hash128(canonicalFields(title, IDENTITY_COLUMNS));
}

/**
 * What a content hash covers, by version, from 1 on. A release that documents a further field appends a
 * version. A date that has titles keeps the version that its titles were hashed with first, so that the
 * release alone restates no title.
 *
 * `extra` is in none: a difference in undocumented fields is no change of a title, because their meaning
 * is unknown. One of them may be the time of the response.
 */
export const CONTENT_VERSIONS: readonly (readonly ValueColumn[])[] = [VALUE_COLUMNS];

/** The version for the titles of a date that has none yet. */
export function newestContentVersion(): number {
  return CONTENT_VERSIONS.length;
}

/**
 * Equal exactly for titles that agree in every field that the version covers, amounts compared as
 * numbers. 32 hexadecimal digits.
 *
 * @throws RangeError for a version that this program does not know
 */
export function contentHash(title: Title, version = newestContentVersion()): string {
  const columns = CONTENT_VERSIONS[version - 1];
  if (columns === undefined)
    throw new RangeError(`there is no version ${version} of content hashes`);
  return hash128(canonicalFields(title, columns));
}
