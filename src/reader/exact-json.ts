import { isUtf8 } from 'node:buffer';
import { MAX_DECIMAL_DIGITS, parseDecimal } from '../domain/decimal.ts';
import { toDisplayText } from '../domain/display-text.ts';
import { JsonNumber, type JsonObject, type JsonValue } from '../domain/json-value.ts';
import {
  ASCII_TEXT,
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  isSpace,
  MINUS_SIGN,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './json-bytes.ts';

/** Containers within each other, the outermost included. A title has three. */
const MAX_JSON_DEPTH = 32;

/** Holds, as one text, the undocumented fields of an object that cannot have their own place in the object. */
const FURTHER_FIELDS = '(further fields)';

/** Limits the reasons of a hostile title. */
const MAX_PROBLEMS = 20;
const MAX_PATH_NAME_LENGTH = 60;

/** The fields of an object, with those of the objects among them. */
export interface DocumentedFields {
  readonly fields: ReadonlyMap<string, DocumentedFields | 'value'>;
}

export interface ExactJson {
  /** Null in place of each value that is a problem. */
  readonly value: JsonValue;
  /**
   * A sentence for each value that cannot be kept: the field's path and what was expected, without the
   * value. Empty where `value` is the value of the bytes, apart from undocumented fields kept as text.
   */
  readonly problems: string[];
}

/**
 * An object that inherits no field, not even `__proto__`. V8 would keep the result of `Object.create(null)`
 * as a hash table, which halves the speed of every access.
 */
class BareObject {
  [field: string]: JsonValue;
}
Object.setPrototypeOf(BareObject.prototype, null);
Reflect.deleteProperty(BareObject.prototype, 'constructor');

/**
 * Reads one JSON value whose grammar `TitleReader` has checked. Strings are decoded, numbers keep their
 * text, objects have no prototype.
 *
 * A value that JSON allows but the database or the interface cannot keep becomes a problem: invalid UTF-8,
 * a lone surrogate, U+0000, a field that its object has twice, nesting beyond `MAX_JSON_DEPTH`, and numbers
 * beyond `MAX_DECIMAL_DIGITS`.
 *
 * In an undocumented field such a value is not a problem: the value of the whole field is then its JSON text.
 * Fields whose name cannot be kept, and further fields of the same name, are together the text of one field,
 * `(further fields)`. In these texts U+FFFD replaces invalid UTF-8.
 *
 * @param documented the fields of the value; null: every field counts as documented
 * @param bytes one whole JSON value. The result for any other input is an error or a wrong value, so
 *   a truncated title must not be passed.
 */
export function parseExactJson(
  bytes: Buffer,
  documented: DocumentedFields | null = null,
): ExactJson {
  return new ExactJsonParser(bytes).parse(documented);
}

class ExactJsonParser {
  readonly #bytes: Buffer;
  /** One character for each byte, so that indexes agree and slicing ASCII text is cheap. */
  readonly #text: string;
  readonly #problems: string[] = [];
  /** The path of the current value: field names and array indexes. */
  readonly #path: (string | number)[] = [];
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#text = bytes.toString('latin1');
  }

  parse(documented: DocumentedFields | null): ExactJson {
    const value = this.#value(0, documented);
    if (this.#nextByte() !== undefined) throw this.#notJson();
    return { value, problems: this.#problems };
  }

  /** `level`: how many containers are open around the value. */
  #value(level: number, documented: DocumentedFields | null): JsonValue {
    const first = this.#nextByte();
    switch (first) {
      case QUOTE:
        return this.#string('a string');
      case OPEN_BRACE:
        return level < MAX_JSON_DEPTH ? this.#object(level + 1, documented) : this.#skipContainer();
      case OPEN_BRACKET:
        return level < MAX_JSON_DEPTH ? this.#array(level + 1) : this.#skipContainer();
      case 0x74:
        this.#at += 4;
        return true;
      case 0x66:
        this.#at += 5;
        return false;
      case 0x6e:
        this.#at += 4;
        return null;
      default:
        return this.#number();
    }
  }

  #object(level: number, documented: DocumentedFields | null): JsonObject {
    const object = new BareObject();
    const further: string[] = [];
    this.#at++;
    if (this.#nextByte() === CLOSE_BRACE) {
      this.#at++;
      return object;
    }
    for (;;) {
      if (this.#nextByte() !== QUOTE) throw this.#notJson();
      const fieldAt = this.#at;
      const problems = this.#problems.length;
      const name = this.#string('a field name');
      if (this.#nextByte() !== 0x3a) throw this.#notJson();
      this.#at++;
      this.#nextByte();
      const valueAt = this.#at;
      const known = documented === null ? 'value' : documented.fields.get(name ?? '\0');
      this.#path.push(name ?? '\u{fffd}');
      const value = this.#value(level, known === 'value' ? null : (known ?? null));
      if (known === undefined) {
        const isExact = this.#problems.length === problems;
        this.#problems.length = problems;
        if (name === null || name in object) further.push(this.#written(fieldAt));
        else object[name] = isExact ? value : this.#written(valueAt);
      } else if (name !== null) {
        if (name in object) this.#addProblem('expected one value, not the field twice');
        else object[name] = value;
      }
      this.#path.pop();
      if (this.#closes(CLOSE_BRACE)) break;
    }
    if (further.length > 0) object[unusedName(object)] = further.join(', ');
    return object;
  }

  /** The text from `start` to the end of the current value. */
  #written(start: number): string {
    return this.#bytes.toString('utf8', start, this.#at);
  }

  #array(level: number): JsonValue[] {
    const items: JsonValue[] = [];
    this.#at++;
    if (this.#nextByte() === CLOSE_BRACKET) {
      this.#at++;
      return items;
    }
    for (;;) {
      this.#path.push(items.length);
      items.push(this.#value(level, null));
      this.#path.pop();
      if (this.#closes(CLOSE_BRACKET)) return items;
    }
  }

  /** Reads the byte after an item: true for the end of the container, false for a comma. */
  #closes(closing: number): boolean {
    const byte = this.#nextByte();
    this.#at++;
    if (byte === COMMA) return false;
    if (byte === closing) return true;
    throw this.#notJson();
  }

  /** Null where the text cannot be kept. `what` is used in the text of the problem. */
  #string(what: 'a string' | 'a field name'): string | null {
    const bytes = this.#bytes;
    const start = this.#at + 1;
    let end = start;
    let hasEscapes = false;
    let isAscii = true;
    for (;;) {
      while (ASCII_TEXT[bytes[end] as number] === 1) end++;
      const special = bytes[end];
      if (special === QUOTE) break;
      if (special === BACKSLASH) {
        hasEscapes = true;
        // Skips the escaped character too, which may be a quote.
        end += 2;
      } else if (special !== undefined && special >= 0x80) {
        isAscii = false;
        end++;
      } else {
        throw this.#notJson();
      }
    }
    this.#at = end + 1;

    if (!isAscii && !isUtf8(bytes.subarray(start, end))) {
      return this.#refuse(`expected ${what} in valid UTF-8`);
    }
    const written = isAscii ? this.#text.slice(start, end) : bytes.toString('utf8', start, end);
    if (!hasEscapes) return written;

    const decoded = JSON.parse(`"${written}"`) as string;
    if (decoded.includes('\u0000')) return this.#refuse(`expected ${what} without U+0000`);
    if (/\p{Surrogate}/u.test(decoded))
      return this.#refuse(`expected ${what} without lone surrogates`);
    return decoded;
  }

  #number(): JsonNumber | null {
    const bytes = this.#bytes;
    const start = this.#at;
    let end = start;
    let isPlain = true;
    for (;;) {
      const byte = bytes[end];
      if (byte === undefined) break;
      if (byte === 0x2b || (byte | 0x20) === 0x65) isPlain = false;
      else if (byte !== MINUS_SIGN && byte !== 0x2e && !(byte >= 0x30 && byte <= 0x39)) break;
      end++;
    }
    if (end === start) throw this.#notJson();
    this.#at = end;
    const text = this.#text.slice(start, end);
    // Without an exponent a number has no more digits than characters.
    if ((isPlain && text.length <= MAX_DECIMAL_DIGITS) || parseDecimal(text) !== null) {
      return new JsonNumber(text);
    }
    return this.#refuse(`expected a number of at most ${MAX_DECIMAL_DIGITS} digits`);
  }

  /** Skips a container by counting brackets, so that no depth of nesting overflows the call stack. */
  #skipContainer(): null {
    let open = 0;
    do {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw this.#notJson();
      if (byte === QUOTE) {
        this.#skipString();
        continue;
      }
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) open++;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) open--;
      this.#at++;
    } while (open > 0);
    return this.#refuse(`expected at most ${MAX_JSON_DEPTH} levels of nesting`);
  }

  #skipString(): void {
    const bytes = this.#bytes;
    this.#at++;
    while (bytes[this.#at] !== QUOTE) {
      if (this.#at >= bytes.length) throw this.#notJson();
      this.#at += bytes[this.#at] === BACKSLASH ? 2 : 1;
    }
    this.#at++;
  }

  /** Moves to the next byte that is not whitespace; undefined at the end. */
  #nextByte(): number | undefined {
    const bytes = this.#bytes;
    let byte = bytes[this.#at];
    while (byte !== undefined && isSpace(byte)) byte = bytes[++this.#at];
    return byte;
  }

  /** Records a problem. Returns null, which takes the place of the value. */
  #refuse(expectation: string): null {
    this.#addProblem(expectation);
    return null;
  }

  #addProblem(expectation: string): void {
    if (this.#problems.length > MAX_PROBLEMS) return;
    this.#problems.push(
      this.#problems.length === MAX_PROBLEMS
        ? 'further problems are not listed'
        : `${toPathText(this.#path)}: ${expectation}`,
    );
  }

  #notJson(): RangeError {
    return new RangeError(`not a JSON value, at byte ${this.#at}`);
  }
}

function unusedName(object: JsonObject): string {
  let name = FURTHER_FIELDS;
  while (name in object) name += ' ';
  return name;
}

/** `financialAgent.payment.bank`, `phones[0].number`; `(title)` for the whole. */
function toPathText(path: readonly (string | number)[]): string {
  if (path.length === 0) return '(title)';
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else text += `${text === '' ? '' : '.'}${toDisplayText(step, MAX_PATH_NAME_LENGTH)}`;
  }
  return text;
}
