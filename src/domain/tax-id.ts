import { cnpj, cpf } from 'cpf-cnpj-validator';

/** A Brazilian tax identifier whose check digits are right; whether anybody holds it is unknown. */
export interface TaxId {
  readonly kind: 'cpf' | 'cnpj';
  /** 11 digits (CPF) or 12 of `0-9A-Z` and 2 digits (CNPJ): no mask, upper case. */
  readonly digits: string;
}

const MASK = /[./\- ]/g;
const UNMASKED = /^(?:\d{11}|[\dA-Za-z]{12}\d{2})$/;

/**
 * Null where the text is no CPF or CNPJ. Masked or bare, in either case, with the mask's characters
 * and spaces anywhere, as people and ERPs write them; nothing else is taken away, so `CPF: …` or a
 * letter O for a zero is refused. CNPJs may be alphanumeric, as issued since July 2026. Refused with
 * right check digits: one digit repeated throughout, and the placeholder 123.456.789-09.
 */
export function parseTaxId(text: string): TaxId | null {
  const bare = text.replace(MASK, '');
  // Before upper case: beyond ASCII, `ſ` becomes `S` and `ı` becomes `I`.
  if (!UNMASKED.test(bare)) return null;
  const digits = bare.toUpperCase();
  if (digits.length === 11) return cpf.isValid(digits, true) ? { kind: 'cpf', digits } : null;
  return cnpj.isValid(digits, true) ? { kind: 'cnpj', digits } : null;
}
