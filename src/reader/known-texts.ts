import { type KnownTitles, rawHash } from '../domain/known-titles.ts';
import type { TitleFold } from '../domain/title-fold.ts';
import { CLOSE_BRACE, COMMA, isSpace, OPEN_BRACE } from './json-bytes.ts';

/** How much of the second title the boundary between two may hold. */
const BOUNDARY_HEAD_BYTES = 8;
const MAX_BOUNDARY_BYTES = 64;

/**
 * Tells which titles of an answer the table has already, in the same text. Such a title is counted,
 * and need not be read.
 *
 * Where the last title was known, the next need not even be scanned. Titles of one answer follow each
 * other in one way, so the next boundary of that kind is likely to be where the title ends. If the
 * bytes up to there are a known text, they are a whole JSON object, and no byte before the last can
 * have been the end of one; if not, the title is read as any other.
 */
export class KnownTexts {
  readonly #titles: KnownTitles;
  readonly #fold: TitleFold;
  #count = 0;
  #wasKnown = false;
  #chunk: Buffer = Buffer.alloc(0);
  /** What stood between two titles, the brackets included. */
  #boundary: Buffer | null = null;

  /** @param fold takes the contents of the titles that are known */
  constructor(titles: KnownTitles, fold: TitleFold) {
    this.#titles = titles;
    this.#fold = fold;
  }

  /** Titles of the response that were known. */
  get count(): number {
    return this.#count;
  }

  /** Whether the title of that text is known; if so, it is counted. */
  take(textHash: Buffer): boolean {
    const contentHash = this.#titles.take(textHash);
    this.#wasKnown = contentHash !== null;
    if (contentHash === null) return false;
    this.#count += 1;
    this.#fold.addBytes(contentHash);
    return true;
  }

  openChunk(chunk: Uint8Array): void {
    this.#chunk = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
  }

  /** Where the title that begins at `from` of the chunk ends, if it is known; else -1. */
  skipAt(from: number): number {
    if (!this.#wasKnown || this.#chunk[from] !== OPEN_BRACE) return -1;
    const found = this.#boundary === null ? -1 : this.#chunk.indexOf(this.#boundary, from);
    const end = found + 1;
    if (found !== -1 && this.take(rawHash(this.#chunk.subarray(from, end)))) return end;
    this.#learnBoundary(from);
    return -1;
  }

  /** Before a title stand the end of another and a comma, or it is the first. */
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

/** The index of the last byte before `index` that is no whitespace. */
function lastBefore(bytes: Buffer, index: number): number {
  let at = index - 1;
  while (at >= 0 && isSpace(bytes[at] ?? 0)) at -= 1;
  return at;
}
