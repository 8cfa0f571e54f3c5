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

/**
 * The texts of a date's titles, each with the number of its copies and the hash of its content. The result
 * of reading a title depends on its text alone, so a known text need not be read again. A reader takes
 * the texts of the response out. The response lacks the texts that are left after that. A row whose columns were altered
 * outside of the program keeps its text, so only a repair, to which no text is known, restores it.
 */
export class KnownTexts {
  /** By the hash of a text of which a copy is left. */
  readonly #contents = new Map<string, string>();
  /** Of these, the copies beyond the first. */
  readonly #further = new Map<string, number>();
  #count = 0;

  /** The copies that were taken. */
  get count(): number {
    return this.#count;
  }

  /** Adds one copy of a text. */
  add(textHash: string, contentHash: string): void {
    if (this.#contents.has(textHash)) {
      this.#further.set(textHash, 1 + (this.#further.get(textHash) ?? 0));
    } else this.#contents.set(textHash, contentHash);
  }

  /** Takes one copy out. Returns the hash of its content; null: no copy is left. */
  take(textHash: string): string | null {
    const contentHash = this.#contents.get(textHash);
    if (contentHash === undefined) return null;
    this.#count += 1;
    const further = this.#further.get(textHash) ?? 0;
    if (further === 0) this.#contents.delete(textHash);
    else this.#further.set(textHash, further - 1);
    return contentHash;
  }

  /** The copies that were not taken. */
  missing(): MissingText[] {
    return [...this.#contents.keys()].map((textHash) => ({
      rawHash: Buffer.from(textHash, 'latin1').toString('hex'),
      copies: 1 + (this.#further.get(textHash) ?? 0),
    }));
  }
}
