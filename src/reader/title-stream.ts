/**
 * Cuts the titles out of a conciliation response, `{"titles":[…]}`, while it arrives. The size of a response
 * is not known in advance, so memory does not grow with it: one title and one chunk are held at a time.
 *
 * The content of a title is not read here. `parseExactJson` reads it, title by title, so that an unreadable
 * title becomes a reject and the others are merged. The structure around the titles is checked byte by
 * byte, because only the structure shows that a response is whole. Its first violation ends the pull.
 */
import { toDisplayText } from '../domain/display-text.ts';
import type { ConciliationResponse } from '../platform/conciliation-client.ts';
import { PlatformContractError, PlatformUnavailableError } from '../runtime/errors.ts';
import { reachFaultPoint } from '../runtime/fault-points.ts';
import { takeTurns } from '../runtime/turns.ts';
import { ByteCapture } from './byte-capture.ts';
import { OPEN_BRACKET } from './json-bytes.ts';
import { JsonScanner } from './json-scanner.ts';
import { ScanEvent } from './json-states.ts';

/** A title has less than 2 kB. A longer one than this is handed out truncated, and is rejected. */
export const MAX_TITLE_BYTES = 1024 * 1024;

const MAX_OTHER_FIELDS = 100;
const MAX_FIELD_NAME_LENGTH = 200;
/** A character of a name takes at most six bytes: `\u0074`. */
const MAX_FIELD_NAME_BYTES = 6 * MAX_FIELD_NAME_LENGTH;

/** One element of the response's `titles`: a JSON value that was not read. */
export interface RawTitle {
  /** Its position in `titles`, from 0. */
  readonly ordinal: number;
  /**
   * The bytes of the value; the first `MAX_TITLE_BYTES` where `truncated`. May share memory with the chunk
   * that was pushed.
   */
  readonly bytes: Buffer;
  /** The length of the whole value. */
  readonly byteLength: number;
  readonly truncated: boolean;
}

/** Reads titles in place, without a search for their end before. */
export interface TitleShortcut {
  /** Called before the first title of a chunk. */
  openChunk(chunk: Uint8Array): void;
  /** Reads the title at `from` of the chunk. Returns its end; -1 where it was not read. */
  readAt(from: number, ordinal: number): number;
  /** Reads a title that was cut out. Returns whether it was read. */
  readWhole(bytes: Uint8Array, ordinal: number): boolean;
}

/**
 * Reads one response. Push its chunks in order, then call `end`. Chunks may have any size. They must not be
 * written to while titles read from them are in use.
 */
export class TitleReader {
  readonly #shortcut: TitleShortcut | null;
  readonly #scanner = new JsonScanner();
  readonly #name = new ByteCapture(MAX_FIELD_NAME_BYTES);
  readonly #title = new ByteCapture(MAX_TITLE_BYTES);
  readonly #otherFields = new Set<string>();
  #titles: 'unseen' | 'named' | 'open' | 'closed' = 'unseen';
  #titlesRead = 0;
  #failure: unknown = null;

  /** @param shortcut is offered every title. A title that it reads is not handed out. */
  constructor(shortcut: TitleShortcut | null = null) {
    this.#shortcut = shortcut;
  }

  get titlesRead(): number {
    return this.#titlesRead;
  }

  /**
   * Names of root fields other than `titles`, to be reported as drift: the first 100, shortened to 200
   * characters, with unprintable characters replaced.
   */
  get otherFields(): ReadonlySet<string> {
    return this.#otherFields;
  }

  /**
   * @returns the titles that this chunk completes, without those that the shortcut has read
   * @throws PlatformContractError at the first byte that violates JSON's grammar or the documented structure,
   *   and on every later call
   */
  push(chunk: Uint8Array): RawTitle[] {
    if (this.#failure !== null) throw this.#failure;
    try {
      return this.#read(chunk);
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  /**
   * To be called after the last chunk.
   *
   * @throws PlatformContractError with `complete: false` in its context where the document is not closed, as
   *   after a cut transfer, and with `complete: true` where the closed document has no `titles`
   */
  end(): void {
    if (this.#failure !== null) throw this.#failure;
    const offset = this.#scanner.offsetOf(0);
    if (!this.#scanner.isComplete) {
      throw new PlatformContractError(`the answer ends early, at byte ${offset}`, {
        context: { offset, complete: false },
      });
    }
    if (this.#titles !== 'closed') {
      throw new PlatformContractError("the answer has no field 'titles'", {
        context: { offset, complete: true },
      });
    }
  }

  #read(chunk: Uint8Array): RawTitle[] {
    const scanner = this.#scanner;
    const titles: RawTitle[] = [];
    /** The shortcut gets a chunk only if a title begins in it, because it may copy the chunk. */
    let isOpen = false;
    let from = 0;
    for (;;) {
      const event = scanner.scan(chunk, from);
      from = scanner.position;
      switch (event) {
        case ScanEvent.valueStart:
          if (this.#titles === 'open') {
            if (!isOpen) this.#shortcut?.openChunk(chunk);
            isOpen = true;
            from = this.#beginTitle(from);
          } else if (this.#titles === 'named') this.#openTitles(chunk, from - 1);
          break;
        case ScanEvent.valueEnd:
          if (this.#title.isActive) this.#finishTitle(chunk, from, titles);
          else if (this.#titles === 'open') this.#closeTitles();
          break;
        case ScanEvent.nameStart:
          this.#name.begin(from);
          break;
        case ScanEvent.nameEnd:
          this.#nameField(chunk, from - 1);
          break;
        case ScanEvent.chunkEnd:
          this.#name.endChunk(chunk);
          this.#title.endChunk(chunk);
          return titles;
      }
    }
  }

  #nameField(chunk: Uint8Array, end: number): void {
    const { bytes, byteLength } = this.#name.finish(chunk, end);
    if (byteLength > MAX_FIELD_NAME_BYTES) {
      this.#addOtherField(`(a name of more than ${MAX_FIELD_NAME_BYTES} bytes)`);
      return;
    }
    // The scanner has checked grammar and UTF-8. The name may have escapes: "\u0074itles" is 'titles'.
    const name = JSON.parse(`"${bytes.toString('utf8')}"`) as string;
    if (name !== 'titles') {
      this.#addOtherField(toDisplayText(name, MAX_FIELD_NAME_LENGTH));
    } else if (this.#titles === 'unseen') {
      this.#titles = 'named';
    } else {
      // Either of the two could be the titles of the date, so neither is taken.
      throw this.#violation("a second field 'titles'", end);
    }
  }

  #addOtherField(name: string): void {
    if (this.#otherFields.size < MAX_OTHER_FIELDS) this.#otherFields.add(name);
  }

  #openTitles(chunk: Uint8Array, index: number): void {
    if (chunk[index] !== OPEN_BRACKET) throw this.#violation("'titles' is not an array", index);
    this.#titles = 'open';
    this.#scanner.reportDepth = 2;
  }

  #closeTitles(): void {
    reachFaultPoint('before-closing-bracket');
    this.#titles = 'closed';
    this.#scanner.reportDepth = 1;
  }

  /** @returns the index to continue at, given the index after the title's first byte */
  #beginTitle(index: number): number {
    const end = this.#shortcut?.readAt(index - 1, this.#titlesRead) ?? -1;
    if (end !== -1) {
      this.#titlesRead++;
      this.#scanner.closeContainer();
      return end;
    }
    this.#title.begin(index - 1);
    // Invalid UTF-8 within a title rejects this title only. `parseExactJson` finds it.
    this.#scanner.checksUtf8 = false;
    return index;
  }

  #finishTitle(chunk: Uint8Array, end: number, titles: RawTitle[]): void {
    this.#scanner.checksUtf8 = true;
    const { isWhole } = this.#title;
    const { bytes, byteLength } = this.#title.finish(chunk, end);
    const ordinal = this.#titlesRead++;
    const truncated = byteLength > bytes.length;
    // A title within one chunk was offered by `readAt`.
    if (!isWhole && !truncated && this.#shortcut?.readWhole(bytes, ordinal) === true) return;
    titles.push({ ordinal, bytes, byteLength, truncated });
  }

  #violation(what: string, index: number): PlatformContractError {
    const offset = this.#scanner.offsetOf(index);
    return new PlatformContractError(`the answer is not valid: ${what}, at byte ${offset}`, {
      context: { offset },
    });
  }
}

/** The part of a response that was read so far. */
export interface PullProgress {
  readonly titles: number;
  readonly bytes: number;
}

/**
 * Cuts the titles out of a response. Yields once for each chunk the titles that `reader` hands out; those
 * that its shortcut has read are not among them. Ends well only when the document has closed and the
 * transfer has ended cleanly.
 *
 * @throws PlatformContractError when the response is not the documented document
 * @throws PlatformUnavailableError when the transfer broke off
 */
export async function* cutTitles(
  response: ConciliationResponse,
  reader: TitleReader,
  onProgress?: (progress: PullProgress) => void,
): AsyncGenerator<RawTitle[]> {
  const giveTurn = takeTurns();
  for await (const chunk of response.chunks) {
    reachFaultPoint('mid-body');
    const titles = reader.push(chunk);
    onProgress?.({ titles: reader.titlesRead, bytes: response.bytesReceived() });
    yield titles;
    await giveTurn();
  }
  endDocument(reader, response.bytesReceived());
}

/**
 * A response that ends in the middle of its document was cut, even where the transfer ended cleanly: a
 * body that ends with its connection has no other sign of being whole.
 */
function endDocument(reader: TitleReader, bytesReceived: number): void {
  try {
    reader.end();
  } catch (error) {
    if (
      error instanceof PlatformContractError &&
      error.context['complete'] === false &&
      bytesReceived > 0
    ) {
      throw new PlatformUnavailableError(
        `the transfer was cut: the document was still open after ${bytesReceived} bytes`,
        { cause: error },
      );
    }
    throw error;
  }
}
