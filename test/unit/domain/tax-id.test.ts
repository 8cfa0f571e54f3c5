import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCnpj, parseTaxId } from '../../../src/base/values/tax-id.ts';
import { toCnpj, toCpf } from '../../support/tax-ids.ts';

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
    ['twelve digits that are no CNPJ without its leading zeros', '900252550001'],
    ['digits that are a CPF and a CNPJ without leading zeros', '191'],
    ['a CPF in the mask of a CNPJ', '529.982.247/25'],
    ['a CPF of one repeated digit', '11111111111'],
    ['a CNPJ of one repeated digit', '00000000000000'],
    ['the placeholder CPF', '12345678909'],
    ['a word before the number', 'CPF 52998224725'],
    ['nothing', ''],
    ['a mask alone', '../-'],
  ])('refuses %s', (_, text) => {
    expect(parseTaxId(text)).toBeNull();
  });

  it('reads the number of a company as a CNPJ', () => {
    expect(parseCnpj('191')).toEqual({ kind: 'cnpj', digits: '00000000000191' });
    expect(parseCnpj('00000000191')).toEqual({ kind: 'cnpj', digits: '00000000000191' });
    expect(parseCnpj('52998224725')).toBeNull();
    expect(parseCnpj('000.000.001-91')).toBeNull();
    expect(parseCnpj('filial-3')).toBeNull();
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
        expect(parseTaxId(guessed)?.kind === 'cpf').toBe(guessed === valid && !isRefused);
      }),
      { numRuns: 5_000 },
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
      { numRuns: 5_000 },
    );
  });
});
