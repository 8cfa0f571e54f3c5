/**
 * The normal form of a bank account. All writings of one account have one form, and two accounts have two forms,
 * except for the ambiguous writings that docs/console.md lists. This is the only definition: every comparison of
 * accounts uses the form, or its hash.
 */

import { parseTaxId } from '../../base/values/tax-id.ts';
import type { BankAccount } from '../../console/api/schema-parts.ts';
import { DESTINATION_MEMBERS } from '../../core/title/promoted-fields.ts';
import { hash128 } from '../../core/title/title.ts';

/** The stated members of `DESTINATION_MEMBERS`, and promoted fields by name. */
type Destination = Readonly<
  Partial<Record<(typeof DESTINATION_MEMBERS)[number], string>> & Record<string, string>
>;

/**
 * The COMPE codes of the larger Brazilian banks with their ISPB, which identify one institution. A code that is
 * missing here is compared as it is written.
 */
export const ISPB_OF_COMPE: ReadonlyMap<string, string> = new Map([
  ['001', '00000000'],
  ['033', '90400888'],
  ['041', '92702067'],
  ['070', '00000208'],
  ['074', '03017677'],
  ['077', '00416968'],
  ['104', '00360305'],
  ['208', '30306294'],
  ['212', '92894922'],
  ['237', '60746948'],
  ['260', '18236120'],
  ['290', '08561701'],
  ['323', '10573521'],
  ['336', '31872495'],
  ['341', '60701190'],
  ['380', '22896431'],
  ['403', '37880206'],
  ['422', '58160789'],
  ['655', '59588111'],
  ['748', '01181521'],
  ['756', '02038232'],
]);

/** Bank, branch, number, type and Pix key; then the parts that may be stated later for the same account. */
type NormalParts = readonly [
  bank: string,
  branch: string,
  number: string,
  type: string,
  pix: string,
  ispb: string,
  holder: string,
  promoted: string,
];

/** Where the account begins to have parts that may be stated later. */
const CORE_PARTS = 5;
const [ISPB, HOLDER, PROMOTED] = [5, 6, 7] as const;

/** The form of a statement that names no account. */
export const NO_ACCOUNT_FORM = JSON.stringify(['', '', '', '', '', '', '', '']);

/** Blanks, and characters without width, anywhere in a text. */
const BLANKS = /[\s\u00ad\u180e\u200b-\u200f\u2060\ufeff]+/gu;
const DASHES = '\\-\\u2010-\\u2015\\u2212';
const SEPARATORS = new RegExp(`[./${DASHES}]`, 'gu');

/** Without blanks around it; '' for a missing text. */
const trimmed = (text: string | null | undefined): string =>
  (text ?? '').replace(BLANKS, ' ').trim();
const withoutBlanks = (text: string | null | undefined): string => (text ?? '').replace(BLANKS, '');
/** ASCII letters only: `ſ` must not become `S`. */
const upper = (text: string): string => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
/** A name of a type in upper case, without accents, blanks, `_` and `-`. */
const typeName = (text: string | undefined): string =>
  upper(
    withoutBlanks(text)
      .normalize('NFD')
      .replace(/[\u0300-\u036f_-]/g, ''),
  );
const lower = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
const withoutZeros = (text: string): string => text.replace(/^0+/, '');

/** Returns the normal form, as text that can be compared and hashed. Personal data. */
export function normalAccount(stated: BankAccount): string {
  const destination: Destination | null = stated.destination;
  const isKeyInNumber = (stated.account ?? '').includes('@');
  const { bank, ispb } = normalBank(stated.bank, destination?.ispb);
  const account = [
    bank,
    normalBranch(stated.agency, stated.agencyDigit),
    isKeyInNumber ? '' : normalNumber(stated, isCaixa(bank)),
    normalType(destination, isCaixa(bank)),
  ] as const;
  const parts: NormalParts = [
    ...account,
    normalPixKeys(isKeyInNumber ? stated.account : null, destination),
    ispb,
    upper(trimmed(destination?.holder)),
    normalPromoted(destination),
  ];
  return JSON.stringify(parts);
}

export function accountHashOf(normalForm: string): string {
  return hash128(normalForm);
}

/**
 * Whether two normal forms may be those of one account: they agree, except that one of them does not state the ISPB
 * beside the COMPE code, the holder or some of the promoted fields. Where nothing else names the account, they have a
 * promoted value in common.
 */
export function mayBeSameAccount(one: string, other: string): boolean {
  const [a, b] = [partsOf(one), partsOf(other)];
  if (!isSameNumber(a, b) || isOtherInPart(a, b)) return false;
  const isNumber = a.slice(0, CORE_PARTS).some((part) => part !== '');
  if (isNumber || a[PROMOTED] === b[PROMOTED]) return true;
  const values = [...promotedOf(a).values()];
  return [...promotedOf(b).values()].some((value) => values.includes(value));
}

/** Whether two normal forms name one account number and differ in its ISPB, holder or a promoted field. */
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
  a.slice(0, CORE_PARTS).every((part, index) => part === b[index]);

/** Whether a part that may be stated later is stated by both, with two values. */
function isOtherInPart(a: NormalParts, b: NormalParts): boolean {
  const promoted = promotedOf(a);
  return (
    [ISPB, HOLDER].some((part) => a[part] !== '' && b[part] !== '' && a[part] !== b[part]) ||
    [...promotedOf(b)].some(([name, value]) => (promoted.get(name) ?? value) !== value)
  );
}

const KNOWN_ISPBS = new Set(ISPB_OF_COMPE.values());
const isCaixa = (bank: string): boolean => bank === ISPB_OF_COMPE.get('104');

/**
 * The bank is an ISPB of 8 digits where it is known, and otherwise the COMPE code of 3 digits. `ispb` is the ISPB
 * that is stated beside a COMPE code which the table does not have.
 */
function normalBank(bank: string | null, ispb: string | undefined) {
  const code = bankCode(bank);
  const stated = ispbOf(ispb);
  const known = ISPB_OF_COMPE.get(code) ?? code;
  if (known === '' || known === stated) return { bank: stated, ispb: '' };
  if (stated === '') return { bank: known, ispb: '' };
  const isOpenCode = known.length === 3 && !KNOWN_ISPBS.has(stated);
  return isOpenCode ? { bank: known, ispb: stated } : { bank: `${known}\n${stated}`, ispb: '' };
}

/** A COMPE code of 3 digits, an ISPB of 8, '' for none, or other text. */
function bankCode(bank: string | null): string {
  const text = trimmed(bank);
  const masked = /^(\d{2})\.(\d{3})\.(\d{3})(?!\d)/.exec(text);
  if (masked !== null) return masked.slice(1).join('');
  // A name beside the code, or the check digit of the code, is dropped.
  const digits = /^(\d+)(?![\dA-Za-z])/.exec(text)?.[1];
  if (digits === undefined) return upper(text);
  // The ISPB of BRB is 00000208, and the COMPE code 208 is another bank.
  if (digits.length === 8) return digits;
  if (digits.length === 14) return digits.slice(0, 8);
  const significant = withoutZeros(digits);
  if (significant === '') return '';
  if (significant.length <= 3) return significant.padStart(3, '0');
  if (significant.length <= 8) return significant.padStart(8, '0');
  return significant.length <= 14 ? significant.padStart(14, '0').slice(0, 8) : text;
}

function ispbOf(text: string | undefined): string {
  const stated = withoutBlanks(text);
  if (!/^\d{1,8}$/.test(stated)) return upper(stated);
  if (stated === '00000000') return stated;
  const significant = withoutZeros(stated);
  return significant === '' ? '' : significant.padStart(8, '0');
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
const OPERATION = new RegExp(`^(\\d{3,4})[ ./${DASHES}]+(.*)$`, 'u');
/** A number of Caixa that follows its operation has more characters than a check digit of a short number. */
const MIN_AFTER_OPERATION = 3;

/** Account and check digit, joined. At Caixa, the operation stands before the number. */
function normalNumber(
  { account, accountDigit, destination }: BankAccount,
  isOfCaixa: boolean,
): string {
  const text = upper(trimmed(account));
  const digit = plain(accountDigit);
  if (text === '') return digit === '' ? '' : `-${digit}`;
  const isDigitTwice = digit !== '' && SEPARATED_DIGIT.exec(withoutBlanks(text))?.[1] === digit;
  const added = isDigitTwice ? '' : digit;
  if (!isOfCaixa) return withoutZeros(plain(text) + added);
  const [, group = '', rest = ''] = OPERATION.exec(text) ?? [];
  const isGroup = plain(rest).length >= MIN_AFTER_OPERATION;
  const operation = operationOf(destination) || (isGroup ? normalOperation(group) : '');
  const isRepeated = isGroup && normalOperation(group) === operation;
  const number = withoutZeros(plain(isRepeated ? rest : text) + added);
  return operation === '' ? number : `${operation}:${number}`;
}

const plain = (text: string | null): string => upper(withoutBlanks(text).replace(SEPARATORS, ''));
const normalOperation = (digits: string): string => withoutZeros(digits).padStart(3, '0');
const operationOf = (destination: Destination | null): string => {
  const stated = plain(destination?.operation ?? null);
  return stated === '' || /\D/.test(stated) ? stated : normalOperation(stated);
};

const CHECKING = new Set([
  'CHECKING',
  'CHECKINGACCOUNT',
  'CURRENT',
  'CORRENTE',
  'CONTACORRENTE',
  'CC',
]);
const SAVINGS = new Set(['SAVINGS', 'SAVINGSACCOUNT', 'POUPANCA', 'CONTAPOUPANCA', 'CP']);

/** '' for a checking account, which is the type of an account that states none. */
function normalType(destination: Destination | null, isOfCaixa: boolean): string {
  const type = typeName(destination?.type);
  const variation = withoutZeros(plain(destination?.variation ?? null));
  // The operation of Caixa is part of the number.
  const operation = isOfCaixa ? '' : operationOf(destination);
  const known = CHECKING.has(type) ? '' : SAVINGS.has(type) ? 'SAVINGS' : type;
  return [known, operation && `operation ${operation}`, variation && `variation ${variation}`]
    .filter((part) => part !== '')
    .join(' ');
}

function normalPixKeys(keyInNumber: string | null, destination: Destination | null): string {
  const keys = [keyInNumber, destination?.key, destination?.pixKey]
    .filter((stated) => trimmed(stated) !== '')
    .map((stated) => normalPixKey(stated ?? '', destination?.keyType));
  return [...new Set(keys)].sort().join('\n');
}

/** The promoted fields, a line for each, in the form of a Pix key. */
function normalPromoted(destination: Destination | null): string {
  const members: readonly string[] = DESTINATION_MEMBERS;
  return Object.entries(destination ?? {})
    .filter(([name, value]) => !members.includes(name) && trimmed(value) !== '')
    .map(([name, value]) => `${name}=${inferredKey(trimmed(value))}`)
    .sort()
    .join('\n');
}

const KEY_TYPES: ReadonlyMap<string, string> = new Map([
  ['EMAIL', 'email'],
  ['PHONE', 'phone'],
  ['PHONENUMBER', 'phone'],
  ['TELEFONE', 'phone'],
  ['CELULAR', 'phone'],
  ['CPF', 'cpf'],
  ['CNPJ', 'cnpj'],
  ['EVP', 'random'],
  ['RANDOM', 'random'],
  ['RANDOMKEY', 'random'],
  ['ALEATORIA', 'random'],
  ['CHAVEALEATORIA', 'random'],
]);

const HEX_KEY = /^[\da-f]{32}$/;
const CPF_MASK = /^\d{3}\.\d{3}\.\d{3}-\d{2}$/;
/** Area, and nine digits that begin with 9. */
const MOBILE = /^[1-9]\d9\d{8}$/;
const PHONE = /^(?:\+\d{8,15}|55[1-9]\d\d{8,9})$/;

/** `type:value`. A stated type decides, otherwise the form of the key. */
function normalPixKey(key: string, keyType: string | undefined): string {
  const text = trimmed(key);
  const statedType = KEY_TYPES.get(typeName(keyType));
  return statedType === undefined
    ? inferredKey(text)
    : `${statedType}:${keyOfType(text, statedType)}`;
}

function keyOfType(text: string, type: string): string {
  const digits = text.replace(/\D/g, '');
  switch (type) {
    case 'phone':
      return phoneOf(text);
    case 'cpf':
      return /^[\d.\- ]+$/.test(text) && digits.length <= 11 ? digits.padStart(11, '0') : text;
    case 'cnpj':
      return parseTaxId(withoutBlanks(text))?.digits ?? text;
    case 'random':
      return randomKeyOf(text) ?? text;
    default:
      return lower(text);
  }
}

function randomKeyOf(text: string): string | null {
  const hex = lower(withoutBlanks(text).replaceAll('-', ''));
  if (!HEX_KEY.test(hex)) return null;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** E.164. A number without country is one of Brazil. */
function phoneOf(text: string): string {
  const bare = withoutBlanks(text).replace(/[()./-]/g, '');
  if (/^\+\d+$/.test(bare)) return bare;
  if (!/^\d+$/.test(bare)) return text;
  if (bare.length === 10 || bare.length === 11) return `+55${bare}`;
  return PHONE.test(bare) ? `+${bare}` : bare;
}

function inferredKey(text: string): string {
  if (text.includes('@')) return `email:${lower(text)}`;
  const random = randomKeyOf(text);
  if (random !== null) return `random:${random}`;
  const bare = withoutBlanks(text).replace(/[()./-]/g, '');
  if (PHONE.test(bare)) return `phone:${phoneOf(text)}`;
  const taxId = bare.length === 11 || bare.length === 14 ? parseTaxId(bare) : null;
  if (taxId?.kind === 'cnpj') return `cnpj:${taxId.digits}`;
  const isMobile = MOBILE.test(bare);
  if (taxId !== null && (CPF_MASK.test(text) || !isMobile)) return `cpf:${taxId.digits}`;
  if (taxId !== null) return `cpf or phone:${taxId.digits}`;
  return isMobile ? `phone:${phoneOf(text)}` : `text:${text}`;
}
