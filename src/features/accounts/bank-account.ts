/**
 * The normal form of a bank account: usual writings of one account have one form, and two accounts have two forms, except
 * for the ambiguous writings that docs/console.md lists. This is the only definition: every comparison of accounts uses
 * the form, or its hash. A writing that it does not know is another account, about which a person decides.
 */

import type { BankAccount } from '../../console/api/schema-parts.ts';
import { DESTINATION_MEMBERS } from '../../core/title/promoted-fields.ts';
import { hash128 } from '../../core/title/title.ts';

/** Of `stated`, the members of `DESTINATION_MEMBERS`; then the promoted fields, which may be stated later. */
type NormalParts = readonly [
  bank: string,
  branch: string,
  number: string,
  stated: string,
  promoted: string,
];
const PROMOTED = 4;

/** The form of a statement that names no account. */
export const NO_ACCOUNT_FORM = JSON.stringify(['', '', '', '', '']);

/** Blanks, and characters without width, anywhere in a text. */
const BLANKS = /[\s\u00ad\u180e\u200b-\u200f\u2060\ufeff]+/gu;
const DASHES = '\\-\\u2010-\\u2015\\u2212';
const SEPARATORS = new RegExp(`[./${DASHES}]`, 'gu');

/** Without blanks around it; '' for a missing text. */
const trimmed = (text: string | null): string => (text ?? '').replace(BLANKS, ' ').trim();
const withoutBlanks = (text: string | null): string => (text ?? '').replace(BLANKS, '');
/** ASCII letters only: `ſ` must not become `S`. */
const upper = (text: string): string => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
const lower = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
const withoutZeros = (text: string): string => text.replace(/^0+/, '');
const plain = (text: string | null): string => upper(withoutBlanks(text).replace(SEPARATORS, ''));

/** Returns the normal form, as text that can be compared and hashed. Personal data. */
export function normalAccount(stated: BankAccount): string {
  const parts: NormalParts = [
    normalBank(stated.bank),
    normalBranch(stated.agency, stated.agencyDigit),
    normalNumber(stated),
    linesOf(stated, true),
    linesOf(stated, false),
  ];
  return JSON.stringify(parts);
}

export function accountHashOf(normalForm: string): string {
  return hash128(normalForm);
}

/**
 * Whether two normal forms may be those of one account: they agree, except that one of them does not state some of the
 * promoted fields. Where nothing else names the account, they have a promoted value in common.
 */
export function mayBeSameAccount(one: string, other: string): boolean {
  const [a, b] = [partsOf(one), partsOf(other)];
  if (!isSameNumber(a, b) || isOtherInPart(a, b)) return false;
  const isNumber = a.slice(0, PROMOTED).some((part) => part !== '');
  if (isNumber || a[PROMOTED] === b[PROMOTED]) return true;
  const values = [...promotedOf(a).values()];
  return [...promotedOf(b).values()].some((value) => values.includes(value));
}

/** Whether two normal forms name one account number and differ in a promoted field. */
export function contradicts(one: string, other: string): boolean {
  const [a, b] = [partsOf(one), partsOf(other)];
  return isSameNumber(a, b) && isOtherInPart(a, b);
}

const partsOf = (form: string) => JSON.parse(form) as NormalParts;

const promotedOf = ({ [PROMOTED]: lines }: NormalParts): ReadonlyMap<string, string> =>
  new Map(
    lines
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => [line.replace(/=.*/, ''), line.replace(/^.*?=/, '')]),
  );

const isSameNumber = (a: NormalParts, b: NormalParts): boolean =>
  a.slice(0, PROMOTED).every((part, index) => part === b[index]);

/** Whether a promoted field is stated by both, with two values. */
function isOtherInPart(a: NormalParts, b: NormalParts): boolean {
  const promoted = promotedOf(a);
  return [...promotedOf(b)].some(([name, value]) => (promoted.get(name) ?? value) !== value);
}

/** A code of 3 digits, an ISPB of 8, a CNPJ, '' for none, or other text. */
function normalBank(bank: string | null): string {
  const text = trimmed(bank);
  // A name beside the code, or the check digit of the code, is dropped.
  const digits = /^(\d+)(?![\dA-Za-z./])/.exec(text)?.[1];
  if (digits === undefined) return upper(text);
  // The ISPB of BRB is 00000208, and the COMPE code 208 is another bank.
  if (digits.length >= 8) return digits;
  const significant = withoutZeros(digits);
  return significant === '' ? '' : significant.padStart(3, '0');
}

/**
 * The digits before the check digit, which is not compared. A fifth digit that is stated beside as well is the
 * check digit: branches have at most four.
 */
function normalBranch(agency: string | null, agencyDigit: string | null): string {
  const text = upper(withoutBlanks(agency)).replaceAll('.', '');
  const [, digits] = new RegExp(`^(\\d+)(?:[/${DASHES}][\\dX]?)?$`, 'u').exec(text) ?? [];
  if (digits === undefined) return text;
  const isDigitJoined =
    digits === text && digits.length === 5 && digits.endsWith(withoutBlanks(agencyDigit) || '-');
  return withoutZeros(isDigitJoined ? digits.slice(0, -1) : digits);
}

const SEPARATED_DIGIT = new RegExp(`[/${DASHES}]([\\dA-Z])$`, 'u');

/** Account and check digit, joined. */
function normalNumber({ account, accountDigit }: BankAccount): string {
  const text = upper(trimmed(account));
  const digit = plain(accountDigit);
  if (text === '') return digit === '' ? '' : `-${digit}`;
  const isDigitTwice = digit !== '' && SEPARATED_DIGIT.exec(withoutBlanks(text))?.[1] === digit;
  const added = isDigitTwice ? '' : digit;
  // A Pix key in the place of the number.
  return text.includes('@') ? text + added : withoutZeros(plain(text) + added);
}

/** A line for each stated member, or for each promoted field. E-mail addresses are in lower case. */
function linesOf({ destination }: BankAccount, isMember: boolean): string {
  const members: readonly string[] = DESTINATION_MEMBERS;
  return Object.entries(destination ?? {})
    .map(([name, value]) => [name, trimmed(value ?? null)] as const)
    .filter(([name, value]) => members.includes(name) === isMember && value !== '')
    .map(([name, value]) => `${name}=${value.includes('@') ? lower(value) : value}`)
    .sort()
    .join('\n');
}
