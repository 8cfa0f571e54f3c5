/**
 * The format of the rows for COPY: csv with every text in quotes, so that a lone `\.` and an empty
 * text keep their meaning. `FastReader` renders the same rows as bytes.
 */
import { toJsonText } from '../domain/json-text.ts';
import type { NamedAccounts } from '../domain/named-accounts.ts';
import type { Occurrences } from '../domain/occurrences.ts';
import { TITLE_COLUMNS, type Title } from '../domain/title.ts';

const CONTENT_COLUMNS = [...TITLE_COLUMNS, 'identity_hash', 'content_hash', 'raw_hash'];

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

/** Returns the row of a title for COPY, with a line feed at its end. */
export function encodeTitle(place: TitlePlace, title: Title, hashes: TitleHashes): string {
  let row = rowStart(place);
  if (place.table === 'staged_title') row += place.ordinal;
  for (const column of TITLE_COLUMNS) {
    if (column === 'extra') {
      row += title.extra === null ? ',' : `,${quote(toJsonText(title.extra))}`;
      continue;
    }
    const value = title[column];
    if (value === null) row += ',';
    else if (typeof value === 'string') row += `,${quote(value)}`;
    else if (typeof value === 'boolean') row += value ? ',t' : ',f';
    else row += `,${value.written}`;
  }
  row += `,${hashes.identity},${hashes.content},${hashes.raw}`;
  if (place.table === 'title') row += `,${place.occurrence}`;
  return `${row}\n`;
}

/** The first bytes of every row of a response. In `staged_title`, the title's ordinal follows. */
export function rowStart(target: TitleTarget | TitlePlace): string {
  return target.table === 'title' ? `${target.pullId},${target.pullId}` : `${target.fence},`;
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

/** Returns the row of a reject for COPY, with a line feed at its end. */
export function encodeReject(fence: bigint, reject: RejectedTitle): string {
  const orderUid = reject.orderUid === null ? '' : quote(reject.orderUid);
  const reasons = `{${reject.reasons.map(quoteArrayItem).join(',')}}`;
  return `${fence},${reject.ordinal},${orderUid},${quote(reasons)},${quote(reject.raw)},${reject.rawBytes},${reject.rawHash}\n`;
}

function quote(text: string): string {
  return text.includes('"') ? `"${text.replaceAll('"', '""')}"` : `"${text}"`;
}

function quoteArrayItem(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
