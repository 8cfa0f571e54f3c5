import type { CivilDate } from '../../base/values/business-day.ts';

/** Lanes of 16 bits, which make up the 16 bytes of a hash. */
const LANES = 8;
const LANE_BITS = 16n;
const HASH_BITS = 128;

/**
 * The titles of a date as their count and the sum modulo 2^128 of their content hashes. Two folds
 * are equal if the titles are equal as multisets, in any order and formatting. With an exclusive
 * or, two copies of a title would cancel each other. Carries are propagated when the fold is read.
 * A lane is exact up to 2^37 titles.
 */
export class TitleFold {
  readonly #lanes = new Float64Array(LANES);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** @param digest the 16 bytes of a content hash, each as a character; further characters are ignored */
  add(digest: string): void {
    const lanes = this.#lanes;
    for (let lane = 0; lane < LANES; lane++) {
      const value = 256 * digest.charCodeAt(2 * lane) + digest.charCodeAt(2 * lane + 1);
      lanes[lane] = (lanes[lane] as number) + value;
    }
    this.#count += 1;
  }

  /** @param hash a content hash as its 16 bytes */
  addBytes(hash: Uint8Array): void {
    const lanes = this.#lanes;
    for (let lane = 0; lane < LANES; lane++) {
      const value = 256 * (hash[2 * lane] as number) + (hash[2 * lane + 1] as number);
      lanes[lane] = (lanes[lane] as number) + value;
    }
    this.#count += 1;
  }

  /** @param hash a content hash as 32 hexadecimal digits */
  addDigits(hash: string): void {
    this.add(Buffer.from(hash, 'hex').toString('latin1'));
  }

  /** The sum, as 32 hexadecimal digits. */
  toText(): string {
    let sum = 0n;
    for (const lane of this.#lanes) sum = (sum << LANE_BITS) + BigInt(lane);
    return BigInt.asUintN(HASH_BITS, sum).toString(16).padStart(32, '0');
  }
}

/** The fold of each date of a response. */
export class TitleFolds {
  readonly #byDate = new Map<CivilDate, TitleFold>();

  /** Returns the fold of the date, which is initially empty. */
  at(date: CivilDate): TitleFold {
    let fold = this.#byDate.get(date);
    if (fold === undefined) {
      fold = new TitleFold();
      this.#byDate.set(date, fold);
    }
    return fold;
  }
}
