import { type Static, Type } from 'typebox';
import type { Database } from '../../base/database/database.ts';
import { type Snapshot, withSnapshot } from '../../base/export/snapshot.sql.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { amount, date, each, instant, orNull } from '../../console/api/schema-parts.ts';
import { AMOUNT_COLUMNS } from '../../core/title/title.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { type MovedTitle, movedQuery } from './moved-titles.sql.ts';

/** The columns that a day and its seal have in common. */
export const SEALED_MEASURES = [
  'title_count',
  'withdrawn_count',
  'rejected_count',
  ...AMOUNT_COLUMNS.map((column) => `${column}_sum` as const),
] as const;

const Difference = Type.Object({ sealed: amount, present: amount, difference: amount });
export const Differences = each(SEALED_MEASURES, Difference, {
  description: 'Counts and sums of the seal, of the present titles, and present minus sealed.',
});
export type Differences = Static<typeof Differences>;

/** A day that changed after its sign-off, beside its seal. */
export const RestatedDay = Type.Object({
  date,
  signedOffAt: instant,
  signedOffBy: Type.String(),
  sealedDigest: Type.String(),
  presentDigest: orNull('string'),
  fence: Type.String({ description: 'Of the fetch that was sealed.' }),
  differences: Differences,
});
export type RestatedDay = Readonly<Static<typeof RestatedDay>>;

export interface RestatedFilter {
  /** Only the days that this person signed off; null: all. */
  readonly signedBy: string | null;
  /** No later day counts. */
  readonly today: CivilDate;
}

/** The number of the selected days, and their differences added up. */
export interface RestatedTotals {
  readonly days: number;
  readonly differences: Differences;
}

export async function readRestatedTotals(
  database: Database,
  filter: RestatedFilter,
): Promise<RestatedTotals> {
  const [totals] = await database.prisma.$queryRaw<[RestatedTotals]>(totalsQuery(filter));
  return totals;
}

/** Returns a part of the selected days, in date order. */
export function readRestatedDays(
  database: Database,
  filter: RestatedFilter,
  page: { readonly offset: number; readonly limit: number },
): Promise<RestatedDay[]> {
  return database.prisma.$queryRaw<RestatedDay[]>(daysQuery(filter, page));
}

// The names are constants of this program. No input reaches Prisma.raw.
const differences = (aggregate: string) =>
  Prisma.raw(
    `jsonb_build_object(${SEALED_MEASURES.map((name) => {
      const [sealed, present] = ['seal', 'day'].map(
        (table) => `coalesce(${aggregate}(${table}.${name}), 0)`,
      );
      return `'${name}', jsonb_build_object('sealed', (${sealed})::text, 'present', (${present})::text,
        'difference', (${present} - ${sealed})::text)`;
    }).join(', ')})`,
  );

const selected = ({ signedBy, today }: RestatedFilter) => Prisma.sql`
  conciliation.day day JOIN conciliation.sign_off seal ON seal.date = day.date AND seal.ended_at IS NULL
  WHERE day.restated_after_sign_off AND day.date <= ${today}::date
    AND (${signedBy}::text IS NULL OR seal.signed_off_by = ${signedBy}::text)`;

const totalsQuery = (filter: RestatedFilter) => Prisma.sql`
  SELECT count(*)::float8 AS days, ${differences('sum')} AS differences FROM ${selected(filter)}`;

const daysQuery = (
  filter: RestatedFilter,
  { offset, limit }: { readonly offset: number; readonly limit: number | null },
) => Prisma.sql`
  SELECT day.date::text AS date, seal.signed_off_at AS "signedOffAt",
         seal.signed_off_by AS "signedOffBy", seal.content_digest AS "sealedDigest",
         day.content_digest AS "presentDigest", seal.fence::text AS fence,
         ${differences('')} AS differences
  FROM ${selected(filter)} ORDER BY day.date OFFSET ${offset}::int LIMIT ${limit}::int`;

export interface RestatedSnapshot {
  readonly days: readonly RestatedDay[];
  /** Every differing title, by day. Can be read once. */
  readonly moved: AsyncGenerator<readonly (MovedTitle & { readonly date: CivilDate })[]>;
}

/** Calls `read` with all selected days and their differing titles; throws as `withSnapshot` does. */
export function readRestatedSnapshot<T>(
  database: Database,
  filter: RestatedFilter,
  signal: AbortSignal,
  read: (restated: RestatedSnapshot) => Promise<T>,
): Promise<T> {
  return withSnapshot(database, signal, async (snapshot) => {
    const { text, values } = daysQuery(filter, { offset: 0, limit: null });
    const days: RestatedDay[] = await snapshot.query(text, values);
    return read({ days, moved: readMoved(snapshot, days) });
  });
}

/** Reads the differing titles of days since their fences, by day. */
export async function* readMoved(
  snapshot: Snapshot,
  days: readonly Pick<RestatedDay, 'date' | 'fence'>[],
): RestatedSnapshot['moved'] {
  for (const { date, fence } of days) {
    const { text, values } = movedQuery(date, BigInt(fence), { limit: null, newTitles: null });
    for await (const rows of snapshot.read<MovedTitle>(text, values)) {
      yield rows.map((row) => ({ ...row, date }));
    }
  }
}
