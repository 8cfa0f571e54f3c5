import type { CivilDate } from '../domain/business-day.ts';
import type { HoldReason } from '../domain/day-state.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Database } from './database.ts';
import { inStaging } from './in-staging.ts';
import { countPlan, type DatePlan, planChanges } from './merge-plan.ts';
import { allowNestedLoops, forbidNestedLoops } from './planner-settings.ts';
import { findLostHold } from './pull-outcome.ts';

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

type LedgerOfHeldDate = Omit<HeldDatePreview, Exclude<keyof DatePlan, 'date'> | 'responseTitles'>;

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
  await forbidNestedLoops(tx);
  const fresh = await planChanges(tx, pull.fence, dates);
  const plans = await countPlan(tx, pull.fence, dates, fresh);
  if ((await findLostHold(tx, pullId, plans)) !== null) return null;
  await allowNestedLoops(tx);
  const rows = await tx.$queryRaw<LedgerOfHeldDate[]>`
    SELECT held.date::text AS date, held.hold_reason AS "holdReason",
           day.title_count AS "currentTitles", day.original_value_sum::text AS "currentSum",
           day.signed_off_at IS NOT NULL AS "isSignedOff",
           (SELECT coalesce(sum(title.original_value), 0)::text
            FROM conciliation.staged_change change
            JOIN conciliation.title title ON title.id = change.title_id
            WHERE change.fence = ${pull.fence} AND change.date = held.date
              AND change.kind = 'withdrawn') AS "withdrawnSum"
    FROM conciliation.pull_date held JOIN conciliation.day day ON day.date = held.date
    WHERE held.pull_id = ${pullId} AND held.outcome = 'held' ORDER BY held.date`;
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
    dates: rows.flatMap((row) => {
      const plan = plans.find(({ date }) => date === row.date);
      if (plan === undefined) return [];
      const { titles: responseTitles, ...counts } = plan;
      return [{ ...counts, ...row, responseTitles }];
    }),
    withdrawals,
  };
}
