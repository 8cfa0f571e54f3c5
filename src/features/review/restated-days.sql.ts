import { type Static, Type } from 'typebox';
import type { Transaction } from '../../base/database/database.ts';
import type { Snapshot } from '../../base/export/snapshot.sql.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import { amount, count, date, each, instant } from '../../console/api/schema-parts.ts';
import { type FilterOf, textField } from '../../console/list/filter.tsx';
import type { ListTotal, Place } from '../../console/list/list.tsx';
import { AMOUNT_COLUMNS } from '../../core/title/title.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import {
  CHANGE_KINDS,
  type ChangedTitle,
  changesQuery,
  readChangeTotals,
} from './changed-titles.sql.ts';

/** The columns that a day and its seal have in common. */
export const SEALED_MEASURES = [
  'title_count',
  'withdrawn_count',
  'rejected_count',
  ...AMOUNT_COLUMNS.map((column) => `${column}_sum` as const),
] as const;

/** A day that changed after its sign-off, beside its seal. Sums are of original values. */
export const RestatedDay = Type.Object({
  date,
  signedOffAt: instant,
  signedOffBy: Type.String(),
  sealedTitles: count,
  titles: count,
  sealed: amount,
  present: amount,
  difference: Type.String({ description: 'Present minus sealed, exact.' }),
  changes: each(CHANGE_KINDS, count, { description: 'Titles, since the sign-off.' }),
  fields: Type.Array(Type.String(), {
    description: 'The columns of `title` and the named fields that differ.',
  }),
});
export type RestatedDay = Readonly<Static<typeof RestatedDay>>;

/** Only the days that one person signed off. */
export const RESTATED_FILTER = { by: textField('months.daySignedBy') };
type RestatedFilter = FilterOf<typeof RESTATED_FILTER>;

const selected = ({ by }: RestatedFilter) => Prisma.sql`
  conciliation.day AS day JOIN conciliation.sign_off AS seal ON seal.date = day.date AND seal.ended_at IS NULL
  WHERE day.restated_after_sign_off AND (${by}::text IS NULL OR seal.signed_off_by = ${by}::text)`;

export async function countRestated(db: Transaction, filter: RestatedFilter): Promise<ListTotal> {
  const [{ rows, ...sums }] = await db.$queryRaw<
    [{ rows: number; sealed: string; present: string; difference: string }]
  >`
    SELECT count(*)::int AS rows, coalesce(sum(seal.original_value_sum), 0)::text AS sealed,
           coalesce(sum(day.original_value_sum), 0)::text AS present,
           coalesce(sum(day.original_value_sum - seal.original_value_sum), 0)::text AS difference
    FROM ${selected(filter)}`;
  return { rows, sums };
}

/** Returns a part of the selected days, in their order. */
export async function readRestated(
  db: Transaction,
  filter: RestatedFilter,
  { offset, limit }: Place,
): Promise<RestatedDay[]> {
  const days = await db.$queryRaw<(RestatedDay & { fence: bigint })[]>`
    SELECT seal.fence, day.date::text AS date, seal.signed_off_at AS "signedOffAt", seal.signed_off_by AS "signedOffBy",
           seal.title_count AS "sealedTitles", day.title_count AS titles, seal.original_value_sum::text AS sealed,
           day.original_value_sum::text AS present, (day.original_value_sum - seal.original_value_sum)::text AS difference
    FROM ${selected(filter)} ORDER BY day.date OFFSET ${offset}::int LIMIT ${limit}::int`;
  const rows: RestatedDay[] = [];
  for (const { fence, ...day } of days) {
    rows.push({ ...day, ...(await readChangeTotals(db, day.date, fence)) });
  }
  return rows;
}

/** The differing titles, by day. Can be read once. */
export type ChangedRows = AsyncGenerator<readonly (ChangedTitle & { readonly date: CivilDate })[]>;

/** Reads the differing titles of every restated day that a person signed off; null: that anyone did. */
export async function* readRestatedTitles(snapshot: Snapshot, by: string | null): ChangedRows {
  const { text, values } = Prisma.sql`
    SELECT day.date::text AS date, seal.fence::text AS fence
    FROM ${selected({ by })} ORDER BY day.date`;
  yield* readMoved(snapshot, await snapshot.query(text, values));
}

/** Reads the differing titles of days since their fences, by day. */
export async function* readMoved(
  snapshot: Snapshot,
  days: readonly { readonly date: CivilDate; readonly fence: string }[],
): ChangedRows {
  for (const { date, fence } of days) {
    const { text, values } = changesQuery(date, BigInt(fence), { limit: null, newTitles: null });
    for await (const rows of snapshot.read<ChangedTitle>(text, values)) {
      yield rows.map((row) => ({ ...row, date }));
    }
  }
}
