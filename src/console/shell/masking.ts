import { maySeePersonalData } from '../../base/values/role.ts';
import { TITLE_COLUMNS } from '../../core/title/title.ts';
import type { BankAccount, ChangedField } from '../api/schema-parts.ts';
import type { Principal } from './guard.ts';

const columnsWith = (ending: RegExp): ReadonlySet<string> =>
  new Set(TITLE_COLUMNS.filter((column) => ending.test(column)));

/** Columns that hold a tax identifier. */
const TAX_IDS = columnsWith(/_identification$/);

/** Columns that hold an account or a part of one. The bank alone identifies no person. */
const ACCOUNTS = columnsWith(/_(?:agency|account)(?:_digit)?$/);

/** Undocumented fields of a title, and what the ERP writes about a booking. Their content is unknown. */
const TEXTS: ReadonlySet<string> = new Set(['extra', 'document', 'failure', 'reason']);

const CNPJ_LENGTH = 14;

/** In place of a text, or of its beginning. */
export const MASKED = '••••';

/** Masks an identifier except for the last two characters, which distinguish two identifiers. */
export function maskTaxId(taxId: string): string {
  return maskAccount(taxId.replace(/[./\- ]/g, ''));
}

function maskAccount(account: string): string {
  return account.length <= 4 ? MASKED : `${MASKED}${account.slice(-2)}`;
}

/** Returns the value of a column of `title` for readers without the right to see it; null stays null. */
export function maskColumn(column: string, value: string | null): string | null {
  if (value === null || value === '') return value;
  if (TAX_IDS.has(column)) return maskTaxId(value);
  if (ACCOUNTS.has(column)) return maskAccount(value);
  return TEXTS.has(column) ? MASKED : value;
}

/** Returns the value of a promoted field for readers without the right to see accounts. */
export function maskPromoted<T extends { readonly isAccount: boolean; readonly value: string }>(
  field: T,
): T {
  return field.isAccount ? { ...field, value: maskAccount(field.value) } : field;
}

/** Returns a changed field of a title for readers without the right to see it. */
export function maskChange(field: ChangedField): ChangedField {
  const { column, isAccount, before, after } = field;
  const mask = (value: string | null) =>
    isAccount && value !== null ? maskAccount(value) : maskColumn(column, value);
  return { ...field, before: mask(before), after: mask(after) };
}

/**
 * Returns a row with a financial agent as this reader may see it. An agent without a CNPJ is a person, whose CPF people
 * see on the page of a title, which audits the view.
 */
export function maskAgent<T extends { readonly agent: string | null }>(
  row: T,
  principal: Principal | null,
): T {
  const isKey = principal !== null && principal.scopes !== null;
  const isOpen = row.agent?.length === CNPJ_LENGTH || (isKey && maySeePersonalData(principal.role));
  if (row.agent === null || isOpen) return row;
  return { ...row, agent: maskTaxId(row.agent) };
}

/** Returns a booking line or a receipt as this reader may see it. */
export function maskErpTexts<T extends { readonly document: string | null }>(
  row: T,
  principal: Principal | null,
): T {
  if (maySeePersonalData(principal?.role ?? 'viewer')) return row;
  const cells = Object.entries(row).map(([name, value]) => [
    name,
    TEXTS.has(name) ? maskColumn(name, value) : value,
  ]);
  return Object.fromEntries(cells) as T;
}

/** Returns a bank account for readers without the right to see its numbers. */
export function maskBankAccount(account: BankAccount): BankAccount {
  const mask = (value: string | null) =>
    value === null || value === '' ? value : maskAccount(value);
  return {
    bank: account.bank,
    agency: mask(account.agency),
    agencyDigit: mask(account.agencyDigit),
    account: mask(account.account),
    accountDigit: mask(account.accountDigit),
    destination: account.destination === null ? null : maskDestination(account.destination),
  };
}

/** The members that name no party and no account. */
const OPEN_MEMBERS: ReadonlySet<string> = new Set(['keyType', 'ispb', 'type', 'operation']);

function maskDestination(destination: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    Object.entries(destination).map(([member, value]) => [
      member,
      OPEN_MEMBERS.has(member) ? value : maskAccount(value),
    ]),
  );
}

export function isSensitive(column: string): boolean {
  return TAX_IDS.has(column) || ACCOUNTS.has(column) || column === 'extra';
}
