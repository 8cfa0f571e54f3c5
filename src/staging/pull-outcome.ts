import type { CivilDate } from '../domain/business-day.ts';
import type { HoldReason } from '../domain/day-state.ts';
import type { PullState } from '../domain/pull-state.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { LockedDay } from './day-ledger.ts';
import { discardStagedDate } from './discard-staged.ts';
import type { DatePlan } from './merge-plan.ts';

export type DateOutcome = 'merged' | 'unchanged' | 'held' | 'superseded' | 'released';

/** What a pull did to one date. */
export interface DateReport extends DatePlan {
  readonly outcome: DateOutcome;
  readonly holdReason: HoldReason | null;
  readonly unchanged: number;
}

export function datesWith(
  reports: readonly DateReport[],
  ...outcomes: readonly DateOutcome[]
): CivilDate[] {
  return reports.filter((report) => outcomes.includes(report.outcome)).map(({ date }) => date);
}

/** The pull's own state: it waits while any date waits, and is superseded only as a whole. */
export function pullStateOf(reports: readonly DateReport[]): PullState {
  const outcomes = new Set(reports.map((report) => report.outcome));
  if (outcomes.has('held')) return 'held';
  if (outcomes.has('merged')) return 'merged';
  return outcomes.has('unchanged') ? 'unchanged' : 'superseded';
}

/** Ends the attempts: the counts are those of the dates that were merged. */
export async function finishPulls(
  tx: Prisma.TransactionClient,
  ended: readonly {
    readonly pullId: bigint;
    readonly state: PullState;
    readonly titles: number;
    readonly rejected: number;
    readonly dates: readonly DateReport[];
    readonly response: { readonly httpStatus: number; readonly responseBytes: number };
  }[],
): Promise<void> {
  const pulls = ended.map(({ pullId, state, titles, rejected, dates, response }) => {
    const done = dates.filter(({ outcome }) => outcome === 'merged' || outcome === 'unchanged');
    const sum = (field: (typeof DONE_COUNTS)[number]) =>
      done.reduce((total, report) => total + report[field], 0);
    return {
      id: String(pullId),
      state,
      titles,
      rejected,
      httpStatus: response.httpStatus,
      responseBytes: response.responseBytes,
      ...Object.fromEntries(DONE_COUNTS.map((field) => [field, sum(field)])),
    };
  });
  await tx.$executeRaw`
    UPDATE conciliation.pull
    SET state = ended.state, attempts = attempts + 1,
        finished_at = CASE WHEN ended.state <> 'held' THEN clock_timestamp() END,
        http_status = ended."httpStatus", response_bytes = ended."responseBytes",
        titles = ended.titles, inserted = ended.inserted, changed = ended.changed,
        withdrawn = ended.withdrawn, restored = ended.restored, unchanged = ended.unchanged,
        rejected = ended.rejected
    FROM jsonb_to_recordset(${JSON.stringify(pulls)}::jsonb) AS ended
      (id bigint, state text, titles int, rejected int, "httpStatus" int, "responseBytes" bigint,
       inserted int, changed int, withdrawn int, restored int, unchanged int)
    WHERE pull.id = ended.id AND pull.id = ANY(${ended.map(({ pullId }) => pullId)}::bigint[])`;
}

const DONE_COUNTS = ['inserted', 'changed', 'withdrawn', 'restored', 'unchanged'] as const;

/** One line a date for what each pull did; a release writes over the line that said `held`. */
export async function recordDates(
  tx: Prisma.TransactionClient,
  pulls: readonly {
    readonly source: { readonly pullId: bigint };
    readonly reports: readonly DateReport[];
  }[],
): Promise<void> {
  const lines = pulls.flatMap(({ source, reports }) =>
    reports.map((report) => ({ ...report, pullId: String(source.pullId) })),
  );
  await tx.$executeRaw`
    INSERT INTO conciliation.pull_date
      (pull_id, date, outcome, hold_reason, titles, inserted, changed, withdrawn, restored, unchanged, rejected)
    SELECT "pullId", date, outcome, "holdReason", titles, inserted, changed, withdrawn, restored,
           unchanged, rejected
    FROM jsonb_to_recordset(${JSON.stringify(lines)}::jsonb) AS report
      ("pullId" bigint, date date, outcome text, "holdReason" text, titles int, inserted int,
       changed int, withdrawn int, restored int, unchanged int, rejected int)
    ON CONFLICT (pull_id, date) DO UPDATE
    SET outcome = excluded.outcome, titles = excluded.titles, inserted = excluded.inserted,
        changed = excluded.changed, withdrawn = excluded.withdrawn, restored = excluded.restored,
        unchanged = excluded.unchanged, rejected = excluded.rejected`;
}

/** A newer fetch has decided the date, or waits there itself: what an older pull held is void. */
export async function supersedeHolds(
  tx: Prisma.TransactionClient,
  pullId: bigint,
  days: readonly LockedDay[],
  decided: readonly CivilDate[],
): Promise<void> {
  const superseded = new Set<bigint>();
  for (const day of days) {
    if (day.heldPullId === null || day.heldPullId === pullId || !decided.includes(day.date))
      continue;
    superseded.add(day.heldPullId);
    await tx.$executeRaw`
      UPDATE conciliation.pull_date SET outcome = 'superseded'
      WHERE pull_id = ${day.heldPullId} AND date = ${day.date}::date`;
    if (day.heldFence !== null) await discardStagedDate(tx, day.heldFence, day.date);
  }
  for (const heldPullId of superseded) await settleHeldPull(tx, heldPullId);
}

/** Ends a held pull once none of its dates waits any more. */
export async function settleHeldPull(tx: Prisma.TransactionClient, pullId: bigint): Promise<void> {
  await tx.$executeRaw`
    UPDATE conciliation.pull pull
    SET state = CASE WHEN total.kept THEN 'merged' ELSE 'superseded' END,
        finished_at = now(), inserted = total.inserted, changed = total.changed,
        withdrawn = total.withdrawn, restored = total.restored, unchanged = total.unchanged
    FROM (
      SELECT bool_or(outcome = 'held') AS waiting,
             bool_or(outcome IN ('merged', 'released', 'unchanged')) AS kept,
             sum(inserted) FILTER (WHERE outcome IN ('merged', 'released')) AS inserted,
             sum(changed) FILTER (WHERE outcome IN ('merged', 'released')) AS changed,
             sum(withdrawn) FILTER (WHERE outcome IN ('merged', 'released')) AS withdrawn,
             sum(restored) FILTER (WHERE outcome IN ('merged', 'released')) AS restored,
             sum(unchanged) FILTER (WHERE outcome IN ('merged', 'released', 'unchanged')) AS unchanged
      FROM conciliation.pull_date WHERE pull_id = ${pullId}
    ) AS total
    WHERE pull.id = ${pullId} AND pull.state = 'held' AND NOT total.waiting`;
}

const PLAN_COUNTS = [
  'titles',
  'inserted',
  'changed',
  'withdrawn',
  'restored',
  'rejected',
] as const satisfies readonly (keyof DatePlan)[];

/**
 * The first date whose plan is not the one that was held: the staging tables are unlogged, so a crash
 * of the database has emptied them. Null: none.
 */
export async function findLostHold(
  tx: Prisma.TransactionClient,
  pullId: bigint,
  plans: readonly DatePlan[],
): Promise<CivilDate | null> {
  const rows = await tx.$queryRaw<DatePlan[]>`
    SELECT date::text AS date, titles, inserted, changed, withdrawn, restored, rejected
    FROM conciliation.pull_date WHERE pull_id = ${pullId}`;
  const asHeld = new Map(rows.map((row) => [row.date, row]));
  const lost = plans.find((plan) => {
    const held = asHeld.get(plan.date);
    return held === undefined || PLAN_COUNTS.some((count) => held[count] !== plan[count]);
  });
  return lost?.date ?? null;
}
