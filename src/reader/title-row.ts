/**
 * The staged rows of titles and rejects for COPY, in the format of `binary-row.ts`. `FastReader` writes the same rows of
 * titles.
 */

import type { CivilDate } from '../domain/business-day.ts';
import { toPlainDecimal } from '../domain/decimal.ts';
import { toJsonText } from '../domain/json-text.ts';
import { contentHash, identityHash, TITLE_COLUMNS, type Title } from '../domain/title.ts';
import { RowWriter } from './binary-row.ts';
import { TITLE_LAYOUT, ValueKind } from './title-layout.ts';

const DATE_COLUMNS: ReadonlySet<string | null> = new Set(
  TITLE_LAYOUT.filter(({ kind }) => kind === ValueKind.date).map(({ column }) => column),
);

/** The columns of a row, by the table that the row is copied into. */
export const ROW_COLUMNS = {
  staged_title: ['fence', 'ordinal', ...TITLE_COLUMNS, 'identity_hash', 'content_hash', 'raw_hash'],
  staged_reject: ['fence', 'ordinal', 'order_uid', 'reasons', 'raw', 'raw_bytes', 'raw_hash'],
} as const;

export type RowTable = keyof typeof ROW_COLUMNS;

/**
 * Returns the row of a title for COPY. Hashes have 32 hexadecimal digits.
 *
 * @param raw of the text that the title was read from
 */
export function encodeTitle(
  fence: bigint,
  ordinal: number,
  title: Title,
  raw: string,
  content = contentHash(title),
): Buffer {
  const row = beginRow(fence);
  row.integer(ordinal);
  for (const column of TITLE_COLUMNS) {
    if (column === 'extra') {
      row.jsonb(title.extra && toJsonText(title.extra));
      continue;
    }
    const value = title[column];
    if (DATE_COLUMNS.has(column)) row.date(value as CivilDate | null);
    else if (value === null || typeof value === 'string') row.text(value);
    else if (typeof value === 'boolean') row.boolean(value);
    else row.numeric(toPlainDecimal(value.written));
  }
  row.uuid(identityHash(title));
  row.uuid(content);
  row.uuid(raw);
  return row.rows;
}

/** Begins the row of a title with the values that all rows of a response have. The title's ordinal follows. */
export function beginRow(fence: bigint): RowWriter {
  const row = new RowWriter();
  row.begin(ROW_COLUMNS.staged_title.length);
  row.bigint(fence);
  return row;
}

/** A title that broke the contract: its position, its text, and every reason. */
export interface RejectedTitle {
  /** Position in the response's `titles`, from 0. */
  readonly ordinal: number;
  /** order.uid; null where it cannot be read. */
  readonly orderUid: string | null;
  readonly reasons: readonly string[];
  /** The title's text, storable by PostgreSQL, cut to a bounded length. */
  readonly raw: string;
  /** Its whole length in the response, in bytes. */
  readonly rawBytes: number;
  /** SHA-256 of its bytes, first 128 bits in hexadecimal. */
  readonly rawHash: string;
}

/** Returns the row of a reject for COPY. */
export function encodeReject(fence: bigint, reject: RejectedTitle): Buffer {
  const row = new RowWriter();
  row.begin(ROW_COLUMNS.staged_reject.length);
  row.bigint(fence);
  row.integer(reject.ordinal);
  row.text(reject.orderUid);
  row.textArray(reject.reasons);
  row.text(reject.raw);
  row.bigint(BigInt(reject.rawBytes));
  row.uuid(reject.rawHash);
  return row.rows;
}
