const FIRST_SLOTS = 4096;
const GROWTH = 4;
/** Of the slots of a table; beyond it, the next one is filled. */
const MAX_LOAD = 0.75;

/**
 * Numbers titles among those of equal identity, from 1, in the order in which they come. Hardly any
 * identity comes twice, so of each no more is kept than 32 bits in a slot that others of its bits chose.
 * Should two identities ever agree in these, the second begins with 2, which harms nobody.
 *
 * A full table stays, and the next is larger: what the slots do not hold could not be put elsewhere, and
 * nothing is copied while a response is read.
 */
export class Occurrences {
  readonly #tables: Uint32Array[] = [];
  #open = new Uint32Array(FIRST_SLOTS);
  #openSize = 0;
  /** The last number given, by identity, of those that came twice. */
  readonly #repeated = new Map<string, number>();

  /** @param identityHash 32 hexadecimal digits */
  next(identityHash: string): number {
    const place = Number.parseInt(identityHash.slice(0, 8), 16);
    // A slot of zero is free.
    const kept = Number.parseInt(identityHash.slice(8, 16), 16) || 1;
    if (this.#tables.every((table) => table[findSlot(table, place, kept)] === 0)) {
      const slot = findSlot(this.#open, place, kept);
      if (this.#open[slot] === 0) {
        this.#fill(slot, kept);
        return 1;
      }
    }
    const occurrence = (this.#repeated.get(identityHash) ?? 1) + 1;
    this.#repeated.set(identityHash, occurrence);
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

/** Where it is, or the free slot that says that it is not there. The slots are a power of two. */
function findSlot(table: Uint32Array, place: number, kept: number): number {
  const mask = table.length - 1;
  let slot = place & mask;
  while (table[slot] !== 0 && table[slot] !== kept) slot = (slot + 1) & mask;
  return slot;
}
