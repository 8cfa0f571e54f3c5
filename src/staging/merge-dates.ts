import type { CivilDate } from '../domain/business-day.ts';
import { stateAfterMerge } from '../domain/day-state.ts';
import { type DateAccounts, NamedAccounts } from '../domain/named-accounts.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { watchAccounts } from './account-watch.ts';
import {
  advanceCheckpoint,
  type LockedDay,
  refreshTotals,
  setHeldDay,
  setMergedDays,
} from './day-ledger.ts';
import { applyChanges, type ChangeSource } from './merge-apply.ts';
import { type DateReport, datesWith, recordDates, supersedeHolds } from './pull-outcome.ts';
import { mergeRejects } from './rejects.ts';

/** What a pull does to its dates, whose rows are locked. */
export interface DateMerge {
  readonly source: ChangeSource;
  readonly days: readonly LockedDay[];
  readonly reports: readonly DateReport[];
  /** What the titles of its one date name, which are in their table already; null: they are staged. */
  readonly loaded: DateAccounts | null;
  /** Dates that had no titles: see `planChanges`. */
  readonly fresh: readonly CivilDate[];
  readonly lastClosedDate: CivilDate;
  /** Whether rejects without a date belong to the pull. */
  readonly undatedRejects: boolean;
}

/**
 * Writes the dates that are merged and marks those that are held; also used by a release.
 *
 * @param merges of pulls that have no date in common, in the order of their dates
 */
export async function mergeDates(
  tx: Prisma.TransactionClient,
  merges: readonly DateMerge[],
): Promise<void> {
  for (const { source, reports, loaded, fresh } of merges) {
    const changed = datesWith(reports, ...CHANGED);
    if (changed.length > 0 && loaded === null) await applyChanges(tx, source, changed, fresh);
  }
  await watchChanged(tx, merges);
  const datesOf = (...outcomes: readonly DateReport['outcome'][]) =>
    merges.flatMap(({ reports }) => datesWith(reports, ...outcomes));
  const unchanged = await datesWithoutDigest(tx, datesOf('unchanged'));
  await refreshTotals(tx, [...datesOf(...CHANGED), ...unchanged]);

  const openRejects = await bringRejects(tx, merges);
  const settled = merges.flatMap(({ source, reports, lastClosedDate }) =>
    datesWith(reports, ...SETTLED).map((date) => ({
      date,
      pullId: source.pullId,
      state: stateAfterMerge({
        isClosed: date <= lastClosedDate,
        openRejects: openRejects.get(date) ?? 0,
      }),
    })),
  );
  await setMergedDays(tx, settled);
  for (const { source, reports } of merges) {
    for (const date of datesWith(reports, 'held')) {
      await setHeldDay(tx, { date, pullId: source.pullId });
    }
  }
  await recordDates(tx, merges);
  for (const { source, days, reports } of merges) {
    await supersedeHolds(tx, source.pullId, days, datesWith(reports, ...SETTLED, 'held'));
  }
  if (settled.length > 0) await advanceCheckpoint(tx, settled);
}

const CHANGED = ['merged', 'released'] as const;
const SETTLED = [...CHANGED, 'unchanged'] as const;

/** Together where it makes no difference, or else pull by pull. */
async function watchChanged(
  tx: Prisma.TransactionClient,
  merges: readonly DateMerge[],
): Promise<void> {
  const changed = merges.filter(({ reports }) => datesWith(reports, ...CHANGED).length > 0);
  if (changed.length === 0) return;
  const watch = (some: readonly DateMerge[], named: ReturnType<typeof accountsOf>) =>
    watchAccounts(
      tx,
      some.map(({ source }) => source.pullId),
      some.flatMap(({ reports }) => datesWith(reports, ...CHANGED)),
      named,
    );
  const together = accountsOf(changed);
  if (together !== null) return watch(changed, together);
  for (const merge of changed) await watch([merge], accountsOf([merge]));
}

/** Null where the titles have to be looked at, or the pulls one after the other. */
function accountsOf(merges: readonly DateMerge[]) {
  const loaded = merges.flatMap((merge) => merge.loaded ?? []);
  return loaded.length === merges.length ? NamedAccounts.ofDates(loaded) : null;
}

/** Returns how many are open, by date. */
async function bringRejects(
  tx: Prisma.TransactionClient,
  merges: readonly DateMerge[],
): Promise<ReadonlyMap<CivilDate, number>> {
  const dates: CivilDate[] = [];
  for (const { source, days, reports, undatedRejects: undated } of merges) {
    if (!undated && ![...days, ...reports].some((date) => date.rejected > 0)) continue;
    const settled = datesWith(reports, ...SETTLED);
    await mergeRejects(tx, source, settled, { undated });
    dates.push(...settled);
  }
  return dates.length === 0 ? new Map() : countOpenRejects(tx, dates);
}

async function datesWithoutDigest(
  tx: Prisma.TransactionClient,
  dates: readonly CivilDate[],
): Promise<CivilDate[]> {
  if (dates.length === 0) return [];
  const rows = await tx.$queryRaw<{ date: CivilDate }[]>`
    SELECT date::text AS date FROM conciliation.day
    WHERE date = ANY(${dates}::date[]) AND content_digest IS NULL`;
  return rows.map((row) => row.date);
}

async function countOpenRejects(
  tx: Prisma.TransactionClient,
  dates: readonly CivilDate[],
): Promise<Map<CivilDate, number>> {
  const rows = await tx.$queryRaw<{ date: CivilDate; open: number }[]>`
    SELECT date::text AS date, count(*)::int AS open FROM conciliation.rejected_title
    WHERE date = ANY(${dates}::date[]) AND status = 'open' GROUP BY date`;
  return new Map(rows.map((row) => [row.date, row.open]));
}
