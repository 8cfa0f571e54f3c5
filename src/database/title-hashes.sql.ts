/**
 * The hashes of a row of `title`, computed by the database from the columns of the row. `domain/title.ts`
 * computes the same content and identity hashes from a response.
 */

import {
  DESTINATION_MEMBERS,
  DESTINATION_PATHS,
  type PartyKind,
} from '../domain/accounts/destination.ts';
import {
  AMOUNT_COLUMNS,
  CONTENT_VERSIONS,
  IDENTITY_COLUMNS,
  VALUE_COLUMNS,
  type ValueColumn,
} from '../domain/title.ts';
import { Prisma } from '../generated/prisma/client.ts';

const AMOUNTS: ReadonlySet<string> = new Set(AMOUNT_COLUMNS);

// Column names are constants of domain/: nothing from outside reaches Prisma.raw.

/** The canonical text of a column; see `canonicalFields`. Sessions have the date style ISO. */
const canonicalText = (column: string) =>
  AMOUNTS.has(column) ? `trim_scale(${column})::text` : `${column}::text`;

/**
 * The text of an undocumented member of `extra` that names a destination; null: not stated. Of a number its whole
 * digits, of an object or a list its text. `destinationOf` of domain/accounts/destination.ts reads the same from a response.
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

const CONTENT_HASHES = CONTENT_VERSIONS.map((columns) => canonicalHash(columns, destinationBytes));

/**
 * The content hash that the columns of a row of `title` have.
 *
 * @throws RangeError for a version that this program does not know
 */
export function computedContentHash(version: number): Prisma.Sql {
  const computed = CONTENT_HASHES[version - 1];
  if (computed === undefined) throw new RangeError(`no version ${version} of content hashes`);
  return computed;
}

/** The content hash that the columns of a row of `title` have, by a version that is a column of the row. */
export const contentHashOf = (version: Prisma.Sql): Prisma.Sql => {
  const cases = CONTENT_HASHES.map(
    (hash, index) => Prisma.sql`WHEN ${index + 1}::int THEN ${hash}`,
  );
  return Prisma.sql`CASE ${version} ${Prisma.join(cases, ' ')} END`;
};

/**
 * `title_change.row_hash` of a row of `title`. The content hash represents the columns that it covers, and for
 * the identity hash, which is made of some of them. It covers an amount without its trailing zeros, so the
 * scales of the amounts are covered as well: together these are the digits that were written. An erased row
 * has lost what its content hash covers, so its columns are covered themselves. Nulls are left out, so that a
 * column which a release adds changes no hash.
 *
 * A merge computes these hashes under the lock of the closing phase, so few functions are called for each row.
 */
export const rowHash = (columns: readonly ValueColumn[]) =>
  Prisma.raw(
    `substring(sha256(${[
      'int8send(id)',
      'int4send(occurrence)',
      `convert_to(status, 'UTF8')`,
      'uuid_send(content_hash)',
      'uuid_send(raw_hash)',
      `coalesce(convert_to(extra::text, 'UTF8'), '\\xff')`,
      scales(AMOUNT_COLUMNS.slice(0, 3)),
      scales(AMOUNT_COLUMNS.slice(3)),
      `CASE WHEN erased_at IS NULL THEN ''
          ELSE uuid_send(identity_hash) || convert_to(jsonb_strip_nulls(jsonb_build_object(
            ${columns.map((column) => `'${column}', ${column}`).join(', ')}))::text, 'UTF8') END`,
    ].join(' || ')}), 1, 16)`,
  );

export const ROW_HASH = rowHash(VALUE_COLUMNS);

/** Up to four scales in eight bytes. A scale of numeric takes 14 bits. */
function scales(columns: readonly string[]): string {
  const placed = columns.map(
    (column, index) => `(coalesce(scale(${column}) + 1, 0)::int8 << ${16 * index})`,
  );
  return `int8send(${placed.join(' | ')})`;
}
