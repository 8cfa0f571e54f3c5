import { type KnownTitles, rawHash } from '../domain/known-titles.ts';
import type { TitleFold } from '../domain/title-fold.ts';
import { CLOSE_BRACE, COMMA, isSpace, OPEN_BRACE } from './json-bytes.ts';

/** Bytes of the second title that are part of a boundary. */
const BOUNDARY_HEAD_BYTES = 8;
const MAX_BOUNDARY_BYTES = 64;

/**
 * Finds the titles of a response that the date has already in the same text. Such a title is counted and
 * added to the fold of the date. It is not read.
 *
 * After a known title, the next one is not even scanned. The bytes between two titles are usually the same
 * throughout a response, so the title probably ends at the next boundary of that kind. If the bytes up to
 * there are a known text, they are a whole JSON object, and no shorter prefix of them is one. Otherwise
 * the title is read as any other.
 */
export class KnownTexts {
  readonly #titles: KnownTitles;
  readonly #fold: TitleFold;
  #count = 0;
  #wasKnown = false;
  #chunk: Buffer = Buffer.alloc(0);
  /** The bytes between two titles, with the closing brace before and the first bytes after them. */
  #boundary: Buffer | null = null;

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
  }

  /** The end of the title that begins at `from` of the chunk; -1 where it is not a known one. */
  skipAt(from: number): number {
    if (!this.#wasKnown || this.#chunk[from] !== OPEN_BRACE) return -1;
    const found = this.#boundary === null ? -1 : this.#chunk.indexOf(this.#boundary, from);
    const end = found + 1;
    if (found !== -1 && this.take(rawHash(this.#chunk.subarray(from, end)))) return end;
    this.#learnBoundary(from);
    return -1;
  }

  /** Remembers the bytes before the title, unless it is the first one. */
  #learnBoundary(from: number): void {
    const chunk = this.#chunk;
    const comma = lastBefore(chunk, from);
    const start = chunk[comma] === COMMA ? lastBefore(chunk, comma) : -1;
    const end = from + BOUNDARY_HEAD_BYTES;
    if (chunk[start] !== CLOSE_BRACE || end > chunk.length || end - start > MAX_BOUNDARY_BYTES) {
      return;
    }
    this.#boundary = Buffer.from(chunk.subarray(start, end));
  }
}

/** The index of the last byte before `index` that is not whitespace. */
function lastBefore(bytes: Buffer, index: number): number {
  let at = index - 1;
  while (at >= 0 && isSpace(bytes[at] ?? 0)) at -= 1;
  return at;
}
