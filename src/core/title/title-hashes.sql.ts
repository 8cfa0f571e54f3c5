/**
 * The hashes of a row of `title`, computed by the database from the columns of the row. `core/title/title.ts`
 * computes the same content and identity hashes from a response.
 */

import { Prisma } from '../../generated/prisma/client.ts';
import { DESTINATION_MEMBERS, DESTINATION_PATHS, type PartyKind } from './destination.ts';
import {
  AMOUNT_COLUMNS,
  COLUMN_KINDS,
  IDENTITY_COLUMNS,
  VALUE_COLUMNS,
  type ValueColumn,
} from './title.ts';

// Column names are constants of core/title: nothing from outside reaches Prisma.raw.

/** The canonical text of a column; see `canonicalFields`. Sessions have the date style ISO. */
const canonicalText = (column: ValueColumn) =>
  COLUMN_KINDS[column] === 'amount' ? `trim_scale(${column})::text` : `${column}::text`;

/**
 * The text of an undocumented member of `extra` that names a destination; null: not stated. Of a number its whole
 * digits, of an object or a list its text. `destinationOf` of core/title/destination.ts reads the same from a response.
 */
const destinationMember = (kind: PartyKind, member: string) => {
  const value = `extra #> '{${DESTINATION_PATHS[kind].join(',')},${member}}'`;
  return `CASE jsonb_typeof(${value})
            WHEN 'string' THEN (${value}) #>> '{}'
            WHEN 'object' THEN (${value})::text
            WHEN 'array' THEN (${value})::text
            WHEN 'number' THEN substring(trim_scale(((${value}) #>> '{}')::numeric)::text
                                         FROM '^[0-9]{1,20}$') END`;
};

const KINDS = ['provider', 'financial_agent'] as const satisfies readonly PartyKind[];

/** The stated members of a kind of party, as JSON of texts; null: none. */
export const destinationOfRow = (kind: PartyKind): string => `
  (CASE WHEN extra IS NOT NULL THEN
    nullif(jsonb_strip_nulls(jsonb_build_object(
      ${DESTINATION_MEMBERS.map((member) => `'${member}', ${destinationMember(kind, member)}`).join(', ')})),
      '{}') END)`;

/** The columns of `booking_line` with the destinations of a row of `title`. */
export const DESTINATION_COLUMNS = ['provider_destination', 'payment_destination'] as const;

/** The destinations that a row of `title` states, with the names of `DESTINATION_COLUMNS`. */
export const destinationColumns: Prisma.Sql = Prisma.raw(
  `${destinationOfRow('provider')} AS provider_destination,
   ${destinationOfRow('financial_agent')} AS payment_destination`,
);

/** What `destinationText` adds to the content of a title. */
const destinationBytes = `CASE WHEN extra IS NULL THEN ''::bytea ELSE ${KINDS.flatMap((kind) =>
  DESTINATION_MEMBERS.map(
    (member) =>
      `coalesce(convert_to('${DESTINATION_PATHS[kind].join('.')}.${member}=' ||
                           ${destinationMember(kind, member)}, 'UTF8') || '\\x00'::bytea, '')`,
  ),
).join(' || ')} END`;

const canonicalHash = (columns: readonly ValueColumn[], more?: string) => {
  const fields = columns.map(
    (column) =>
      `coalesce(convert_to('=' || ${canonicalText(column)}, 'UTF8'), '') || '\\x00'::bytea`,
  );
  const canonical = more === undefined ? fields : [...fields, more];
  return Prisma.raw(`encode(substring(sha256(${canonical.join(' || ')}), 1, 16), 'hex')::uuid`);
};

/** The identity hash that the columns of a row of `title` have. */
export const COMPUTED_IDENTITY_HASH = canonicalHash(IDENTITY_COLUMNS);

/** The content hash that the columns of a row of `title` have. */
export const COMPUTED_CONTENT_HASH = canonicalHash(VALUE_COLUMNS, destinationBytes);

/**
 * The SHA-256 of a row of `title`: what no merge has written is not in it. See `date_digest.digest`. The content hash
 * covers the columns of the content, and a check computes it again: so of an amount only its scale is needed here.
 */
export const ROW_DIGEST = Prisma.raw(
  `sha256(record_send(ROW(
     id, occurrence, status, content_hash, raw_hash, first_pull_id, last_change_pull_id, extra,
     ${AMOUNT_COLUMNS.map((column) => `scale(${column})`).join(', ')},
     CASE WHEN erased_at IS NOT NULL THEN jsonb_strip_nulls(jsonb_build_object(
       'identity_hash', identity_hash, ${VALUE_COLUMNS.map((column) => `'${column}', ${column}`).join(', ')})) END)))`,
);

/** `day.content_digest` of rows with a content hash: equal exactly for equal multisets. */
export const CONTENT_DIGEST = Prisma.sql`
  encode(sha256(coalesce(string_agg(uuid_send(content_hash), '' ORDER BY content_hash), '')), 'hex')`;

/** `booking_batch.digest` of rows with the columns of `booking_line`. */
export const BATCH_DIGEST = Prisma.sql`
  encode(sha256(convert_to(coalesce(string_agg(
    to_char(date, 'YYYY-MM-DD') || ':' || replace(identity_hash::text, '-', '') || ':' || occurrence || ':' || version
      || E'\n' || kind || E'\n' || replace(content_hash::text, '-', '') || E'\n', ''
    ORDER BY identity_hash, occurrence, version), ''), 'UTF8')), 'hex')`;
