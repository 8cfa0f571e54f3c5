/**
 * Exact decimals. An amount is the platform's text and goes to PostgreSQL's `numeric` without a
 * binary floating-point number in between.
 */
export interface Decimal {
  /** The original text, `1.10` or `1e2`. */
  readonly written: string;
  /**
   * The same text for equal numbers: without an exponent, needless zeros or `-0`. `1.10`, `1.1` and
   * `11e-1` share it.
   */
  readonly canonical: string;
}

/**
 * Most digits in a plain notation: more than any amount of money needs, and a bound for texts such
 * as `1e99999999`, which would take a hundred megabytes.
 */
export const MAX_DECIMAL_DIGITS = 100;

/** Whether the text is a decimal in plain notation, such as `-0.17`. */
export function isPlainDecimal(text: string): boolean {
  return /^-?\d+(?:\.\d+)?$/.test(text);
}

const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Returns null for text that is not a JSON number (RFC 8259, section 6) or needs more than
 * `MAX_DECIMAL_DIGITS` digits.
 */
export function parseDecimal(written: string): Decimal | null {
  const match = NUMBER.exec(written);
  if (match === null) return null;
  const [, , whole = '', fraction = '', exponentText = '0'] = match;
  const digits = (whole + fraction).replace(/^0+/, '');
  const exponent = Number(exponentText);
  // `scale` is the number of digits after the point. If negative, that many zeros are missing before it.
  const scale = fraction.length - exponent;
  const plainLength =
    digits === ''
      ? whole.length + fraction.length + Math.abs(exponent)
      : Math.max(digits.length - scale, 0) + Math.max(scale, 0);
  if (plainLength > MAX_DECIMAL_DIGITS) return null;
  if (digits === '') return { written, canonical: '0' };
  const plain = toPlainDecimal(written);
  return { written, canonical: plain.includes('.') ? plain.replace(/\.?0+$/, '') : plain };
}

/**
 * Returns the same number in plain notation, with the digits that PostgreSQL keeps of the written text: `1.10e1`
 * is `11.0`, `1.5e-3` is `0.0015`, `1e2` is `100`. The digits are few, also where the text has many zeros before
 * the first other digit.
 *
 * @param written `Decimal.written`
 */
export function toPlainDecimal(written: string): string {
  if (!/[eE]/.test(written)) return written;
  const [, sign = '', whole = '', fraction = '', exponentText = '0'] = NUMBER.exec(written) ?? [];
  const digits = (whole + fraction).replace(/^0+(?=\d)/, '');
  const scale = fraction.length - Number(exponentText);
  if (scale <= 0) return sign + digits + '0'.repeat(-scale);
  const padded = digits.padStart(scale + 1, '0');
  return `${sign}${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
}
