import { cnpj, cpf } from 'cpf-cnpj-validator';

/** A Brazilian tax identifier with correct check digits. It need not be registered. */
export interface TaxId {
  readonly kind: 'cpf' | 'cnpj';
  /** 11 digits (CPF) or 12 of `0-9A-Z` and 2 digits (CNPJ): no mask, upper case. */
  readonly digits: string;
}

export const TAX_ID_EXPECTATION =
  'expected a CPF or CNPJ with the right check digits, and with its leading zeros';

/** Blanks, also those without width. */
const BLANKS = /[\s\u0085\u200B]/g;
const CPF_MASK = /^\d{3}\.\d{3}\.\d{3}-\d{2}$/;

/**
 * The tax identifiers that a text may name; the same rules as the function `conciliation.tax_id_readings`.
 *
 * The characters of the mask and blanks may be anywhere, in either case, as people and ERPs write them. Other
 * characters are refused, such as `CPF: …`. CNPJs may be alphanumeric, as issued since July 2026 (Instrução Normativa
 * RFB 2.229/2024). Leading zeros may be missing, but not of a CNPJ with letters: a number of at most 11 digits is a
 * CPF, a CNPJ or both, unless the mask says which. Not accepted: CPFs of one repeated digit, the placeholder
 * 123.456.789-09, and zeros alone. A CNPJ of one repeated character with the right check digits is accepted.
 * @param isCompany whether the text names a company, so that it is no CPF
 */
export function readTaxIds(text: string, { isCompany = false } = {}): readonly TaxId[] {
  // Only ASCII letters: `toUpperCase` turns `ſ` into `S` and `ı` into `I`.
  const masked = text.replace(BLANKS, '').replace(/[a-z]/g, (letter) => letter.toUpperCase());
  const plain = masked.replace(/[./-]/g, '');
  const isNumber = /^\d{1,14}$/.test(plain);
  const asCpf = plain.padStart(11, '0');
  const asCnpj = isNumber ? plain.padStart(14, '0') : plain;
  const readings: TaxId[] = [];
  if (isNumber && !isCompany && !masked.includes('/') && cpf.isValid(asCpf, true)) {
    readings.push({ kind: 'cpf', digits: asCpf });
  }
  if (!CPF_MASK.test(masked) && cnpj.isValid(asCnpj, true)) {
    readings.push({ kind: 'cnpj', digits: asCnpj });
  }
  return readings;
}

/**
 * Parses a CPF or CNPJ; null for other text. A number of fewer than 11 digits that is a CPF and a CNPJ is refused,
 * and one of 11 digits is the CPF; the same rules as the function `conciliation.tax_id`.
 */
export function parseTaxId(text: string): TaxId | null {
  const readings = readTaxIds(text);
  const isUndecided = readings.length === 2 && text.replace(/\D/g, '').length < 11;
  return isUndecided ? null : (readings[0] ?? null);
}

/** Parses the CNPJ of a company. Null: the text is none. */
export function parseCnpj(text: string): TaxId | null {
  return readTaxIds(text, { isCompany: true })[0] ?? null;
}
