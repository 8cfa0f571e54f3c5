/** The fault of one field, without the value, which may be personal data. */
export interface FieldFault {
  /** `accounts[0].bankNumber`; indexes start at 0, as in JSON. */
  readonly field: string;
  readonly expected: string;
}

/** For indexed columns: with four bytes a character, the text still fits an index entry of PostgreSQL. */
export const MAX_KEY_CHARACTERS = 255;
const MAX_TEXT_CHARACTERS = 1000;
const MAX_ITEMS = 100;
/** Of a list as JSON. The limit of the table is twice as much, because its text has blanks between the values. */
const MAX_LIST_BYTES = 32 * 1024;

/** Without U+0000 and lone surrogates, which PostgreSQL cannot hold. The hashes of titles depend on that. */
export const isStorableText = (text: string): boolean => !/[\0\p{Surrogate}]/u.test(text);

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the fields of one object and collects all faults, so that a person can correct all of them
 * at the same time.
 */
export class FieldReader {
  readonly #object: Fields;
  readonly #path: string;
  readonly #faults: FieldFault[];

  constructor(object: Fields, path: string, faults: FieldFault[]) {
    this.#object = object;
    this.#path = path;
    this.#faults = faults;
  }

  /** Returns the text, or '' after recording a fault. */
  requiredText(field: string, maxLength = MAX_TEXT_CHARACTERS): string {
    const text = this.word(field, maxLength);
    if (text === undefined && !this.hasFault(field)) this.fault(field, 'missing');
    return text ?? '';
  }

  /** Text with at least one visible character. */
  word(field: string, maxLength = MAX_TEXT_CHARACTERS): string | undefined {
    const text = this.text(field, maxLength);
    if (text === undefined || text.trim() !== '') return text;
    this.fault(field, 'expected text that is not blank');
    return undefined;
  }

  text(field: string, maxLength = MAX_TEXT_CHARACTERS): string | undefined {
    const value = this.#object[field] ?? undefined;
    if (value === undefined) return undefined;
    if (typeof value !== 'string') this.fault(field, 'expected text');
    else if ([...value.slice(0, 2 * maxLength + 1)].length > maxLength) {
      this.fault(field, `expected at most ${maxLength} characters`);
    } else if (!isStorableText(value)) {
      this.fault(field, 'expected text without U+0000 and lone surrogates');
    } else return value;
    return undefined;
  }

  flag(field: string): boolean | undefined {
    const value = this.#object[field] ?? undefined;
    if (value === undefined || typeof value === 'boolean') return value;
    this.fault(field, 'expected true or false');
    return undefined;
  }

  items<T>(field: string, read: (item: FieldReader) => T): T[] | undefined {
    const value = this.#object[field] ?? undefined;
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) {
      this.fault(field, 'expected an array');
      return undefined;
    }
    if (value.length > MAX_ITEMS) this.fault(field, `expected at most ${MAX_ITEMS} items`);
    const items = value.slice(0, MAX_ITEMS).flatMap((item: unknown, index) => {
      const path = `${this.#path}${field}[${index}]`;
      if (isObject(item)) return [read(new FieldReader(item, `${path}.`, this.#faults))];
      this.#faults.push({ field: path, expected: 'expected an object' });
      return [];
    });
    if (Buffer.byteLength(JSON.stringify(items)) > MAX_LIST_BYTES) {
      this.fault(field, `expected at most ${MAX_LIST_BYTES} bytes`);
    }
    return items;
  }

  /** An unknown field is probably misspelled, and its content would be lost. */
  refuseFurtherFields(known: readonly string[]): void {
    for (const field of Object.keys(this.#object)) {
      if (known.includes(field)) continue;
      // A name that is not an identifier may be content of another field.
      const name = /^[A-Za-z_]\w{0,39}$/.test(field) ? field : '(another field)';
      this.fault(name, 'not a field of the interface');
    }
  }

  fault(field: string, expected: string): void {
    this.#faults.push({ field: this.#path + field, expected });
  }

  hasFault(field: string): boolean {
    return this.#faults.some((fault) => fault.field === this.#path + field);
  }
}

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
