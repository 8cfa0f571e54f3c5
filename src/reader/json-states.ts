/** The states of the scanner between two bytes, each with the bytes that may follow. A chunk may end in any. */
export const State = Object.freeze({
  /** The very first byte: `{`, whitespace, or a byte order mark. */
  start: 0,
  bomSecond: 1,
  bomThird: 2,
  /** `{` or whitespace. */
  root: 3,
  /** After `{`: a field name or `}`. */
  firstName: 4,
  /** After `,` in an object: a field name. */
  name: 5,
  /** After a field name. */
  colon: 6,
  /** After `[`: a value or `]`. */
  firstItem: 7,
  /** After `:`, or `,` in an array: a value. */
  value: 8,
  /** `,` or the end of the container. */
  afterValue: 9,
  /** After the root: whitespace. */
  done: 10,
  /** Inside a string, which is a name or a value. */
  text: 11,
  /** Inside a character of several bytes, where UTF-8 is checked. */
  utf8Tail: 12,
  /** After a backslash. */
  escape: 13,
  /** Within the four digits after `\u`. */
  hex: 14,
  /** Within true, false or null. */
  literal: 15,
  /** After a minus sign: a digit. */
  minus: 16,
  /** After a leading zero: no digit may follow. */
  zero: 17,
  integer: 18,
  /** After a decimal point: a digit. */
  point: 19,
  fraction: 20,
  /** After `e`: a sign or a digit. */
  exponent: 21,
  /** After the exponent's sign: a digit. */
  exponentSign: 22,
  exponentDigits: 23,
} as const);

export type State = (typeof State)[keyof typeof State];

/** The reason for the end of a scan, and the meaning of the scanner's `position` after it. */
export const ScanEvent = Object.freeze({
  /** The end of the chunk was reached. */
  chunkEnd: 0,
  /** The opening quote of a root field's name was read; the name's first byte is at `position`. */
  nameStart: 1,
  /** The closing quote of a root field's name was read; it is at `position - 1`. */
  nameEnd: 2,
  /** The first byte of a value was read; it is at `position - 1`. */
  valueStart: 3,
  /** A value is complete; its last byte is the one before `position`. */
  valueEnd: 4,
} as const);

export type ScanEvent = (typeof ScanEvent)[keyof typeof ScanEvent];

/** The bytes that may follow a backslash, without `u`. */
export const ESCAPES: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'));
