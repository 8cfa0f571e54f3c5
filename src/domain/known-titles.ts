import { hash } from 'node:crypto';

/**
 * Part of every hash below. To be raised whenever the same text would be read to another title than
 * before: then no title counts as known, and each is read again.
 */
const READER_VERSION = 1;

const HASH_BYTES = 16;
const WORDS = HASH_BYTES / 4;
/** Of the slots; beyond it, the search for a free one grows long. */
const MAX_LOAD = 0.75;

/** Names a title's text: the reader's version, then 120 bits of the SHA-256 of its bytes. */
export function rawHash(text: Uint8Array): Buffer {
  // By way of a string it takes two thirds of the time.
  const digest = Buffer.from(hash('sha256', text, 'binary').slice(0, HASH_BYTES), 'binary');
  digest[0] = READER_VERSION;
  return digest;
}

/** A text that the dates have and the response does not, or fewer times. */
export interface MissingText {
  /** Place of its date in the list that the caller keeps. */
  readonly dateIndex: number;
  /** 32 hexadecimal digits. */
  readonly rawHash: string;
  readonly copies: number;
}

/**
 * The texts of titles that have been read before, each with the number of its copies. Reading a title
 * is a function of its text alone, so a text that stands here need not be read, checked or hashed field
 * by field a second time. What is left when the whole response was taken out of it is what the response
 * does not have.
 *
 * A hash table in typed arrays: 24 bytes a slot, nothing for the garbage collector to follow.
 */
export class KnownTitles {
  readonly #slots: number;
  readonly #keys: Uint32Array;
  readonly #copies: Uint32Array;
  /** 0: a free slot; else 1 + the text's date index. */
  readonly #dates: Uint16Array;

  /** @param titles how many will be added, at most */
  constructor(titles: number) {
    this.#slots = Math.ceil((titles + 1) / MAX_LOAD);
    this.#keys = new Uint32Array(this.#slots * WORDS);
    this.#copies = new Uint32Array(this.#slots);
    this.#dates = new Uint16Array(this.#slots);
  }

  /** Adds one copy of the text whose 16 bytes of hash begin at `offset`. */
  add(bytes: Buffer, offset: number, dateIndex: number): void {
    const slot = this.#find(bytes, offset);
    if (this.#dates[slot] === 0) {
      this.#dates[slot] = 1 + dateIndex;
      for (let word = 0; word < WORDS; word += 1) {
        this.#keys[slot * WORDS + word] = bytes.readUInt32BE(offset + 4 * word);
      }
    }
    this.#copies[slot] = (this.#copies[slot] ?? 0) + 1;
  }

  /** Takes one copy out. Returns its date's index, or -1 where no copy is left. */
  take(textHash: Buffer): number {
    const slot = this.#find(textHash, 0);
    const copies = this.#copies[slot] ?? 0;
    if (copies === 0) return -1;
    this.#copies[slot] = copies - 1;
    return (this.#dates[slot] ?? 0) - 1;
  }

  /** What has not been taken. */
  *missing(): Generator<MissingText> {
    const bytes = Buffer.alloc(HASH_BYTES);
    for (let slot = 0; slot < this.#slots; slot += 1) {
      const copies = this.#copies[slot] ?? 0;
      if (copies === 0) continue;
      for (let word = 0; word < WORDS; word += 1) {
        bytes.writeUInt32BE(this.#keys[slot * WORDS + word] ?? 0, 4 * word);
      }
      const dateIndex = (this.#dates[slot] ?? 0) - 1;
      yield { dateIndex, rawHash: bytes.toString('hex'), copies };
    }
  }

  /** The slot that holds the text, or the free one where it belongs. */
  #find(bytes: Buffer, offset: number): number {
    const first = bytes.readUInt32BE(offset);
    const second = bytes.readUInt32BE(offset + 4);
    const third = bytes.readUInt32BE(offset + 8);
    const fourth = bytes.readUInt32BE(offset + 12);
    // The first word begins with the reader's version, which is the same everywhere.
    let slot = second % this.#slots;
    while (this.#dates[slot] !== 0) {
      const key = slot * WORDS;
      if (
        this.#keys[key + 1] === second &&
        this.#keys[key + 2] === third &&
        this.#keys[key + 3] === fourth &&
        this.#keys[key] === first
      ) {
        return slot;
      }
      slot = slot + 1 === this.#slots ? 0 : slot + 1;
    }
    return slot;
  }
}
