const WORDS = 2;
const FIRST_SLOTS = 1024;
/** Of the slots; beyond it, there are twice as many. */
const MAX_LOAD = 0.5;

/**
 * Numbers titles among those of equal identity, from 1, in the order in which they come. Hardly any
 * identity comes twice, so of each no more than 64 bits are kept, in a hash table of 8 bytes a slot.
 * Should two identities ever agree in these, the second begins with 2, which harms nobody.
 */
export class Occurrences {
  #keys = new Uint32Array(FIRST_SLOTS * WORDS);
  #size = 0;
  /** The last number given, by identity, of those that came twice. */
  readonly #repeated = new Map<string, number>();

  /** @param identityHash 32 hexadecimal digits */
  next(identityHash: string): number {
    const high = Number.parseInt(identityHash.slice(0, 8), 16);
    // A slot of two zeros is free.
    const low = Number.parseInt(identityHash.slice(8, 16), 16) || 1;
    if (this.#add(high, low)) return 1;
    const occurrence = (this.#repeated.get(identityHash) ?? 1) + 1;
    this.#repeated.set(identityHash, occurrence);
    return occurrence;
  }

  /** False where it is there already. */
  #add(high: number, low: number): boolean {
    const keys = this.#keys;
    const slots = keys.length / WORDS;
    let slot = low % slots;
    while (keys[slot * WORDS + 1] !== 0) {
      if (keys[slot * WORDS] === high && keys[slot * WORDS + 1] === low) return false;
      slot = (slot + 1) % slots;
    }
    keys[slot * WORDS] = high;
    keys[slot * WORDS + 1] = low;
    this.#size += 1;
    if (this.#size > slots * MAX_LOAD) this.#grow();
    return true;
  }

  #grow(): void {
    const keys = this.#keys;
    this.#keys = new Uint32Array(2 * keys.length);
    this.#size = 0;
    for (let at = 0; at < keys.length; at += WORDS) {
      const low = keys[at + 1] as number;
      if (low !== 0) this.#add(keys[at] as number, low);
    }
  }
}
