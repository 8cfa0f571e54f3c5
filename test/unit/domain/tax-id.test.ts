import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTaxId } from '../../../src/base/values/tax-id.ts';
import { toCnpj, toCpf } from '../../support/tax-ids.ts';

const digits = (length: number) =>
  fc.stringMatching(new RegExp(`^[0-9]{${length}}$`), { size: 'max' });
const alphanumerics = (length: number) =>
  fc.stringMatching(new RegExp(`^[0-9A-Z]{${length}}$`), { size: 'max' });
const isOneCharacterRepeated = (text: string) => new Set(text).size === 1;

// test/integration/database/tax-id.test.ts has the writings, and compares the program with SQL.
describe('parseTaxId', () => {
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
