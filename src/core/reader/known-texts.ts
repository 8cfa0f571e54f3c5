import { hash } from 'node:crypto';
import type { TitleFold } from '../title/title.ts';
import { OPEN_BRACE } from './json-bytes.ts';

/**
 * Part of every hash below. A release that reads the same text as a different title raises it. No
 * title then counts as known, and each is read again. The text of a title is stored anew only with a change of the
 * title, so an unchanged one is read again by every pull of its date.
 */
const READER_VERSION = 1;

const HASH_BYTES = 16;
const SLOT_BYTES = 2 * HASH_BYTES;
/** The largest share of slots in use, which keeps searches short. */
const MAX_LOAD = 0.75;

/** The hash of a title's text: the reader's version, then 120 bits of the SHA-256 of its bytes. */
export function rawHash(text: Uint8Array): Buffer {
  // A hash as a string takes two thirds of the time of one as a buffer.
  const digest = Buffer.from(hash('sha256', text, 'binary').slice(0, HASH_BYTES), 'binary');
  digest[0] = READER_VERSION;
  return digest;
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
 *
 * A hash table without objects for the garbage collector: 36 bytes a slot.
 */
export class KnownTitles {
  readonly #slots: number;
  /** By slot: the hash of a text, and the hash of its content. */
  readonly #hashes: Buffer;
  /** The number of copies that are left, plus 1; 0: a free slot. */
  readonly #copies: Uint32Array;

  /** @param titles the largest number of calls of `add` */
  constructor(titles: number) {
    this.#slots = Math.ceil((titles + 1) / MAX_LOAD);
    this.#hashes = Buffer.alloc(this.#slots * SLOT_BYTES);
    this.#copies = new Uint32Array(this.#slots);
  }

  /** Adds one copy of a text. The offsets are those of its hash and of the hash of its content in `bytes`. */
  add(bytes: Buffer, textHashAt: number, contentHashAt: number): void {
    const slot = this.#find(bytes, textHashAt);
    if (this.#copies[slot] === 0) {
      this.#copies[slot] = 1;
      const at = slot * SLOT_BYTES;
      bytes.copy(this.#hashes, at, textHashAt, textHashAt + HASH_BYTES);
      bytes.copy(this.#hashes, at + HASH_BYTES, contentHashAt, contentHashAt + HASH_BYTES);
    }
    this.#copies[slot] = (this.#copies[slot] ?? 0) + 1;
  }

  /** Takes one copy out. Returns the 16 bytes of its content hash; null: no copy is left. */
  take(textHash: Buffer): Uint8Array | null {
    const slot = this.#find(textHash, 0);
    const copies = this.#copies[slot] ?? 0;
    if (copies <= 1) return null;
    this.#copies[slot] = copies - 1;
    return this.#hashes.subarray(slot * SLOT_BYTES + HASH_BYTES, (slot + 1) * SLOT_BYTES);
  }

  /** The copies that were not taken. */
  *missing(): Generator<MissingText> {
    for (let slot = 0; slot < this.#slots; slot += 1) {
      const copies = (this.#copies[slot] ?? 0) - 1;
      if (copies <= 0) continue;
      const at = slot * SLOT_BYTES;
      yield { rawHash: this.#hashes.toString('hex', at, at + HASH_BYTES), copies };
    }
  }

  /** The slot that holds the text, or the free one where it belongs. */
  #find(bytes: Buffer, offset: number): number {
    const hashes = this.#hashes;
    const end = offset + HASH_BYTES;
    // The first word begins with the reader's version, which is the same everywhere.
    const word = bytes.readUInt32LE(offset + 4);
    let slot = word % this.#slots;
    while (this.#copies[slot] !== 0) {
      const at = slot * SLOT_BYTES;
      const maybe = hashes.readUInt32LE(at + 4) === word;
      if (maybe && hashes.compare(bytes, offset, end, at, at + HASH_BYTES) === 0) return slot;
      slot = slot + 1 === this.#slots ? 0 : slot + 1;
    }
    return slot;
  }
}

/** Between two titles, where the platform writes no white space. */
const BOUNDARY = Buffer.from('},{"');

/**
 * Finds the titles of a response that the date has already in the same text. Such a title is counted and
 * added to the fold of the date. It is not read.
 *
 * After a known title, the next one is not even scanned. It probably ends at the next boundary between two
 * titles. If the bytes up to there are a known text, they are a whole JSON object, and no shorter prefix of
 * them is one. Otherwise the title is read as any other.
 */
export class KnownTexts {
  readonly #titles: KnownTitles;
  readonly #fold: TitleFold;
  #count = 0;
  #wasKnown = false;
  /** False where the rest of the chunk has none: it is searched once. */
  #hasBoundary = true;
  #chunk: Buffer = Buffer.alloc(0);

  /** @param fold the known titles are added to it */
  constructor(titles: KnownTitles, fold: TitleFold) {
    this.#titles = titles;
    this.#fold = fold;
  }

  /** Titles of the response that were known. */
  get count(): number {
    return this.#count;
  }

  /** Takes a title out of the known ones. Returns false where its text is not known. */
  take(textHash: Buffer): boolean {
    const contentHash = this.#titles.take(textHash);
    this.#wasKnown = contentHash !== null;
    if (contentHash === null) return false;
    this.#count += 1;
    this.#fold.addBytes(contentHash);
    return true;
  }

  open(chunk: Buffer): void {
    this.#chunk = chunk;
    this.#hasBoundary = true;
  }

  /** The end of the title that begins at `from` of the chunk; -1 where it is not a known one. */
  skipAt(from: number): number {
    if (!this.#wasKnown || !this.#hasBoundary || this.#chunk[from] !== OPEN_BRACE) return -1;
    const end = this.#chunk.indexOf(BOUNDARY, from) + 1;
    this.#hasBoundary = end > 0;
    return this.#hasBoundary && this.take(rawHash(this.#chunk.subarray(from, end))) ? end : -1;
  }
}
