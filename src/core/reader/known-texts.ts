import { type KnownTitles, rawHash } from '../title/known-titles.ts';
import type { TitleFold } from '../title/title-fold.ts';
import { OPEN_BRACE } from './json-bytes.ts';

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
