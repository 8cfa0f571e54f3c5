const FIRST_SLOTS = 4096;
const GROWTH = 4;
/** A table is full at this share of its slots. */
const MAX_LOAD = 0.75;

/**
 * Numbers the titles of equal identity, from 1, in the order in which they are read. Few identities come
 * twice, so only 32 bits of each identity are kept, in a slot that other bits of it select. The first
 * title of an identity gets number 2 if all these bits agree with another identity's; that is allowed.
 *
 * A full table is kept, and a larger one takes the next identities: its entries cannot be moved, because
 * the bits that select the slot are not kept.
 */
export class Occurrences {
  readonly #tables: Uint32Array[] = [];
  #open = new Uint32Array(FIRST_SLOTS);
  #openSize = 0;
  /** By identity that came twice: the last number. */
  readonly #repeated = new Map<string, number>();
  #repeats = 0;

  /** The number of titles that came after another one of their identity. */
  get repeats(): number {
    return this.#repeats;
  }

  /**
   * Counts one more title of the identity.
   *
   * @param identityHash a character for each of its 16 bytes
   * @returns its number
   */
  next(identityHash: string): number {
    const place = wordAt(identityHash, 0);
    // Zero marks a free slot.
    const kept = wordAt(identityHash, 4) || 1;
    if (this.#tables.every((table) => table[findSlot(table, place, kept)] === 0)) {
      const slot = findSlot(this.#open, place, kept);
      if (this.#open[slot] === 0) {
        this.#fill(slot, kept);
        return 1;
      }
    }
    const occurrence = (this.#repeated.get(identityHash) ?? 1) + 1;
    this.#repeated.set(identityHash, occurrence);
    this.#repeats += 1;
    return occurrence;
  }

  #fill(slot: number, kept: number): void {
    this.#open[slot] = kept;
    this.#openSize += 1;
    if (this.#openSize < this.#open.length * MAX_LOAD) return;
    this.#tables.push(this.#open);
    this.#open = new Uint32Array(GROWTH * this.#open.length);
    this.#openSize = 0;
  }
}

/** The slot of the identity, or the free slot where it belongs. The number of slots is a power of two. */
function findSlot(table: Uint32Array, place: number, kept: number): number {
  const mask = table.length - 1;
  let slot = place & mask;
  while (table[slot] !== 0 && table[slot] !== kept) slot = (slot + 1) & mask;
  return slot;
}

/** Four bytes as a number. */
function wordAt(bytes: string, at: number): number {
  const low = bytes.charCodeAt(at) | (bytes.charCodeAt(at + 1) << 8);
  return (low | (bytes.charCodeAt(at + 2) << 16) | (bytes.charCodeAt(at + 3) << 24)) >>> 0;
}
