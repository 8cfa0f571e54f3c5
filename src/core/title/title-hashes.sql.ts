/**
 * The hashes of a row of `title`, computed by the database from the columns of the row. `core/title/title.ts`
 * computes the same content and identity hashes from a response.
 */

import { Prisma } from '../../generated/prisma/client.ts';
import { DESTINATION_FIELDS, type FieldRole } from './promoted-fields.ts';
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
 * The text of an undocumented field of a row; null: not stated. `textOf` of promoted-fields.ts reads the same from a
 * response.
 * @param path an expression
 */
export const textAt = (path: string) => `
  CASE jsonb_typeof(extra #> ${path}) WHEN 'number' THEN trim_scale((extra #>> ${path})::numeric)::text
                                      ELSE extra #>> ${path} END`;

const promotedValue = textAt('field.path');

export const pathOf = (members: readonly string[]) => `'{${members.join(',')}}'`;

/** The stated promoted fields that are content of a row's date, as JSON of texts; null: none. */
export const promotedOfRow = (role?: FieldRole): string => `
  (SELECT jsonb_object_agg(field.name, ${promotedValue})
   FROM conciliation.day AS own CROSS JOIN LATERAL conciliation.promoted_fields(own.content_version) AS field
   WHERE extra IS NOT NULL AND own.date = accepted_date AND ${promotedValue} IS NOT NULL
     ${role === undefined ? '' : `AND field.role = '${role}'`})`;

/** The parts of `moreContent` of promoted-fields.ts, as an array of texts without their ends. */
const moreContent = (promoted: string) => `
  array_remove(ARRAY[${DESTINATION_FIELDS.map(({ name, path }) => `'${name}=' || ${textAt(pathOf(path))}`).join(', ')}], NULL)
  || ARRAY(SELECT name || '=' || value FROM jsonb_each_text(${promoted}) AS stated (name, value)
           ORDER BY name COLLATE "C")`;

/** The undocumented content of a row of `title`, as JSON of `moreContent`; null: none. */
export const MORE_CONTENT = `
  (CASE WHEN extra IS NOT NULL THEN nullif(to_jsonb(${moreContent(promotedOfRow())}), '[]') END)`;

const moreBytes = (promoted: string) => `
  CASE WHEN extra IS NULL THEN ''::bytea ELSE (
    SELECT coalesce(string_agg(convert_to(text, 'UTF8') || '\\x00'::bytea, ''::bytea ORDER BY place), '')
    FROM unnest(${moreContent(promoted)}) WITH ORDINALITY AS stated (text, place)) END`;

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

/** @param promoted the promoted fields of the row, as JSON of texts */
const computedContentHash = (promoted: string) => canonicalHash(VALUE_COLUMNS, moreBytes(promoted));

/** The content hash that the columns of a row of `title` have. */
export const COMPUTED_CONTENT_HASH = computedContentHash(promotedOfRow());

/** The content hash that the columns of a row of `booking_line` have, with those of `title` that it lacks. */
export const COMPUTED_LINE_HASH = computedContentHash('promoted');

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

/** The normal form of the tax identifier of a company, such as a buyer. */
export const companyIdText = (value: string): string => `conciliation.tax_id(${value}, true)`;

export const companyIdOf = (value: string): Prisma.Sql => Prisma.raw(companyIdText(value));

/** The buyer of a row with the columns of `title`, in its normal form; empty: none. */
export const BUYER = Prisma.sql`coalesce(${companyIdOf('buyer_identification')}, '')`;
