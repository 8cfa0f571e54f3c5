import type { CivilDate } from '../domain/business-day.ts';
import type { HoldReason } from '../domain/day-state.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Database } from './database.ts';
import { inStaging } from './in-staging.ts';
import { type DatePlan, planChanges } from './merge-plan.ts';

/** What a release would do to one date. */
export interface HeldDatePreview extends Omit<DatePlan, 'titles'> {
  readonly responseTitles: number;
  readonly currentTitles: number;
  readonly currentSum: string;
  readonly withdrawnSum: string;
  readonly holdReason: HoldReason | null;
  readonly isSignedOff: boolean;
}

export interface WithdrawalPreview {
  readonly titleId: number;
  readonly date: CivilDate;
  readonly orderUid: string;
  readonly provider: string | null;
  readonly agent: string | null;
  readonly originalValue: string;
}

export interface ReleasePreview {
  readonly pullId: bigint;
  readonly fetchedAt: Date | null;
  readonly dates: readonly HeldDatePreview[];
  /** The titles that would be withdrawn, the greatest first; may be fewer than there are. */
  readonly withdrawals: readonly WithdrawalPreview[];
}

class Undo extends Error {}

/**
 * What releasing a pull would do, found out by planning it and taking the plan back. Null where the
 * pull holds nothing, or lost its titles in a crash of the database.
 */
export async function previewRelease(
  database: Database,
  pullId: bigint,
  limit: number,
): Promise<ReleasePreview | null> {
  let preview: ReleasePreview | null = null;
  await inStaging(() =>
    database.prisma
      .$transaction(async (tx) => {
        preview = await planAndRead(tx, pullId, limit);
        throw new Undo();
      })
      .catch((error: unknown) => {
        if (!(error instanceof Undo)) throw error;
      }),
  );
  return preview;
}

async function planAndRead(
  tx: Prisma.TransactionClient,
  pullId: bigint,
  limit: number,
): Promise<ReleasePreview | null> {
  const [pull] = await tx.$queryRaw<[{ fence: bigint; fetchedAt: Date | null }?]>`
    SELECT fence, fetch_started_at AS "fetchedAt" FROM conciliation.pull
    WHERE id = ${pullId} AND state = 'held'`;
  if (pull === undefined) return null;
  const held = await tx.$queryRaw<{ date: CivilDate }[]>`
    SELECT date::text AS date FROM conciliation.pull_date
    WHERE pull_id = ${pullId} AND outcome = 'held' ORDER BY date`;
  const dates = held.map(({ date }) => date);
  await planChanges(tx, pull.fence, dates);
  const rows = await tx.$queryRaw<(HeldDatePreview & { heldTitles: number })[]>`
    SELECT held.date::text AS date, held.hold_reason AS "holdReason", held.titles AS "heldTitles",
           (SELECT count(*) FROM conciliation.staged_title staged
            WHERE staged.fence = ${pull.fence} AND staged.accepted_date = held.date)::int AS "responseTitles",
           day.title_count AS "currentTitles", day.original_value_sum::text AS "currentSum",
           day.signed_off_at IS NOT NULL AS "isSignedOff", held.rejected,
           (count(*) FILTER (WHERE change.kind = 'inserted'))::int AS inserted,
           (count(*) FILTER (WHERE change.kind = 'changed'))::int AS changed,
           (count(*) FILTER (WHERE change.kind = 'restored'))::int AS restored,
           (count(*) FILTER (WHERE change.kind = 'withdrawn'))::int AS withdrawn,
           coalesce(sum(title.original_value) FILTER (WHERE change.kind = 'withdrawn'), 0)::text AS "withdrawnSum"
    FROM conciliation.pull_date held
    JOIN conciliation.day day ON day.date = held.date
    LEFT JOIN conciliation.staged_change change ON change.fence = ${pull.fence} AND change.date = held.date
    LEFT JOIN conciliation.title title ON title.id = change.title_id
    WHERE held.pull_id = ${pullId} AND held.outcome = 'held'
    GROUP BY held.pull_id, held.date, day.date ORDER BY held.date`;
  if (rows.some((row) => row.heldTitles !== row.responseTitles)) return null;
  const withdrawals = await tx.$queryRaw<WithdrawalPreview[]>`
    SELECT title.id::float8 AS "titleId", title.accepted_date::text AS date,
           title.order_uid AS "orderUid", title.provider_external_id AS provider,
           title.financial_agent_name AS agent, title.original_value::text AS "originalValue"
    FROM conciliation.staged_change change
    JOIN conciliation.title title ON title.id = change.title_id
    WHERE change.fence = ${pull.fence} AND change.kind = 'withdrawn'
    ORDER BY title.original_value DESC, title.id LIMIT ${limit}`;
  return {
    pullId,
    fetchedAt: pull.fetchedAt,
    dates: rows.map(({ heldTitles: _, ...row }) => row),
    withdrawals,
  };
}
