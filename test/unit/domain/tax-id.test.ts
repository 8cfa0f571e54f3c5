import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTaxId } from '../../../src/domain/tax-id.ts';

/** The rule as published, written down a second time: weights from the right, modulo 11. */
function checkDigit(body: string, highestWeight: number): number {
  const sum = [...body].reverse().reduce((total, character, place) => {
    return total + (character.charCodeAt(0) - 48) * ((place % (highestWeight - 1)) + 2);
  }, 0);
  return sum % 11 < 2 ? 0 : 11 - (sum % 11);
}

function withCheckDigits(body: string, highestWeight: number): string {
  const first = body + checkDigit(body, highestWeight);
  return first + checkDigit(first, highestWeight);
}

// A CPF's weights run to 11 and never wrap; a CNPJ's run from 2 to 9 and start over.
const toCpf = (body: string) => withCheckDigits(body, 11);
const toCnpj = (body: string) => withCheckDigits(body, 9);

const digits = (length: number) =>
  fc.stringMatching(new RegExp(`^[0-9]{${length}}$`), { size: 'max' });
const alphanumerics = (length: number) =>
  fc.stringMatching(new RegExp(`^[0-9A-Z]{${length}}$`), { size: 'max' });
const isOneCharacterRepeated = (text: string) => new Set(text).size === 1;

describe('parseTaxId', () => {
  it.each([
    '12ABC34501DE35',
    '1345C3A5000106',
    'R55231B3000757',
    '90021382000122',
    '90024778000123',
    '11222333000181',
  ])('accepts the CNPJ %s', (text) => {
    expect(parseTaxId(text)).toEqual({ kind: 'cnpj', digits: text });
  });

  it.each([
    ['wrong check digits', 'R55231B3000700'],
    ['wrong check digits, digits only', '90025108000101'],
    ['twelve digits', '900252550001'],
    ['a letter among the check digits', '9002442000012A'],
    ['a CPF of one repeated digit', '11111111111'],
    ['a CNPJ of one repeated digit', '00000000000000'],
    ['the placeholder CPF', '12345678909'],
    ['a letter in a CPF', '5299822472S'],
    ['a word before the number', 'CPF 52998224725'],
    ['digits of another script', '٥٢٩٩٨٢٢٤٧٢٥'],
    ['nothing', ''],
    ['a mask alone', '../-'],
  ])('refuses %s', (_, text) => {
    expect(parseTaxId(text)).toBeNull();
  });

  it.each([
    ['529.982.247-25', 'cpf', '52998224725'],
    [' 529 982 247 25 ', 'cpf', '52998224725'],
    ['11.222.333/0001-81', 'cnpj', '11222333000181'],
    ['12.abc.345/01de-35', 'cnpj', '12ABC34501DE35'],
  ])('takes the mask off %s', (text, kind, bare) => {
    expect(parseTaxId(text)).toEqual({ kind, digits: bare });
  });

  it('does not turn letters beyond ASCII into tax identifier letters', () => {
    const valid = toCnpj('S2ABC34501DE');
    expect(parseTaxId(valid)).not.toBeNull();
    expect(parseTaxId(valid.replace('S', 'ſ'))).toBeNull();
  });

  it('accepts every CPF made by the published rule, and no other check digits', () => {
    fc.assert(
      fc.property(digits(9), digits(2), (body, guess) => {
        const valid = toCpf(body);
        const isRefused = isOneCharacterRepeated(valid) || valid === '12345678909';
        expect(parseTaxId(valid)).toEqual(isRefused ? null : { kind: 'cpf', digits: valid });
        const guessed = body + guess;
        expect(parseTaxId(guessed) !== null).toBe(guessed === valid && !isRefused);
      }),
      { numRuns: 50_000 },
    );
  });

  it('accepts every CNPJ made by the published rule, and no other check digits', () => {
    fc.assert(
      fc.property(fc.oneof(digits(12), alphanumerics(12)), digits(2), (body, guess) => {
        const valid = toCnpj(body);
        const isRefused = isOneCharacterRepeated(valid);
        expect(parseTaxId(valid)).toEqual(isRefused ? null : { kind: 'cnpj', digits: valid });
        const guessed = body + guess;
        expect(parseTaxId(guessed) !== null).toBe(guessed === valid && !isRefused);
      }),
      { numRuns: 50_000 },
    );
  });
});
