import type { CivilDate } from './business-day.ts';
import { newestContentVersion } from './title.ts';

/** Of 16 bits each, as 16 bytes of a hash are. */
const LANES = 8;
const LANE_BITS = 16n;
const HASH_BITS = 128;

/**
 * The titles of a date in two numbers: their count, and the sum modulo 2^128 of their content hashes. Two
 * folds are equal where the titles are equal as multisets, whatever their order and formatting. A sum, and
 * not an exclusive or, because two copies of a title would cancel each other in the latter.
 *
 * Carries are left until the fold is read. A lane is exact up to 2^37 titles.
 */
export class TitleFold {
  /** Of the content hashes; see `CONTENT_VERSIONS`. */
  readonly version: number;
  readonly #lanes = new Float64Array(LANES);
  #count = 0;

  constructor(version: number) {
    this.version = version;
  }

  get count(): number {
    return this.#count;
  }

  /** @param digest a content hash as its 16 bytes, each as a character; what follows is ignored */
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
  readonly #versions: ReadonlyMap<CivilDate, number>;
  readonly #byDate = new Map<CivilDate, TitleFold>();

  /** @param versions of the content hashes of dates; all others have the newest */
  constructor(versions: ReadonlyMap<CivilDate, number> = new Map()) {
    this.#versions = versions;
  }

  /** The fold of the date, which is one of no titles until some are added. */
  at(date: CivilDate): TitleFold {
    let fold = this.#byDate.get(date);
    if (fold === undefined) {
      fold = new TitleFold(this.#versions.get(date) ?? newestContentVersion());
      this.#byDate.set(date, fold);
    }
    return fold;
  }
}
