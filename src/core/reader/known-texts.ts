import { hash } from 'node:crypto';

/**
 * Part of every hash below. A release that reads the same text as a different title raises it. No
 * title then counts as known, and each is read again. The text of a title is stored anew only with a change of the
 * title, so an unchanged one is read again by every pull of its date.
 */
const READER_VERSION = '\u0001';

/** Of a hash, here a string with a character for each byte. */
export const HASH_BYTES = 16;

/** The hash of a title's text: the reader's version, then 120 bits of the SHA-256 of its bytes. */
export function rawHash(text: Uint8Array): string {
  return READER_VERSION + hash('sha256', text, 'binary').slice(1, HASH_BYTES);
}

/** A text that the date has in more copies than the response. */
export interface MissingText {
  /** 32 hexadecimal digits. */
  readonly rawHash: string;
  readonly copies: number;
}

/** In `KnownTexts`, the hash of a text and then that of its content. */
const PAIR_BYTES = 2 * HASH_BYTES;
/** Of the hash of a text, after the reader's version: as many bits as a number holds and `readUIntBE` reads. */
const PREFIX_BYTES = 6;

/**
 * The texts of a date's titles, each copy with the hash of its content. The result
 * of reading a title depends on its text alone, so a known text need not be read again. A reader takes
 * the texts of the response out. The response lacks the texts that are left after that. A row whose columns were altered
 * outside of the program keeps its text, so only a repair, to which no text is known, restores it.
 *
 * The hashes stay in the bytes that PostgreSQL has sent: 36 bytes of memory for each title.
 */
export class KnownTexts {
  readonly #pairs: Buffer;
  /** By the place of the first copy of a text, how many copies were taken. */
  readonly #taken: Uint32Array;
  #count = 0;

  /** @param pairs of each title, the hash of its text and of its content, in the order of the hashes of the texts */
  constructor(pairs: Buffer = Buffer.alloc(0)) {
    this.#pairs = pairs;
    this.#taken = new Uint32Array(pairs.length / PAIR_BYTES);
  }

  /** The copies that were added. */
  get titles(): number {
    return this.#taken.length;
  }

  /** The copies that were taken. */
  get count(): number {
    return this.#count;
  }

  /** Takes one copy out. Returns the hash of its content; null: no copy is left. */
  take(textHash: string): string | null {
    const first = this.#firstOf(textHash);
    const place = first + (this.#taken[first] ?? 0);
    if (this.#textAt(place) !== textHash) return null;
    this.#taken[first] = place + 1 - first;
    this.#count += 1;
    const at = place * PAIR_BYTES + HASH_BYTES;
    return this.#pairs.toString('latin1', at, at + HASH_BYTES);
  }

  /** The copies that were not taken. */
  missing(): MissingText[] {
    const missing: MissingText[] = [];
    for (let first = 0, next: number; first < this.#taken.length; first = next) {
      for (next = first + 1; this.#isSame(next, first); next++);
      const copies = next - first - (this.#taken[first] as number);
      const at = first * PAIR_BYTES;
      if (copies > 0) {
        missing.push({ rawHash: this.#pairs.toString('hex', at, at + HASH_BYTES), copies });
      }
    }
    return missing;
  }

  /** The place of the first copy of a text; of a text that is not known, the place of another one. */
  #firstOf(textHash: string): number {
    let prefix = 0;
    for (let at = 1; at <= PREFIX_BYTES; at++) prefix = 256 * prefix + textHash.charCodeAt(at);
    let [low, high] = [0, this.#taken.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#prefixAt(middle) < prefix) low = middle + 1;
      else high = middle;
    }
    while (this.#prefixAt(low) === prefix && this.#textAt(low) < textHash) low += 1;
    return low;
  }

  #isSame(place: number, other: number): boolean {
    return (
      this.#prefixAt(place) === this.#prefixAt(other) && this.#textAt(place) === this.#textAt(other)
    );
  }

  #prefixAt(place: number): number {
    if (place >= this.#taken.length) return Number.POSITIVE_INFINITY;
    return this.#pairs.readUIntBE(place * PAIR_BYTES + 1, PREFIX_BYTES);
  }

  /** The empty string after the last place. */
  #textAt(place: number): string {
    const at = place * PAIR_BYTES;
    return this.#pairs.toString('latin1', at, at + HASH_BYTES);
  }
}
