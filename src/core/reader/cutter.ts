/**
 * Cuts the titles out of a conciliation response, `{"titles":[…]}`, while it arrives. The size of a response
 * is not known in advance, so memory does not grow with it: one title and one chunk are held at a time.
 *
 * The cutter follows strings and brackets only. `JSON.parse` checks the grammar: of each title when the title
 * is read, and of all bytes outside of the titles at the end. Either fault fails the whole response, because
 * only the structure shows that a response is whole.
 */

import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PlatformContractError, PlatformUnavailableError } from '../../base/runtime/errors.ts';
import { reachFaultPoint } from '../../base/runtime/fault-points.ts';
import { toDisplayText } from '../../base/values/field-fault.ts';
import type { ConciliationResponse } from '../platform/conciliation-client.ts';
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON_SIGN,
  COMMA,
  isSpace,
  OPEN_BRACE,
  OPEN_BRACKET,
  PADDING_BYTES,
  QUOTE,
} from './json-bytes.ts';

/** A title has less than 2 kB. A longer one than this is handed out truncated, and is rejected. */
export const MAX_TITLE_BYTES = 1024 * 1024;
/** Of everything but the titles and the white space and commas between them. */
const MAX_FRAME_BYTES = 1024 * 1024;
const MAX_OTHER_FIELDS = 100;
const MAX_FIELD_NAME_LENGTH = 200;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** One element of the response's `titles`: a JSON value that was not read. */
export interface RawTitle {
  /** Its position in `titles`, from 0. */
  readonly ordinal: number;
  /** The bytes of the value; the first `MAX_TITLE_BYTES` where `truncated`. The next `push` overwrites them. */
  readonly bytes: Buffer;
  /** The length of the whole value. */
  readonly byteLength: number;
  readonly truncated: boolean;
  /** Its first byte in the document. */
  readonly offset: number;
}

/** Reads titles in place, without a search for their end before. */
export interface TitleShortcut {
  /** Called for every chunk. The last `PADDING_BYTES` of the window are zeros. */
  open(window: Buffer): void;
  /** Reads the title at `from` of the window. Returns its end; -1 where it was not read. */
  readAt(from: number, ordinal: number): number;
}

/** The cutter is outside of the titles; or before the first title, before another, in one, or after one. */
type Place = 'frame' | 'first' | 'next' | 'title' | 'after';

/** Reads one response. Push its chunks in order, then call `end`. Chunks may have any size. */
export class TitleCutter {
  readonly #shortcut: TitleShortcut | null;
  readonly #otherFields = new Set<string>();
  /** What is held of a title or of the frame, from `#start`, and the last chunk, up to `#end`. */
  #window = Buffer.alloc(0);
  #start = 0;
  #end = 0;
  /** The next byte to look at. Beyond `#end` by 1 after a backslash there. */
  #at = 0;
  /** The offset in the document of the window's first byte. */
  #base = 0;
  #place: Place = 'frame';
  /** Open containers: of the document in the frame, otherwise of the title. */
  #depth = 0;
  #inString = false;
  #hasRoot = false;
  /** The last string of the frame, from `#start` on. */
  #nameStart = 0;
  #nameEnd = 0;
  /** Whether the colon after `titles` is the last byte. */
  #isAtTitles = false;
  #hasTitles = false;
  /** The frame up to the titles. */
  #head = Buffer.alloc(0);
  #titlesRead = 0;
  #titleOffset = 0;
  /** Bytes of the title that were cut off. */
  #dropped = 0;
  #isResumed = false;

  /** @param shortcut is offered every title. A title that it reads is not handed out. */
  constructor(shortcut: TitleShortcut | null = null) {
    this.#shortcut = shortcut;
  }

  get titlesRead(): number {
    return this.#titlesRead;
  }

  /**
   * Names of root fields other than `titles`, to be reported as drift: the first 100, shortened to 200
   * characters, with unprintable characters replaced. Complete after `end`.
   */
  get otherFields(): ReadonlySet<string> {
    return this.#otherFields;
  }

  /**
   * Yields the titles that this chunk completes, without those that the shortcut has read. To be iterated to
   * the end.
   *
   * @throws PlatformContractError where the structure is not the documented one; the cutter is then of no
   *   further use
   */
  *push(chunk: Uint8Array): Generator<RawTitle> {
    this.#append(chunk);
    const window = this.#window;
    this.#shortcut?.open(window.subarray(0, this.#end + PADDING_BYTES));
    while (this.#at < this.#end) {
      if (this.#place === 'frame') {
        this.#scanFrame();
        continue;
      }
      if (this.#place !== 'title') {
        const byte = window[this.#at] as number;
        if (isSpace(byte)) this.#at++;
        else if (this.#place === 'after') this.#separate(byte);
        else if (this.#place === 'first' && byte === CLOSE_BRACKET) this.#closeTitles();
        else this.#beginTitle();
        continue;
      }
      if (!this.#scanTitle()) break;
      const title = this.#finishTitle();
      if (title !== null) yield title;
    }
    if (this.#place === 'frame') this.#limitFrame(this.#end);
  }

  /**
   * To be called after the last chunk.
   *
   * @throws PlatformContractError with `complete: false` in its context where the document is not closed, as
   *   after a cut transfer, and with `complete: true` where the closed document is not the documented one
   */
  end(): void {
    const offset = this.#base + this.#end;
    if (!this.#hasRoot || this.#place !== 'frame' || this.#depth > 0) {
      throw new PlatformContractError(`the answer ends early, at byte ${offset}`, {
        context: { offset, complete: false },
      });
    }
    const tail = this.#window.subarray(this.#start, this.#end);
    const root = parseFrame(Buffer.concat([this.#head, tail]));
    if (!Array.isArray(root?.['titles'])) {
      const fault =
        root === null
          ? 'not valid: it is not JSON outside of the titles'
          : `not valid: ${'titles' in root ? "'titles' is not an array" : "no field 'titles'"}`;
      throw new PlatformContractError(`the answer is ${fault}`, { context: { complete: true } });
    }
    for (const name of Object.keys(root)) {
      if (name === 'titles' || this.#otherFields.size === MAX_OTHER_FIELDS) continue;
      this.#otherFields.add(toDisplayText(name, MAX_FIELD_NAME_LENGTH));
    }
  }

  /** Puts the chunk behind what is held. */
  #append(chunk: Uint8Array): void {
    const isHeld = this.#place === 'frame' || this.#place === 'title';
    if (!isHeld) this.#start = this.#at;
    const held = this.#end - this.#start;
    const kept = this.#place === 'title' ? Math.min(held, MAX_TITLE_BYTES) : held;
    const needed = kept + chunk.length + PADDING_BYTES;
    const from = this.#window;
    if (from.length < needed) this.#window = Buffer.alloc(Math.max(needed, 2 * from.length));
    from.copy(this.#window, 0, this.#start, this.#start + kept);
    this.#window.set(chunk, kept);

    const removed = this.#start + held - kept;
    this.#dropped += held - kept;
    this.#base += removed;
    this.#at -= removed;
    this.#start = 0;
    this.#end = kept + chunk.length;
    this.#window.fill(0, this.#end, this.#end + PADDING_BYTES);
    this.#isResumed = this.#place === 'title';
  }

  /** Scans the bytes outside of the titles, up to the titles or the end of the chunk. */
  #scanFrame(): void {
    const window = this.#window;
    while (this.#at < this.#end) {
      const index = this.#at++;
      const byte = window[index] as number;
      if (this.#inString) {
        if (byte === BACKSLASH) this.#at++;
        else if (byte === QUOTE) {
          this.#inString = false;
          this.#nameEnd = this.#at - this.#start;
        }
        continue;
      }
      if (isSpace(byte)) continue;
      if (this.#depth === 0 && !this.#opensRoot(index)) continue;
      const opensTitles = this.#isAtTitles && byte === OPEN_BRACKET;
      this.#isAtTitles = false;
      if (byte === QUOTE) {
        this.#inString = true;
        this.#nameStart = index - this.#start;
      } else if (byte === COLON_SIGN && this.#depth === 1) {
        this.#isAtTitles = this.#namesTitles(index);
      } else if (opensTitles) {
        this.#limitFrame(this.#at);
        this.#head = Buffer.from(window.subarray(this.#start, this.#at));
        this.#place = 'first';
        return;
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#depth++;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#depth--;
    }
  }

  /** Whether the byte outside of the root opens it; false within a byte order mark. */
  #opensRoot(index: number): boolean {
    const byte = this.#window[index];
    if (this.#hasRoot) throw this.#violation('text after the document', index);
    this.#hasRoot = byte === OPEN_BRACE;
    if (!this.#hasRoot && byte !== BYTE_ORDER_MARK[this.#base + index]) {
      throw this.#violation('the document is not a JSON object', index);
    }
    return this.#hasRoot;
  }

  /** Whether the string before the colon is the name `titles`. It may have escapes: "\u0074itles". */
  #namesTitles(index: number): boolean {
    const from = this.#start;
    const name = this.#window.subarray(from + this.#nameStart, from + this.#nameEnd);
    if (parseText(name) !== 'titles') return false;
    // Either of the two could be the titles of the date, so neither is taken.
    if (this.#hasTitles) throw this.#violation("a second field 'titles'", index);
    this.#hasTitles = true;
    return true;
  }

  #limitFrame(end: number): void {
    if (this.#head.length + end - this.#start <= MAX_FRAME_BYTES) return;
    throw this.#violation(`more than ${MAX_FRAME_BYTES} bytes outside of the titles`, end);
  }

  #separate(byte: number): void {
    if (byte === COMMA) {
      this.#place = 'next';
      this.#at++;
    } else if (byte === CLOSE_BRACKET) this.#closeTitles();
    else throw this.#violation("no ',' or ']' after a title", this.#at);
  }

  #closeTitles(): void {
    reachFaultPoint('before-closing-bracket');
    this.#start = this.#at++;
    this.#place = 'frame';
    this.#depth = 1;
  }

  #beginTitle(): void {
    this.#start = this.#at;
    const end = this.#shortcut?.readAt(this.#start, this.#titlesRead) ?? -1;
    if (end !== -1) {
      this.#endTitle(end);
      return;
    }
    this.#place = 'title';
    this.#titleOffset = this.#base + this.#start;
    this.#depth = 0;
    this.#dropped = 0;
    this.#isResumed = false;
  }

  /** Whether the title ends in the window: at the end of its container, or before a comma or bracket. */
  #scanTitle(): boolean {
    const window = this.#window;
    const end = this.#end;
    let depth = this.#depth;
    let inString = this.#inString;
    let at = this.#at;
    let isWhole = false;
    while (at < end && !isWhole) {
      const byte = window[at++] as number;
      if (inString) {
        if (byte === QUOTE) inString = false;
        else if (byte === BACKSLASH) at++;
      } else if (byte === QUOTE) {
        inString = true;
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        depth++;
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        isWhole = depth <= 1;
        if (depth === 0) at--;
        depth--;
      } else if (byte === COMMA && depth === 0) {
        isWhole = true;
        at--;
      }
    }
    this.#depth = depth;
    this.#inString = inString;
    this.#at = at;
    return isWhole;
  }

  /** Null where the shortcut has read the title. */
  #finishTitle(): RawTitle | null {
    const window = this.#window;
    const start = this.#start;
    let end = this.#at;
    while (end > start && isSpace(window[end - 1] as number)) end--;
    const byteLength = this.#dropped + end - start;
    const truncated = byteLength > MAX_TITLE_BYTES;
    const ordinal = this.#titlesRead;
    this.#endTitle(this.#at);
    // A title within one chunk was offered when it began.
    if (this.#isResumed && !truncated && this.#shortcut?.readAt(start, ordinal) === end)
      return null;
    const bytes = window.subarray(start, truncated ? start + MAX_TITLE_BYTES : end);
    return { ordinal, bytes, byteLength, truncated, offset: this.#titleOffset };
  }

  #endTitle(end: number): void {
    this.#titlesRead++;
    this.#at = end;
    this.#place = 'after';
  }

  #violation(what: string, index: number): PlatformContractError {
    const offset = this.#base + index;
    return new PlatformContractError(`the answer is not valid: ${what}, at byte ${offset}`, {
      context: { offset },
    });
  }
}

/** Null where the bytes are not JSON. */
function parseText(bytes: Buffer): unknown {
  try {
    return isUtf8(bytes) ? JSON.parse(bytes.toString('utf8')) : null;
  } catch {
    return null;
  }
}

function parseFrame(frame: Buffer): Record<string, unknown> | null {
  const isMarked = frame.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return parseText(isMarked ? frame.subarray(BYTE_ORDER_MARK.length) : frame) as never;
}

/** The part of a response that was read so far. */
export interface PullProgress {
  readonly titles: number;
  readonly bytes: number;
}

/**
 * Cuts the titles out of a response. Yields once for each chunk the titles that `cutter` hands out, to be
 * iterated to the end; those that its shortcut has read are not among them. Ends well only when the document
 * has closed and the transfer has ended cleanly.
 *
 * @throws PlatformContractError when the response is not the documented document
 * @throws PlatformUnavailableError when the transfer broke off
 */
export async function* cutTitles(
  response: ConciliationResponse,
  cutter: TitleCutter,
  onProgress?: (progress: PullProgress) => void,
): AsyncGenerator<Iterable<RawTitle>> {
  const giveTurn = takeTurns();
  for await (const chunk of response.chunks) {
    reachFaultPoint('mid-body');
    yield cutter.push(chunk);
    onProgress?.({ titles: cutter.titlesRead, bytes: response.bytesReceived() });
    await giveTurn();
  }
  try {
    cutter.end();
  } catch (error) {
    // A body that ends with its connection has no other sign of being cut.
    const isCut = error instanceof PlatformContractError && error.context['complete'] === false;
    if (!isCut || response.bytesReceived() === 0) throw error;
    throw new PlatformUnavailableError(
      `the transfer was cut: the document was still open after ${response.bytesReceived()} bytes`,
      { cause: error },
    );
  }
}

/**
 * How long a loop runs before the event loop gets a turn, in milliseconds. New connections are
 * accepted between turns, so that with long turns a probe waits behind many other new connections.
 */
const MAX_TURN_MS = 1;

/**
 * Returns a function to be awaited after each chunk of a stream: buffered chunks, 2 MB and more, arrive without a turn
 * of the event loop between them.
 */
function takeTurns(): () => Promise<void> {
  let startMs = performance.now();
  return async () => {
    if (performance.now() - startMs <= MAX_TURN_MS) return;
    await nextTurn();
    startMs = performance.now();
  };
}
