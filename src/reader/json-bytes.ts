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

/** 1 for the bytes up to `lastByte` that a string may contain without an escape, 0 for all others. */
function textTable(lastByte: number): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) =>
    byte >= 0x20 && byte <= lastByte && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
  );
}

/** 1 for an ASCII character that a string may contain without an escape. */
export const ASCII_TEXT = textTable(0x7f);
/** As `ASCII_TEXT`, and the bytes from 0x80 on, for readers that check UTF-8 separately. */
export const ANY_TEXT = textTable(0xff);

export function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

export function isDigit(byte: number): boolean {
  return byte >= DIGIT_ZERO && byte <= 0x39;
}

export function isHexDigit(byte: number): boolean {
  // Bit 0x20 turns an ASCII capital into the small letter.
  const lower = byte | 0x20;
  return isDigit(byte) || (lower >= 0x61 && lower <= 0x66);
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

/** Whether the `length` bytes at both indexes are the same. */
export function areSame(bytes: Uint8Array, one: number, other: number, length: number): boolean {
  for (let index = 0; index < length; index++) {
    if (bytes[one + index] !== bytes[other + index]) return false;
  }
  return true;
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
