/**
 * The staged rows of titles for COPY, in the format of `binary-row.ts`. `FastReader` writes the same rows.
 */

import type { CivilDate } from '../../base/values/business-day.ts';
import { toPlainDecimal } from '../../base/values/decimal.ts';
import { toJsonText } from '../../base/values/json-value.ts';
import {
  COLUMN_KINDS,
  contentHash,
  identityHash,
  TITLE_COLUMNS,
  type Title,
} from '../title/title.ts';
import {
  type BinaryValue,
  bigint,
  integer,
  jsonb,
  numeric,
  toDateValue,
  toRow,
  uuid,
} from './binary-row.ts';

/** The columns of a row of `staged_title`. */
export const ROW_COLUMNS: readonly string[] = [
  ...['fence', 'ordinal'],
  ...TITLE_COLUMNS,
  ...['identity_hash', 'content_hash', 'raw_hash'],
];

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
  const columns = TITLE_COLUMNS.map((column): BinaryValue => {
    if (column === 'extra') return title.extra && jsonb(toJsonText(title.extra));
    const value = title[column];
    if (value === null) return null;
    if (typeof value === 'boolean') return Buffer.of(value ? 1 : 0);
    if (typeof value !== 'string') return numeric(toPlainDecimal(value.written));
    return COLUMN_KINDS[column] === 'date'
      ? integer(toDateValue(value as CivilDate))
      : Buffer.from(value);
  });
  const hashes = [identityHash(title), content, raw].map(uuid);
  return toRow([bigint(fence), integer(ordinal), ...columns, ...hashes]);
}

/** Begins the row of a title with the values that all rows of a response have. The title's ordinal follows. */
export function beginRow(fence: bigint): Buffer {
  return toRow([bigint(fence)], ROW_COLUMNS.length);
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
