/** The bytes of JSON's grammar. */
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const MINUS_SIGN = 0x2d;
export const DIGIT_ZERO = 0x30;
export const COLON_SIGN = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

/** Zeros behind the bytes of a window. No search passes them, because nothing that is searched for begins with zero. */
export const PADDING_BYTES = 32;

/** 1 for the bytes that a string may contain without an escape; UTF-8 is checked separately. */
export const ANY_TEXT = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
);

export function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

export function isDigit(byte: number): boolean {
  return byte >= DIGIT_ZERO && byte <= 0x39;
}

/** The index after the whitespace, if any. */
export function endOfSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isSpace(bytes[at] as number)) at++;
  return at;
}

/** The index after the digits, if any. */
export function endOfDigits(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isDigit(bytes[at] as number)) at++;
  return at;
}

export function isAt(bytes: Uint8Array, at: number, word: Uint8Array): boolean {
  for (let index = 0; index < word.length; index++) {
    if (bytes[at + index] !== word[index]) return false;
  }
  return true;
}

/** Whether the bytes from `start` to `end` are `value`. */
export function isText(bytes: Buffer, start: number, end: number, value: Buffer): boolean {
  return end - start === value.length && isAt(bytes, start, value);
}

export function toView({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');

/** The index after `true` or `false`; -1 where neither is at `at`. */
export function endOfBoolean(bytes: Uint8Array, at: number): number {
  if (isAt(bytes, at, TRUE)) return at + TRUE.length;
  return isAt(bytes, at, FALSE) ? at + FALSE.length : -1;
}
