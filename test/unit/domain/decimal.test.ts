import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { parseDecimal, toPlainDecimal } from '../../../src/base/values/decimal.ts';

describe('the canonical form of a decimal', () => {
  it.each([
    ['12345678901234567.89', '12345678901234567.89'],
    ['1e2', '100'],
    ['1E+2', '100'],
    ['1E-7', '0.0000001'],
    ['-0.01', '-0.01'],
    ['100000000000000000000', '100000000000000000000'],
    ['1.10', '1.1'],
    ['11e-1', '1.1'],
    ['-0.00', '0'],
    ['0e5', '0'],
    ['100', '100'],
    ['100e-2', '1'],
    ['100e-3', '0.1'],
    ['1.5e1', '15'],
    ['0.0015e3', '1.5'],
    ['-12.5e-3', '-0.0125'],
    ['1e00000000000000000000002', '100'],
    ['1e99', `1${'0'.repeat(99)}`],
    ['1e-100', `0.${'0'.repeat(99)}1`],
  ])('of %s is %s', (written, canonical) => {
    expect(parseDecimal(written)).toEqual({ written, canonical });
  });

  it.each([
    // Too many digits.
    ...['1e400', '1e99999999', '1e-99999999', '-1e400', '0e400', '1e100', '1e-101'],
    ...[`1e${'9'.repeat(400)}`, `1e-${'9'.repeat(400)}`, `0e${'9'.repeat(400)}`],
    ...['9'.repeat(101), `0.${'9'.repeat(101)}`, `${'9'.repeat(50)}.${'9'.repeat(51)}`],
    // No JSON numbers.
    ...['', ...'- +1 01 -01 00 1. .5 1e 1e+ 1e1.5 1.2.3 1,5 1_000'.split(' ')],
    ...['0x1', 'NaN', 'Infinity', '-Infinity', 'null', ' 1', '1 ', '1\n', '١', '1n', '1e٢'],
  ])('does not exist for %j', (written) => {
    expect(parseDecimal(written)).toBeNull();
  });
});

/** numerator / 10^scale, by arithmetic without text. */
interface Rational {
  readonly numerator: bigint;
  readonly scale: number;
}

function toRational(written: string): Rational {
  const [mantissa = '', exponent = '0'] = written.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = BigInt(`${whole.replace('-', '')}${fraction}`);
  const numerator = mantissa.startsWith('-') ? -digits : digits;
  return { numerator, scale: fraction.length - Number(exponent) };
}

function areEqual(a: string, b: string): boolean {
  const [left, right] = [toRational(a), toRational(b)];
  const scale = Math.max(left.scale, right.scale, 0);
  const align = (value: Rational) => value.numerator * 10n ** BigInt(scale - value.scale);
  return align(left) === align(right);
}

const written = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.bigInt({ min: 0n, max: 10n ** 22n }),
    fc.oneof(fc.constant(''), fc.stringMatching(/^\.[0-9]{1,12}$/)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^[eE][+-]?[0-9]{1,2}$/)),
  )
  .map((parts) => parts.join(''))
  .filter((text) => parseDecimal(text) !== null);

/** A number in two spellings: the point moved, zeros added, the exponent making up for both. */
const rewritten = fc
  .tuple(written, fc.integer({ min: 1, max: 19 }), fc.nat(3))
  .map(([text, places, zeros]) => {
    const { numerator, scale } = toRational(text);
    const digits = String((numerator < 0n ? -numerator : numerator) * 10n ** BigInt(zeros));
    const padded = digits.padStart(places + 1, '0');
    const mantissa = `${padded.slice(0, -places)}.${padded.slice(-places)}`;
    return [text, `${numerator < 0n ? '-' : ''}${mantissa}e${places - scale - zeros}`] as const;
  });

it('two decimals share a canonical form exactly where they are the same number', () => {
  const near = fc.oneof(
    fc.tuple(written, written),
    rewritten,
    rewritten.map(([, other]) => [other, other.replace('.', '.0')] as const),
  );
  fc.assert(
    fc.property(near, ([a, b]) => {
      const [left, right] = [parseDecimal(a), parseDecimal(b)];
      fc.pre(left !== null && right !== null);
      expect(left?.canonical === right?.canonical).toBe(areEqual(a, b));
    }),
    { numRuns: 5000 },
  );
});

test.each([
  ['1.10', '1.10'],
  ['-0.00', '-0.00'],
  ['1.10e1', '11.0'],
  ['1e2', '100'],
  ['-1.50E+1', '-15.0'],
  ['1.5e-3', '0.0015'],
  ['0.0015e2', '0.15'],
  [`0.${'0'.repeat(131_071)}1e131072`, '1'],
  ['0e-2', '0.00'],
])('%s in plain notation, with its digits, is %s', (written, plain) => {
  expect(toPlainDecimal(written)).toBe(plain);
});
