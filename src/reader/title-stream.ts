/**
 * From the bytes of a conciliation answer, `{"titles":[…]}`, to its titles, one by one, while the
 * answer is still arriving. Nobody knows how large an answer is, so nothing here grows with it: at
 * any moment one title and one chunk are held.
 *
 * A title is only cut out here. What it says is read by `parseExactJson`, title by title, so that one
 * unreadable title is quarantined and the day is not lost. The frame around the titles gets no such
 * mercy: whether an answer is whole can be told from nothing but its structure, so every byte of it
 * is checked, and the first violation ends the pull.
 */
import { toDisplayText } from '../domain/display-text.ts';
import { PlatformContractError } from '../runtime/errors.ts';
import { reachFaultPoint } from '../runtime/fault-points.ts';
import { ByteCapture } from './byte-capture.ts';
import { OPEN_BRACKET } from './json-bytes.ts';
import { JsonScanner } from './json-scanner.ts';
import { ScanEvent } from './json-states.ts';

/** A title is well under 2 kB; one beyond this is handed out cut, to be rejected. */
export const MAX_TITLE_BYTES = 1024 * 1024;

const MAX_OTHER_FIELDS = 100;
const MAX_FIELD_NAME_LENGTH = 200;
/** A character of a name takes at most six bytes: `\u0074`. */
const MAX_FIELD_NAME_BYTES = 6 * MAX_FIELD_NAME_LENGTH;

/** One element of the answer's `titles`: any JSON value, grammatical but otherwise unread. */
export interface RawTitle {
  /** Its place in the answer, from 0. */
  readonly ordinal: number;
  /**
   * The value's bytes as they came; their first `MAX_TITLE_BYTES` where `truncated`. May share memory
   * with the chunk that was pushed.
   */
  readonly bytes: Buffer;
  /** Of the whole value, also where `truncated`. */
  readonly byteLength: number;
  readonly truncated: boolean;
}

/** Reads most titles where they stand, before anybody has looked for their end. */
export interface TitleShortcut {
  /** Before the titles of a chunk. */
  openChunk(chunk: Uint8Array): void;
  /** Reads the title at `from` of the chunk. Returns its end, or -1 where it was not read. */
  readAt(from: number, ordinal: number): number;
  /** Reads a title that was cut out. Returns whether it was read. */
  readWhole(bytes: Uint8Array, ordinal: number): boolean;
}

/**
 * Reads one answer. Push its chunks in order, then call `end`. Chunks may be of any size, and must
 * not be written to while titles read from them are in use.
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

  /** @param shortcut is offered every title; what it reads is not handed out */
  constructor(shortcut: TitleShortcut | null = null) {
    this.#shortcut = shortcut;
  }

  get titlesRead(): number {
    return this.#titlesRead;
  }

  /**
   * Names of root fields other than `titles`, as drift: the first 100, shortened to 200 characters,
   * unprintable characters replaced.
   */
  get otherFields(): ReadonlySet<string> {
    return this.#otherFields;
  }

  /**
   * The titles that this chunk completed, without those that the shortcut has read. Throws a
   * PlatformContractError at the first byte that breaks JSON's grammar or the answer's documented
   * frame, and again on every later call.
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
   * Says that no chunk follows. Throws a PlatformContractError whose context has `complete: false`
   * where the document is not closed, as after a cut transfer, and `complete: true` where it is
   * closed and had no `titles`.
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
    /** Copying the chunk is worth it only where a title begins in it. */
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
    // The scanner has checked the name's grammar and UTF-8. Decoding its escapes is what tells
    // "\u0074itles" for what it is.
    const name = JSON.parse(`"${bytes.toString('utf8')}"`) as string;
    if (name !== 'titles') {
      this.#addOtherField(toDisplayText(name, MAX_FIELD_NAME_LENGTH));
    } else if (this.#titles === 'unseen') {
      this.#titles = 'named';
    } else {
      // Which of the two is the day? Nobody knows, so neither is.
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

  /** Returns where to go on, given the index behind the title's first byte. */
  #beginTitle(index: number): number {
    const end = this.#shortcut?.readAt(index - 1, this.#titlesRead) ?? -1;
    if (end !== -1) {
      this.#titlesRead++;
      this.#scanner.closeContainer();
      return end;
    }
    this.#title.begin(index - 1);
    // A title with broken text is that title's fault, and its own check says where.
    this.#scanner.checksUtf8 = false;
    return index;
  }

  #finishTitle(chunk: Uint8Array, end: number, titles: RawTitle[]): void {
    this.#scanner.checksUtf8 = true;
    const { isWhole } = this.#title;
    const { bytes, byteLength } = this.#title.finish(chunk, end);
    const ordinal = this.#titlesRead++;
    const truncated = byteLength > bytes.length;
    // What the chunk held as a whole has been offered already.
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
