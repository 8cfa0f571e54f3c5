import { type Static, Type } from 'typebox';
import type { Database } from '../../../base/database/database.ts';
import {
  ChangedField,
  date,
  dateOrNull,
  id,
  instant,
  orNull,
  words,
} from '../../../console/api/schema-parts.ts';
import type { PullOrigin } from '../../../core/ledger/states.ts';
import { TITLE_COLUMNS, type TitleColumn } from '../../../core/title/title.ts';
import { Prisma } from '../../../generated/prisma/client.ts';
import { OPEN_HOLDS } from '../../accounts/payment-holds.sql.ts';
import { businessDayOf } from '../../calendar/business-days.sql.ts';
import { PROMOTED_VALUES, PromotedValue } from '../../fields/promoted-fields.sql.ts';
import { differingFields } from '../../review/changed-titles.sql.ts';

/** A title of the same order, buyer and provider with another due date or value. */
const relatedTitle = (description: string) => Type.Union([id, Type.Null()], { description });

const Revision = Type.Object({
  revision: id,
  kind: words(['changed', 'withdrawn', 'restored']),
  changedAt: instant,
  pullId: id,
  fields: Type.Array(ChangedField),
});

/** Values are text as PostgreSQL writes it: exact amounts, `YYYY-MM-DD`. */
export const Title = Type.Object({
  id,
  status: words(['current', 'withdrawn']),
  acceptedDate: date,
  occurrence: id,
  fields: Type.Object(
    Object.fromEntries(TITLE_COLUMNS.map((column) => [column, orNull('string')])) as Record<
      TitleColumn,
      ReturnType<typeof orNull<'string'>>
    >,
    { description: 'Tax identifiers, accounts and undocumented fields are masked.' },
  ),
  promoted: Type.Array(PromotedValue),
  businessDay: dateOrNull,
  predecessor: relatedTitle(
    'The withdrawn title of the same order, buyer and provider that this one replaces.',
  ),
  successor: relatedTitle('The newest title that replaced this one.'),
  isPaymentHeld: Type.Boolean({
    description: 'The title names a changed bank account that no person has confirmed.',
  }),
  createdAt: instant,
  changedAt: instant,
  revisions: Type.Array(Revision),
});

/** What the page says of a revision besides: who asked for its pull. */
interface RevisionOfPull extends Readonly<Omit<Static<typeof Revision>, 'kind'>> {
  /** inserted: the first response that had the title. */
  readonly kind: Static<typeof Revision>['kind'] | 'inserted';
  readonly origin: PullOrigin;
  readonly requestedBy: string;
}

export interface TitleDetail extends Readonly<Omit<Static<typeof Title>, 'revisions'>> {
  /** Newest first. */
  readonly revisions: readonly RevisionOfPull[];
}

const fields = Prisma.raw(
  `jsonb_build_object(${TITLE_COLUMNS.map((name) => `'${name}', title.${name}::text`).join(', ')})`,
);

/** Returns null for an unknown title. */
export async function readTitleDetail(database: Database, id: bigint): Promise<TitleDetail | null> {
  const [title] = await database.prisma.$queryRaw<[Omit<TitleDetail, 'revisions'>?]>`
    SELECT title.id::float8 AS id, title.status, accepted_date::text AS "acceptedDate", occurrence,
           ${businessDayOf(Prisma.sql`title.anticipated_due_date`)}::text AS "businessDay",
           ${fields} AS fields, ${PROMOTED_VALUES} AS promoted,
           EXISTS (SELECT FROM (${OPEN_HOLDS}) AS held WHERE held.title_id = title.id) AS "isPaymentHeld",
           (SELECT predecessor_id FROM conciliation.title_succession WHERE title_id = title.id)::float8 AS predecessor,
           (SELECT title_id FROM conciliation.title_succession WHERE predecessor_id = title.id
            ORDER BY pull_id DESC LIMIT 1)::float8 AS successor,
           title.created_at AS "createdAt", title.changed_at AS "changedAt"
    FROM conciliation.title WHERE title.id = ${id}`;
  if (title === undefined) return null;
  const revisions = await database.prisma.$queryRaw<RevisionOfPull[]>`
    SELECT revision, kind, at AS "changedAt", pull_id::float8 AS "pullId", pull.origin,
           pull.requested_by AS "requestedBy", fields
    FROM (
      SELECT revision, revision.kind, revision.changed_at, pull_id, ${differingFields(
        Prisma.sql`revision.before`,
        Prisma.sql`revision.after`,
        Prisma.sql`title.accepted_date`,
        Prisma.sql`::text`,
      )}
      FROM conciliation.title_revision AS revision JOIN conciliation.title ON title.id = title_id WHERE title_id = ${id}
      UNION ALL
      SELECT 0, 'inserted', created_at, first_pull_id, '[]' FROM conciliation.title WHERE id = ${id}
    ) AS history (revision, kind, at, pull_id, fields)
    LEFT JOIN conciliation.pull ON pull.id = pull_id ORDER BY revision DESC`;
  return { ...title, revisions };
}
