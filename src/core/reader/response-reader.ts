/**
 * From the bytes of a response to rows for COPY. A title takes the first of these ways that fits:
 *
 * 1. The date has the title in the same text (`KnownTexts`): it is counted, and gets no row.
 * 2. The title is of the usual kind (`FastReader`): its bytes are checked and copied into a row.
 * 3. Any other title is parsed and checked against the contract: it becomes a row, or a reject.
 */

import type { ConciliationResponse } from '../platform/conciliation-client.ts';
import type { PromotedField } from '../title/promoted-fields.ts';
import { contentHash, hash128, type TitleFold, TitleFolds, toDigest } from '../title/title.ts';
import type { DriftItem, PullWindow } from '../title/title-contract.ts';
import {
  cutTitles,
  MAX_TITLE_BYTES,
  type PullProgress,
  type RawTitle,
  TitleCutter,
} from './cutter.ts';
import { readExactTitle } from './exact-title.ts';
import { FastReader } from './fast-reader.ts';
import { type KnownTexts, type MissingText, rawHash } from './known-texts.ts';
import { encodeTitle, type RejectedTitle } from './title-row.ts';

/** The result of reading a whole response. */
export interface ReadResult {
  /** Titles that the date has already, in the same text; they got no row. */
  readonly knownTitles: number;
  /** The texts that the date has and the response lacks. */
  readonly missing: readonly MissingText[];
  /** Titles that kept the contract and got a row. */
  readonly accepted: number;
  readonly rejected: number;
  /** Of all titles of the window's first date that kept the contract, the known ones included. */
  readonly fold: TitleFold;
  readonly drift: readonly DriftItem[];
}

/** The titles of one chunk of a response. */
export interface RowBatch {
  /** Rows for COPY into `staged_title`. */
  readonly rows: readonly Buffer[];
  readonly rejects: readonly RejectedTitle[];
}

/** Raw text kept of one rejected title. */
const MAX_RAW_CHARACTERS = 64 * 1024;

/** A real change of the interface has a few items. */
export const MAX_DRIFT_ITEMS = 1000;

/** The items of one pull beyond the documented interface: every item once, at most 1,000. */
export class DriftLog {
  readonly #items = new Map<string, DriftItem>();

  add(items: readonly DriftItem[]): void {
    for (const item of items) {
      if (this.#items.size >= MAX_DRIFT_ITEMS) return;
      // U+0000 cannot occur in an item, so no two items share a key.
      const key = `${item.kind}\u0000${item.path}\u0000${item.value}`;
      if (!this.#items.has(key)) this.#items.set(key, item);
    }
  }

  items(): DriftItem[] {
    return [...this.#items.values()];
  }
}

export interface ReadOptions {
  /** Of the attempt. */
  readonly fence: bigint;
  readonly window: PullWindow;
  /** The texts of the date's titles. Reading takes out those that the response has. */
  readonly known: KnownTexts;
  /** Those of the date. */
  readonly promoted?: readonly PromotedField[];
  readonly onProgress?: ((progress: PullProgress) => void) | undefined;
}

/** Reads one response, once. */
export class ResponseReader {
  readonly #response: ConciliationResponse;
  readonly #options: ReadOptions;
  readonly #folds = new TitleFolds();
  readonly #fastReader: FastReader;
  readonly #drift = new DriftLog();
  #accepted = 0;
  #rejected = 0;

  constructor(response: ConciliationResponse, options: ReadOptions) {
    const { fence, window, known } = options;
    this.#response = response;
    this.#options = options;
    this.#fastReader = new FastReader({ fence, known }, window, this.#folds);
  }

  /**
   * Ends well only when the document has closed and the transfer has ended cleanly.
   *
   * @throws PlatformContractError when the response is not the documented document
   * @throws PlatformUnavailableError when the transfer broke off
   */
  async *read(): AsyncGenerator<RowBatch> {
    const cutter = new TitleCutter(this.#fastReader);
    for await (const titles of cutTitles(this.#response, cutter, this.#options.onProgress)) {
      const exactRows: Buffer[] = [];
      const rejects: RejectedTitle[] = [];
      for (const raw of titles) {
        const read = this.#readExactly(raw);
        if (Buffer.isBuffer(read)) exactRows.push(read);
        else if (read !== null) rejects.push(read);
      }
      const rows = [this.#fastReader.takeRows(), Buffer.concat(exactRows)].filter(
        ({ length }) => length > 0,
      );
      yield { rows, rejects };
    }
    for (const field of cutter.otherFields) {
      this.#drift.add([{ place: '', path: field, kind: 'unknown_field', value: 'unknown' }]);
    }
  }

  /** Complete once `read` has ended. */
  get result(): ReadResult {
    const { known } = this.#options;
    return {
      knownTitles: known.count,
      missing: known.missing(),
      accepted: this.#accepted + this.#fastReader.titlesRead,
      rejected: this.#rejected,
      fold: this.#folds.at(this.#options.window.from),
      drift: this.#drift.items(),
    };
  }

  /** The row of a title that the fast reader has not read, or its reject; null where the title is known. */
  #readExactly(raw: RawTitle): Buffer | RejectedTitle | null {
    const { fence, window } = this.#options;
    const textHash = rawHash(raw.bytes);
    if (!raw.truncated && this.#fastReader.takeKnown(textHash)) return null;
    const tooLong = `the title is ${raw.byteLength} bytes long, expected at most ${MAX_TITLE_BYTES}`;
    const check = raw.truncated
      ? ({ ok: false, reasons: [tooLong], orderUid: null } as const)
      : readExactTitle(raw.bytes, window, raw.offset);
    if (!check.ok) {
      this.#rejected += 1;
      const { ordinal, bytes, byteLength: rawBytes } = raw;
      const { orderUid, reasons } = check;
      // PostgreSQL's text holds neither U+0000 nor broken UTF-8; both are shown as U+FFFD.
      const text = bytes.toString('utf8', 0, MAX_RAW_CHARACTERS).replaceAll('\u0000', '\uFFFD');
      return { ordinal, orderUid, reasons, raw: text, rawBytes, rawHash: hash128(bytes) };
    }
    const { title, drift } = check;
    this.#accepted += 1;
    this.#drift.add(drift);
    const content = contentHash(title, this.#options.promoted);
    this.#folds.at(title.accepted_date).add(toDigest(content));
    return encodeTitle(fence, raw.ordinal, title, textHash, content);
  }
}
