import { PlatformContractError } from '../../src/base/runtime/errors.ts';
import { type RawTitle, TitleCutter } from '../../src/core/reader/cutter.ts';
import { readExactTitle } from '../../src/core/reader/exact-title.ts';
import { FastReader } from '../../src/core/reader/fast-reader.ts';
import { KnownTexts, rawHash } from '../../src/core/reader/known-texts.ts';
import { encodeTitle } from '../../src/core/reader/title-row.ts';
import {
  AMOUNT_COLUMNS,
  TITLE_COLUMNS,
  type TitleColumn,
  TitleFolds,
} from '../../src/core/title/title.ts';
import type { PullWindow } from '../../src/core/title/title-contract.ts';
import { dateText, numericText, type RowValues, splitRows, valueIn } from '../support/copy-rows.ts';
import { canonicalOf, type SlowTitle } from './slow-titles.ts';

const FENCE = 1n;

/** Rows for `staged_title`, by ordinal; null where a title was rejected. */
export type Rows = (RowValues | null)[];

/** A title that was read on the ordinary path, from these bytes. */
interface OrdinaryTitle {
  readonly bytes: Buffer;
  readonly row: RowValues | null;
}

/**
 * An answer's rows, as the fast reader with the ordinary one behind it and as the ordinary one alone
 * has them. Null where the answer was refused. As stageResponse puts the parts together, without a
 * database.
 */
export function readBothWays(
  chunks: readonly Buffer[],
  window: PullWindow,
): { readonly fast: Rows | null; readonly ordinary: Rows | null } {
  // The content of a title is a function of its bytes: equal bytes at the same place are not read twice.
  const titles: OrdinaryTitle[] = [];
  const readOnce = (raw: RawTitle): OrdinaryTitle => {
    let title = titles[raw.ordinal];
    if (title === undefined || !title.bytes.equals(raw.bytes)) {
      title = readOrdinary({ ...raw, bytes: Buffer.from(raw.bytes) }, window);
      titles[raw.ordinal] = title;
    }
    return title;
  };
  const ordinary = readRows(chunks, null, readOnce);
  const known = new KnownTexts();
  const fast = new FastReader({ fence: FENCE, known }, window, new TitleFolds());
  return { fast: readRows(chunks, fast, readOnce), ordinary };
}

function readRows(
  chunks: readonly Buffer[],
  fast: FastReader | null,
  readTitle: (raw: RawTitle) => OrdinaryTitle,
): Rows | null {
  const cutter = new TitleCutter(fast);
  const rows: Rows = [];
  try {
    for (const chunk of chunks) {
      for (const raw of cutter.push(chunk)) {
        rows[raw.ordinal] = readTitle(raw).row;
      }
      const taken = fast?.takeRows();
      if (taken === undefined) continue;
      for (const row of splitRows(taken)) rows[row[1]?.readInt32BE() ?? -1] = row;
    }
    cutter.end();
  } catch (error) {
    if (error instanceof PlatformContractError) return null;
    throw error;
  }
  if (rows.length !== cutter.titlesRead) throw new Error('a title was lost');
  return rows;
}

function readOrdinary({ ordinal, bytes, truncated }: RawTitle, window: PullWindow): OrdinaryTitle {
  const rejected = { bytes, row: null };
  if (truncated) return rejected;
  const check = readExactTitle(bytes, window);
  if (!check.ok) return rejected;
  const [row = null] = splitRows(encodeTitle(FENCE, ordinal, check.title, rawHash(bytes)));
  return { bytes, row };
}

/** The values that PostgreSQL reads from a row, as it shows them. */
export function toSlowTitle(row: RowValues): SlowTitle {
  const title: Record<string, string | null> = {};
  for (const column of TITLE_COLUMNS) {
    const bytes = valueIn(row, column);
    title[column] = bytes === null ? null : textOf(column, bytes);
  }
  return title;
}

function textOf(column: TitleColumn, bytes: Buffer): string {
  if (column.endsWith('_date')) return dateText(bytes);
  if ((AMOUNT_COLUMNS as readonly string[]).includes(column)) return numericText(bytes);
  if (column === 'buyer_is_financial') return bytes[0] === 1 ? 't' : 'f';
  // The first byte of jsonb is the version of its format.
  return column === 'extra' ? canonicalOf(bytes.toString('utf8', 1)) : bytes.toString();
}
