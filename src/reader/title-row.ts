/**
 * The rows of titles and rejects for COPY, in the format of `binary-row.ts`. `FastReader` writes the same rows of
 * titles.
 */

import type { NamedAccounts } from '../domain/accounts/named-accounts.ts';
import type { CivilDate } from '../domain/business-day.ts';
import { toPlainDecimal } from '../domain/decimal.ts';
import { toJsonText } from '../domain/json-text.ts';
import type { Occurrences } from '../domain/occurrences.ts';
import { TITLE_COLUMNS, type Title } from '../domain/title.ts';
import { RowWriter } from './binary-row.ts';
import { TITLE_LAYOUT, ValueKind } from './title-layout.ts';

const CONTENT_COLUMNS = [...TITLE_COLUMNS, 'identity_hash', 'content_hash', 'raw_hash'];

const DATE_COLUMNS: ReadonlySet<string | null> = new Set(
  TITLE_LAYOUT.filter(({ kind }) => kind === ValueKind.date).map(({ column }) => column),
);

/** The columns of a row, by the table that the row is copied into. */
export const ROW_COLUMNS = {
  staged_title: ['fence', 'ordinal', ...CONTENT_COLUMNS],
  title: ['first_pull_id', 'last_change_pull_id', ...CONTENT_COLUMNS, 'occurrence'],
  staged_reject: ['fence', 'ordinal', 'order_uid', 'reasons', 'raw', 'raw_bytes', 'raw_hash'],
} as const;

export type RowTable = keyof typeof ROW_COLUMNS;

/**
 * The table that the titles of a response are copied into: `staged_title`, to be merged from there, or
 * `title` itself, which only a date without titles allows.
 */
export type TitleTarget =
  | { readonly table: 'staged_title'; readonly fence: bigint }
  | {
      readonly table: 'title';
      readonly pullId: bigint;
      /** Numbers the titles of equal identity. Every title that is read is counted in. */
      readonly occurrences: Occurrences;
      /** Collects the bank accounts that the titles name. Those of every title that is read are added. */
      readonly accounts: NamedAccounts;
    };

/** The table of a row, with the values that the row has beside the title's content. */
export type TitlePlace =
  | { readonly table: 'staged_title'; readonly fence: bigint; readonly ordinal: number }
  | { readonly table: 'title'; readonly pullId: bigint; readonly occurrence: number };

/** The hashes of a title, each as 32 hexadecimal digits. */
export interface TitleHashes {
  readonly identity: string;
  readonly content: string;
  /** Of the text that the title was read from. */
  readonly raw: string;
}

/** Returns the row of a title for COPY. */
export function encodeTitle(place: TitlePlace, title: Title, hashes: TitleHashes): Buffer {
  const row = beginRow(place);
  if (place.table === 'staged_title') row.integer(place.ordinal);
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
  row.uuid(hashes.identity);
  row.uuid(hashes.content);
  row.uuid(hashes.raw);
  if (place.table === 'title') row.integer(place.occurrence);
  return row.rows;
}

/** Begins a row with the values that all rows of a response have. In `staged_title`, the title's ordinal follows. */
export function beginRow(target: TitleTarget | TitlePlace): RowWriter {
  const row = new RowWriter();
  row.begin(ROW_COLUMNS[target.table].length);
  if (target.table === 'staged_title') row.bigint(target.fence);
  else {
    row.bigint(target.pullId);
    row.bigint(target.pullId);
  }
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
