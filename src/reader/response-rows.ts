import type { CivilDate } from '../domain/business-day.ts';
import { isJsonObject, type JsonValue } from '../domain/json-value.ts';
import { type KnownTitles, rawHash } from '../domain/known-titles.ts';
import type { PullWindow } from '../domain/pull-plan.ts';
import { contentHash, hash128 } from '../domain/title.ts';
import { TitleFolds } from '../domain/title-fold.ts';
import type { ConciliationResponse } from '../platform/conciliation-client.ts';
import { DriftLog } from '../platform/drift-log.ts';
import { checkTitle } from '../platform/title-contract.ts';
import type { DriftItem } from '../platform/title-extra.ts';
import { isStorableText, MAX_KEY_CHARACTERS } from '../platform/title-schema.ts';
import { PlatformContractError, PlatformUnavailableError } from '../runtime/errors.ts';
import { reachFaultPoint } from '../runtime/fault-points.ts';
import { takeTurns } from '../runtime/turns.ts';
import { parseExactJson } from './exact-json.ts';
import { FastReader } from './fast-reader.ts';
import { KnownTexts } from './known-texts.ts';
import { encodeTitle, type RejectedTitle, type TitleTarget } from './stage.ts';
import { MAX_TITLE_BYTES, type RawTitle, TitleReader } from './title-stream.ts';

/** What was read of a response. */
export interface ReadCount {
  /** Titles that the table has already, in the same text; they get no row. */
  readonly known: number;
  /** Titles that kept the contract and got a row. */
  readonly accepted: number;
  readonly rejected: number;
  /** Of the titles that kept the contract. */
  readonly folds: TitleFolds;
  readonly drift: readonly DriftItem[];
}

export interface PullProgress {
  readonly titles: number;
  readonly bytes: number;
}

/** Rejects wait in memory up to this many bytes of raw text before they are handed over. */
const REJECT_BUFFER_BYTES = 4 * 1024 * 1024;
/** Raw text kept of one rejected title. */
const MAX_RAW_CHARACTERS = 64 * 1024;

export interface ResponseRowsOptions {
  readonly target: TitleTarget;
  readonly window: PullWindow;
  readonly known: KnownTitles;
  /** Of the content hashes of dates; all others have the newest. */
  readonly versions?: ReadonlyMap<CivilDate, number>;
  /** Takes the rejects, a few megabytes at a time. */
  readonly putAside: (rejects: readonly RejectedTitle[]) => Promise<void>;
  readonly onProgress?: ((progress: PullProgress) => void) | undefined;
}

/**
 * Reads a response title by title into rows for COPY, but for titles that the table has already.
 *
 * @returns the rows; what was read, once they have been taken to their end; and what is to be called
 *   when they are stored
 */
export function readRows(
  response: ConciliationResponse,
  options: ResponseRowsOptions,
): {
  readonly rows: AsyncIterable<Buffer | string>;
  readonly count: () => ReadCount;
  readonly release: () => void;
} {
  const { target, window, putAside, onProgress } = options;
  const folds = new TitleFolds(options.versions);
  const known = new KnownTexts(options.known, folds.at(window.from));
  const fastReader = new FastReader({ target, known }, window, folds);
  const reader = new TitleReader(fastReader);
  const drift = new DriftLog();
  let accepted = 0;
  let rejected = 0;
  let rejects: RejectedTitle[] = [];
  let rejectBytes = 0;

  const handOver = async () => {
    const waiting = rejects;
    rejects = [];
    rejectBytes = 0;
    if (waiting.length > 0) await putAside(waiting);
  };

  const encode = (raw: RawTitle): string => {
    const textHash = rawHash(raw.bytes);
    if (!raw.truncated && known.take(textHash)) return '';
    const outcome = readTitle(raw, window);
    if (outcome.ok) {
      accepted += 1;
      drift.add(outcome.drift);
      const { title } = outcome;
      if (outcome.drift.length > 0) fastReader.admitDrift(title);
      const fold = folds.at(title.accepted_date);
      const content = contentHash(title, fold.version);
      fold.addDigits(content);
      return encodeTitle(target, raw.ordinal, title, textHash.toString('hex'), content);
    }
    rejected += 1;
    rejects.push(outcome.reject);
    rejectBytes += outcome.reject.raw.length;
    return '';
  };

  /** Ends well only when the document has closed and the transfer has ended cleanly. */
  async function* encodedRows(): AsyncGenerator<Buffer | string> {
    const giveTurn = takeTurns();
    for await (const chunk of response.chunks) {
      reachFaultPoint('mid-body');
      let rows = '';
      for (const raw of reader.push(chunk)) rows += encode(raw);
      onProgress?.({ titles: reader.titlesRead, bytes: response.bytesReceived() });
      if (rejectBytes > REJECT_BUFFER_BYTES) await handOver();
      const fastRows = fastReader.takeRows();
      if (fastRows.length > 0) yield fastRows;
      if (rows !== '') yield rows;
      reachFaultPoint('mid-copy');
      await giveTurn();
    }
    endDocument(reader, response.bytesReceived());
    for (const field of reader.otherFields) {
      drift.add([{ path: field, kind: 'unknown_field', value: 'unknown' }]);
    }
    await handOver();
  }

  return {
    rows: encodedRows(),
    count: () => ({
      known: known.count,
      accepted: accepted + fastReader.titlesRead,
      rejected,
      folds,
      drift: drift.items(),
    }),
    release: () => fastReader.release(),
  };
}

/**
 * A response that ends in the middle of its document was cut, whatever the transport says of it: a
 * body that ends with its connection has no other sign of being whole.
 */
export function endDocument(reader: TitleReader, bytesReceived: number): void {
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

type TitleOutcome =
  | Extract<ReturnType<typeof checkTitle>, { ok: true }>
  | { readonly ok: false; readonly reject: RejectedTitle };

function readTitle(raw: RawTitle, window: PullWindow): TitleOutcome {
  if (raw.truncated) {
    const tooLong = `the title is ${raw.byteLength} bytes long, expected at most ${MAX_TITLE_BYTES}`;
    return reject(raw, [tooLong], null);
  }
  const { value, problems } = parseExactJson(raw.bytes);
  const check = checkTitle(value, window);
  if (check.ok && problems.length === 0) return check;
  return reject(
    raw,
    check.ok ? problems : [...problems, ...check.reasons],
    readOrderUid(problems.length === 0 ? value : null),
  );
}

/** The order uid of a title that breaks the contract; null where it cannot be read, or is what breaks it. */
function readOrderUid(title: JsonValue): string | null {
  const order = isJsonObject(title) ? (title['order'] ?? null) : null;
  const uid = isJsonObject(order) ? order['uid'] : null;
  const isReadable =
    typeof uid === 'string' &&
    uid !== '' &&
    isStorableText(uid) &&
    uid.length <= MAX_KEY_CHARACTERS;
  return isReadable ? uid : null;
}

function reject(raw: RawTitle, reasons: readonly string[], orderUid: string | null): TitleOutcome {
  return {
    ok: false,
    reject: {
      ordinal: raw.ordinal,
      orderUid,
      reasons,
      // PostgreSQL's text holds neither U+0000 nor broken UTF-8; both are shown as U+FFFD.
      raw: raw.bytes.toString('utf8', 0, MAX_RAW_CHARACTERS).replaceAll('\u0000', '\uFFFD'),
      rawBytes: raw.byteLength,
      rawHash: hash128(raw.bytes),
    },
  };
}
