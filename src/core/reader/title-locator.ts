import { isUtf8 } from 'node:buffer';
import { type CivilDate, parseCivilDate } from '../../base/values/business-day.ts';
import { MAX_DECIMAL_DIGITS } from '../../base/values/decimal.ts';
import { isStorableText } from '../../base/values/field-fault.ts';
import { isInWindow, type PullWindow } from '../title/title-contract.ts';
import { TITLE_FIELDS, type TitleField, ValueKind } from '../title/title-schema.ts';
import {
  ANY_TEXT,
  BACKSLASH,
  CLOSE_BRACE,
  COMMA,
  DIGIT_ZERO,
  endOfBoolean,
  endOfDigits,
  endOfSpace,
  isAt,
  isDigit,
  isSpace,
  isText,
  MINUS_SIGN,
  OPEN_BRACE,
  PADDING_BYTES,
  QUOTE,
  toView,
} from './json-bytes.ts';
import { toDateValue } from './title-row.ts';

/** Returns the index of a documented field in `TITLE_FIELDS`. */
function fieldAt(path: string): number {
  return TITLE_FIELDS.findIndex((field) => field.path === path);
}

/** The field's name within its object. */
function nameOf({ path }: TitleField): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

/** The index of the object that holds the field; -1: the title itself. */
function parentOf({ path }: TitleField): number {
  return fieldAt(path.slice(0, Math.max(path.lastIndexOf('.'), 0)));
}

/** Every name as it is written, `"name":`. */
const NAMES = TITLE_FIELDS.map((field) => Buffer.from(`"${nameOf(field)}":`));

/** The fields of each object; the index is that of the object plus 1, and 0 for the title itself. */
const MEMBERS = Array.from({ length: 1 + TITLE_FIELDS.length }, (_, index) =>
  TITLE_FIELDS.flatMap((field, member) => (parentOf(field) === index - 1 ? member : [])),
);

/** Returned for a title that is not of the usual kind. */
export const DEPARTS = -1;
/** In place of a value's start: the field is null, or absent. */
const NULL_START = -1;
const ABSENT = -2;
/** In place of the index of an amount's decimal point. */
export const NO_POINT = -1;
export const EXPONENT = -2;

const FIELDS = TITLE_FIELDS.length;
const TITLE = -1;
const KINDS = Uint8Array.from(TITLE_FIELDS, ({ kind }) => kind);
/** In characters. A text with more bytes than that is left to the exact reader. */
const MAX_LENGTHS = Int32Array.from(TITLE_FIELDS, ({ maxLength }) => maxLength);
const ENUMERATIONS = TITLE_FIELDS.map(({ only }) => (only === null ? null : Buffer.from(only)));
const PARENTS = Int8Array.from(TITLE_FIELDS, parentOf);
const REQUIRED_FIELDS = TITLE_FIELDS.flatMap(({ isRequired }, field) => (isRequired ? field : []));

const UID = fieldAt('order.uid');
const ACCEPTED_DATE = fieldAt('acceptedDate');
const EXTERNAL_ID = fieldAt('providerExternalId');
const INNER_EXTERNAL_ID = fieldAt('provider.externalId');

/** The titles of a date have due dates within a few months. */
const MAX_KNOWN_DATES = 4096;

interface KnownDate {
  readonly date: CivilDate;
  /** In a row. */
  readonly value: number;
  readonly isInWindow: boolean;
}

const NULL = Buffer.from('null');

/**
 * Finds the values of a title in its bytes, where the title is of the usual kind: all fields and all values of
 * enumerations are documented, no field comes twice, and every value keeps the contract. The values that it finds are checked as `readExactTitle` checks them. Any other title departs.
 */
export class TitleLocator {
  /** By field: the start and the end of its value; of a text, without the quotes. */
  readonly starts = new Int32Array(FIELDS);
  readonly ends = new Int32Array(FIELDS);
  /** By amount: the index of its decimal point, `NO_POINT` or `EXPONENT`. */
  readonly points = new Int32Array(FIELDS);
  /** By text with escapes: the decoded text. Null where no text of the title has escapes. */
  decoded: (string | undefined)[] | null = null;
  /** By date: its value in a row. */
  readonly dateValues = new Int32Array(FIELDS);
  /** The opened bytes, padded: names are compared and values copied word by word. */
  bytes: Buffer = Buffer.alloc(PADDING_BYTES);
  view: DataView = toView(this.bytes);

  /** By field, or by FIELDS + 1 + the object before its first field: the field that came next before; -1: none. */
  readonly #next = new Int8Array(2 * FIELDS + 1).fill(-1);
  readonly #window: PullWindow;
  /** By the eight digits of the day. Parsing a date takes longer than reading its digits. Null: no such day. */
  readonly #dates = new Map<number, KnownDate | null>();
  #acceptedDate: CivilDate | null = null;

  constructor(window: PullWindow) {
    this.#window = window;
  }

  /** The accepted date of the last located title. */
  get acceptedDate(): CivilDate | null {
    return this.#acceptedDate;
  }

  /** @param bytes with `PADDING_BYTES` zeros at the end of what is to be located */
  open(bytes: Buffer): void {
    this.view = toView(bytes);
    this.bytes = bytes;
  }

  /** The end of the title that begins at `from`, or `DEPARTS`. */
  locate(from: number): number {
    const { bytes, starts } = this;
    const next = this.#next;
    let last = FIELDS;
    if (bytes[from] !== OPEN_BRACE) return DEPARTS;
    starts.fill(ABSENT);
    this.decoded = null;
    let object = TITLE;
    let at = from + 1;
    for (;;) {
      if (isSpace(bytes[at] as number)) at = endOfSpace(bytes, at);
      let field = next[last] as number;
      if (field === -1 || !isAt(bytes, at, NAMES[field] as Buffer)) {
        field = this.#memberAt(at, object);
        if (field === -1) return DEPARTS;
        next[last] = field;
      }
      if (starts[field] !== ABSENT) return DEPARTS;
      last = field;
      at += (NAMES[field] as Buffer).length;
      if (isSpace(bytes[at] as number)) at = endOfSpace(bytes, at);

      const kind = KINDS[field];
      starts[field] = at;
      if (bytes[at] === 0x6e) {
        if (!isAt(bytes, at, NULL)) return DEPARTS;
        starts[field] = NULL_START;
        at += NULL.length;
      } else if (kind === ValueKind.text) {
        at = this.#endOfText(at, field);
      } else if (kind === ValueKind.amount) {
        at = this.#endOfAmount(at, field);
      } else if (kind === ValueKind.date) {
        at = this.#endOfDate(at, field);
      } else if (kind === ValueKind.boolean) {
        at = endOfBoolean(bytes, at);
      } else {
        if (bytes[at] !== OPEN_BRACE) return DEPARTS;
        object = field;
        last = FIELDS + 1 + field;
        at++;
        continue;
      }
      if (at === DEPARTS) return DEPARTS;

      for (;;) {
        if (isSpace(bytes[at] as number)) at = endOfSpace(bytes, at);
        const byte = bytes[at++];
        if (byte === COMMA) break;
        if (byte !== CLOSE_BRACE) return DEPARTS;
        if (object === TITLE) return this.#isWhole() ? at : DEPARTS;
        last = object;
        object = PARENTS[object] as number;
      }
    }
  }

  /** The field of the object whose name is there; -1: none. */
  #memberAt(at: number, object: number): number {
    const members = MEMBERS[1 + object] as readonly number[];
    for (const field of members) if (isAt(this.bytes, at, NAMES[field] as Buffer)) return field;
    return -1;
  }

  #endOfText(quote: number, field: number): number {
    const { bytes } = this;
    if (bytes[quote] !== QUOTE) return DEPARTS;
    const start = quote + 1;
    let end = start;
    let union = 0;
    let byte = bytes[end] as number;
    while (ANY_TEXT[byte] === 1) {
      union |= byte;
      byte = bytes[++end] as number;
    }
    if (byte === BACKSLASH) {
      end = this.#endOfEscapedText(start, end, field);
      if (end === DEPARTS) return DEPARTS;
    } else {
      if (byte !== QUOTE) return DEPARTS;
      if (union >= 0x80 && !isUtf8(bytes.subarray(start, end))) return DEPARTS;
    }
    if (end - start > (MAX_LENGTHS[field] as number)) return DEPARTS;
    const only = ENUMERATIONS[field];
    if (only != null && !isText(bytes, start, end, only)) return DEPARTS;
    this.starts[field] = start;
    this.ends[field] = end;
    return end + 1;
  }

  #endOfEscapedText(start: number, from: number, field: number): number {
    // Texts that are compared are compared as they are written.
    if (field === EXTERNAL_ID || field === INNER_EXTERNAL_ID) return DEPARTS;
    const { bytes } = this;
    let end = from;
    for (;;) {
      // The escaped character is taken with its backslash, lest an escaped quote end the text.
      if (bytes[end] === BACKSLASH) end += 2;
      else if (ANY_TEXT[bytes[end] as number] === 1) end++;
      else break;
    }
    if (bytes[end] !== QUOTE || !isUtf8(bytes.subarray(start, end))) return DEPARTS;
    const decoded = decodeText(bytes.toString('utf8', start, end));
    if (decoded === null) return DEPARTS;
    this.decoded ??= [];
    this.decoded[field] = decoded;
    return end;
  }

  #endOfAmount(start: number, field: number): number {
    const { bytes } = this;
    let at = start;
    if (bytes[at] === MINUS_SIGN) at++;
    const whole = at;
    at = endOfDigits(bytes, at);
    if (at === whole || (bytes[whole] === DIGIT_ZERO && at > whole + 1)) return DEPARTS;
    let point = NO_POINT;
    if (bytes[at] === 0x2e) {
      point = at++;
      at = endOfDigits(bytes, at);
      if (at === point + 1) return DEPARTS;
    }
    if (((bytes[at] as number) | 0x20) === 0x65) {
      point = EXPONENT;
      at++;
      if (bytes[at] === MINUS_SIGN || bytes[at] === 0x2b) at++;
      const exponent = at;
      at = endOfDigits(bytes, at);
      if (at === exponent) return DEPARTS;
    }
    // Without an exponent, a number has no more digits than characters.
    if (at - start > MAX_DECIMAL_DIGITS) return DEPARTS;
    this.ends[field] = at;
    this.points[field] = point;
    return at;
  }

  #endOfDate(quote: number, field: number): number {
    const { bytes } = this;
    const start = quote + 1;
    const end = start + 'YYYY-MM-DD'.length;
    if (bytes[quote] !== QUOTE || bytes[end] !== QUOTE) return DEPARTS;
    if (bytes[start + 4] !== MINUS_SIGN || bytes[start + 7] !== MINUS_SIGN) return DEPARTS;
    let day = 0;
    for (let at = start; at < end; at++) {
      if (at === start + 4 || at === start + 7) continue;
      const byte = bytes[at] as number;
      if (!isDigit(byte)) return DEPARTS;
      day = 10 * day + byte - DIGIT_ZERO;
    }
    this.starts[field] = start;
    this.ends[field] = end;
    const known = this.#findDate(day, start, end);
    if (known === null) return DEPARTS;
    if (field === ACCEPTED_DATE) {
      if (!known.isInWindow) return DEPARTS;
      this.#acceptedDate = known.date;
    }
    this.dateValues[field] = known.value;
    return end + 1;
  }

  #findDate(day: number, start: number, end: number): KnownDate | null {
    let known = this.#dates.get(day);
    if (known === undefined) {
      if (this.#dates.size >= MAX_KNOWN_DATES) this.#dates.clear();
      const date = parseCivilDate(this.bytes.toString('latin1', start, end));
      known = date && {
        date,
        value: toDateValue(date),
        isInWindow: isInWindow(this.#window, date),
      };
      this.#dates.set(day, known);
    }
    return known;
  }

  /** Whether all required fields are there. Chooses the field that the provider's external id is read from. */
  #isWhole(): boolean {
    const { starts, ends } = this;
    for (const field of REQUIRED_FIELDS) if ((starts[field] as number) < 0) return false;
    if (starts[UID] === ends[UID]) return false;

    const inner = starts[INNER_EXTERNAL_ID] as number;
    if (inner < 0) return true;
    const end = ends[INNER_EXTERNAL_ID] as number;
    const outer = starts[EXTERNAL_ID] as number;
    if (outer >= 0) {
      return isText(this.bytes, inner, end, this.bytes.subarray(outer, ends[EXTERNAL_ID]));
    }
    starts[EXTERNAL_ID] = inner;
    ends[EXTERNAL_ID] = end;
    return true;
  }
}

/** Null where the text is invalid, or PostgreSQL cannot store it. */
function decodeText(written: string): string | null {
  try {
    const decoded = JSON.parse(`"${written}"`) as string;
    return isStorableText(decoded) ? decoded : null;
  } catch {
    return null;
  }
}
