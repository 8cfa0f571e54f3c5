import type { TitleColumn } from '../../domain/title.ts';

/** Columns that hold a tax identifier. */
const TAX_IDS: ReadonlySet<string> = new Set<TitleColumn>([
  'buyer_identification',
  'provider_identification',
  'financial_agent_identification',
]);

/** Columns that hold an account, or part of one. The bank itself says nothing of anybody. */
const ACCOUNTS: ReadonlySet<string> = new Set<TitleColumn>([
  'provider_agency',
  'provider_agency_digit',
  'provider_account',
  'provider_account_digit',
  'payment_agency',
  'payment_agency_digit',
  'payment_account',
  'payment_account_digit',
]);

const DOT = '•';

/** What tells two identifiers apart without giving either away: the last two characters. */
export function maskTaxId(taxId: string): string {
  const bare = taxId.replace(/[./\- ]/g, '');
  return bare.length <= 4 ? DOT.repeat(4) : `${DOT.repeat(4)}${bare.slice(-2)}`;
}

export function maskAccount(account: string): string {
  return account.length <= 4 ? DOT.repeat(4) : `${DOT.repeat(4)}${account.slice(-2)}`;
}

/** The value of a column of `title` as it is shown to who may not see it; null stays null. */
export function maskColumn(column: string, value: string | null): string | null {
  if (value === null || value === '') return value;
  if (TAX_IDS.has(column)) return maskTaxId(value);
  if (ACCOUNTS.has(column)) return maskAccount(value);
  // Nobody knows what an undocumented field holds.
  return column === 'extra' ? DOT.repeat(4) : value;
}

/** Whether a column is ever masked. */
export function isSensitive(column: string): boolean {
  return TAX_IDS.has(column) || ACCOUNTS.has(column) || column === 'extra';
}
