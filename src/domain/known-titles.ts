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

/** A text that the date has and the response does not, or fewer times. */
export interface MissingText {
  /** 32 hexadecimal digits. */
  readonly rawHash: string;
  readonly copies: number;
}

/**
 * The texts of a date's titles, which have been read before, each with the number of its copies and the
 * hash of its content. Reading a title is a function of its text alone, so a text that is known need not
 * be read, checked or hashed field by field a second time. The response lacks the copies that are left
 * when the whole response was taken out.
 *
 * A hash table in typed arrays: 36 bytes a slot, nothing for the garbage collector to follow.
 */
export class KnownTitles {
  readonly #slots: number;
  readonly #keys: Uint32Array;
  readonly #contents: Uint8Array;
  /** One more than the copies that are left; 0: a free slot. */
  readonly #copies: Uint32Array;

  /** @param titles how many will be added, at most */
  constructor(titles: number) {
    this.#slots = Math.ceil((titles + 1) / MAX_LOAD);
    this.#keys = new Uint32Array(this.#slots * WORDS);
    this.#contents = new Uint8Array(this.#slots * HASH_BYTES);
    this.#copies = new Uint32Array(this.#slots);
  }

  /** Adds one copy of a text. Its hash and the hash of its content begin at the offsets. */
  add(bytes: Buffer, rawHashOffset: number, contentHashOffset: number): void {
    const slot = this.#find(bytes, rawHashOffset);
    if (this.#copies[slot] === 0) {
      this.#copies[slot] = 1;
      for (let word = 0; word < WORDS; word += 1) {
        this.#keys[slot * WORDS + word] = bytes.readUInt32BE(rawHashOffset + 4 * word);
      }
      const content = bytes.subarray(contentHashOffset, contentHashOffset + HASH_BYTES);
      this.#contents.set(content, slot * HASH_BYTES);
    }
    this.#copies[slot] = (this.#copies[slot] ?? 0) + 1;
  }

  /** Takes one copy out. Returns the 16 bytes of its content hash, or null where no copy is left. */
  take(textHash: Buffer): Uint8Array | null {
    const slot = this.#find(textHash, 0);
    const copies = this.#copies[slot] ?? 0;
    if (copies <= 1) return null;
    this.#copies[slot] = copies - 1;
    return this.#contents.subarray(slot * HASH_BYTES, (slot + 1) * HASH_BYTES);
  }

  /** The copies that have not been taken. */
  *missing(): Generator<MissingText> {
    const bytes = Buffer.alloc(HASH_BYTES);
    for (let slot = 0; slot < this.#slots; slot += 1) {
      const copies = (this.#copies[slot] ?? 0) - 1;
      if (copies <= 0) continue;
      for (let word = 0; word < WORDS; word += 1) {
        bytes.writeUInt32BE(this.#keys[slot * WORDS + word] ?? 0, 4 * word);
      }
      yield { rawHash: bytes.toString('hex'), copies };
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
    while (this.#copies[slot] !== 0) {
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
