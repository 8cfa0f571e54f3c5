import { cnpj, cpf } from 'cpf-cnpj-validator';

/** A Brazilian tax identifier with correct check digits. It need not be registered. */
export interface TaxId {
  readonly kind: 'cpf' | 'cnpj';
  /** 11 digits (CPF) or 12 of `0-9A-Z` and 2 digits (CNPJ): no mask, upper case. */
  readonly digits: string;
}

export const TAX_ID_EXPECTATION = 'expected a CPF or CNPJ with the right check digits';

const MASK = /[./\- ]/g;
const UNMASKED = /^(?:\d{11}|[\dA-Za-z]{12}\d{2})$/;

/**
 * Parses a CPF or CNPJ; null for other text. The characters of the mask and spaces may be anywhere,
 * in either case, as people and ERPs write them. Other characters are refused, such as `CPF: …` or
 * a letter O for a zero. CNPJs may be alphanumeric, as issued since July 2026 (Instrução Normativa
 * RFB 2.229/2024). Also refused: one digit repeated throughout, and the placeholder 123.456.789-09.
 */
export function parseTaxId(text: string): TaxId | null {
  const bare = text.replace(MASK, '');
  // Before the conversion to upper case, which turns `ſ` into `S` and `ı` into `I`.
  if (!UNMASKED.test(bare)) return null;
  const digits = bare.toUpperCase();
  if (digits.length === 11) return cpf.isValid(digits, true) ? { kind: 'cpf', digits } : null;
  return cnpj.isValid(digits, true) ? { kind: 'cnpj', digits } : null;
}
