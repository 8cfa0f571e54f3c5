/** The undocumented fields of titles to which an administrator gave a name. */
import { type Static, Type } from 'typebox';
import { type Decision, recordAudit } from '../../base/audit/audit.ts';
import type { Database, QueryClient } from '../../base/database/database.ts';
import { takeLock } from '../../base/database/program-lock.sql.ts';
import { namesIn, refusal } from '../../base/texts/texts.ts';
import { words } from '../../console/api/schema-parts.ts';
import { ACCOUNT_ROLES } from '../../core/title/destinations.sql.ts';
import {
  DESTINATION_MEMBERS,
  DESTINATION_PATHS,
  FIELD_ROLES,
  type FieldRole,
  type PromotedField,
} from '../../core/title/promoted-fields.ts';
import { TITLE_FIELDS } from '../../core/title/title-schema.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { forgetBreaks } from '../matching/match-decisions.sql.ts';

/** The value of a promoted field of a title. */
export const PromotedValue = Type.Object({
  name: Type.String(),
  role: words(FIELD_ROLES),
  isAccount: Type.Boolean({
    description: 'An account by its role, or all or a part of payment or bankAccount: masked.',
  }),
  value: Type.String(),
});
export type PromotedValue = Readonly<Static<typeof PromotedValue>>;

/** The places of accounts and of what has one, as PostgreSQL writes them. */
const ACCOUNT_PLACES = Object.values(DESTINATION_PATHS).flatMap(([party, account]) => [
  `{${party}}`,
  `{${party},${account}}`,
]);
/** `isAccount` of a row of `promoted_fields`. */
export const IS_ACCOUNT = Prisma.sql`
  (role = ANY(${Object.values(ACCOUNT_ROLES)}::text[]) OR path[1:2]::text = ANY(${ACCOUNT_PLACES}::text[]))`;

/** The fields that are promoted now. They are shown, written and searched for titles of all dates. */
const NOW = Prisma.sql`conciliation.promoted_fields(conciliation.content_version()) AS field`;

/** The values of a row of `title`, as JSON of `PromotedValue`, by name. */
export const PROMOTED_VALUES = Prisma.sql`
  (SELECT coalesce(jsonb_agg(jsonb_build_object('name', name, 'role', role, 'isAccount', ${IS_ACCOUNT},
                                                'value', extra #>> path)
                             ORDER BY name COLLATE "C"), '[]')
   FROM ${NOW} WHERE extra #>> path IS NOT NULL)`;

export type PromotedNow = PromotedField & Pick<PromotedValue, 'isAccount'>;
/** The rows `PromotedNow`. */
export const PROMOTED_NOW = Prisma.sql`
  SELECT *, ${IS_ACCOUNT} AS "isAccount" FROM ${NOW} ORDER BY name COLLATE "C"`;

const readPromotedFields = (tx: QueryClient): Promise<PromotedNow[]> =>
  tx.$queryRaw<PromotedNow[]>(PROMOTED_NOW);

/**
 * Returns the condition that a row of `title` has a field with the value, in either case, with either form of its accents,
 * and with blanks around it or without.
 */
export async function hasPromotedValue(tx: QueryClient, value: string): Promise<Prisma.Sql> {
  const fields = await readPromotedFields(tx);
  const toCompared = (text: Prisma.Sql) => Prisma.sql`lower(normalize(btrim(${text})))`;
  const texts = fields.map(({ path }) => toCompared(Prisma.sql`extra #>> ${path}::text[]`));
  return texts.length === 0
    ? Prisma.sql`false`
    : Prisma.sql`${toCompared(Prisma.sql`${value}::text`)} IN (${Prisma.join(texts)})`;
}

const NAME = /^[a-z][a-z0-9_]{0,39}$/;
/** Neither an item of a list nor a name with a point. */
const PATH =
  /^(?:titles\[\]\.|extra\.)?([^.\s\d[\]][^.[\]]{0,199}(?:\.[^.\s\d[\]][^.[\]]{0,199}){0,7})$/;
/** An export has these names beside those of the fields. */
const isTaken = (name: string) =>
  namesIn('headings').includes(name) ||
  (DESTINATION_MEMBERS as readonly string[]).includes(name) ||
  name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()) in Prisma.TitleScalarFieldEnum;
/** `extra` has no documented value; it has what an object has beside its documented fields. */
const isDocumented = (place: string) =>
  TITLE_FIELDS.some(({ column, path }) => column !== null && `${place}.`.startsWith(`${path}.`));

/** @param field.role null: the name is no field any more */
interface Promotion {
  readonly name: string;
  readonly path: string;
  readonly role: FieldRole | null;
}

/**
 * Records a promoted field, or its end. It is content of the titles of the dates whose row is created afterwards, and of
 * no other date.
 * @throws InputError for a name or a path that does not fit, for a second document, and for the end of no field
 */
export async function promoteField(
  { prisma }: Database,
  { name, path: written, role }: Promotion,
  { by, reason }: Decision,
): Promise<void> {
  const place = PATH.exec(written)?.[1];
  if (!NAME.test(name) || isTaken(name)) throw refusal('field_name');
  if (place === undefined || isDocumented(place)) throw refusal('field_path');
  await prisma.$transaction(async (tx) => {
    // One promotion after the other: a day has a version only when all earlier ones are committed.
    await takeLock(tx, 'matching');
    const present = await readPromotedFields(tx);
    if (role === null && !present.some((field) => field.name === name)) {
      throw refusal('field_unknown', { name });
    }
    // Elsewhere, the value of a title that was written before would not be that of the name now.
    const first = await tx.promotedField.findFirst({ where: { name } });
    const named = first?.path.join('.') ?? place;
    if (named !== place) throw refusal('field_moved', { name, place: named });
    if (
      role === 'document' &&
      present.some((field) => field.role === role && field.name !== name)
    ) {
      throw refusal('field_document');
    }
    const { _max } = await tx.promotedField.aggregate({ _max: { version: true } });
    const version = (_max.version ?? 0) + 1;
    await tx.promotedField.create({
      data: { version, name, path: place.split('.'), role, recordedBy: by, reason },
    });
    // A run of the matching is due.
    await forgetBreaks(tx);
    await recordAudit(tx, {
      ...{ actor: by, action: 'field.promote', reason },
      details: { name, path: place, role, version },
    });
  });
}
