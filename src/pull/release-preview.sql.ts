import type { Database, Transaction } from '../database/database.ts';
import { BUYER } from '../database/tax-id.sql.ts';
import type { CivilDate } from '../domain/business-day.ts';
import type { HoldDetail } from '../domain/checks/plausibility.ts';
import type { HoldReason } from '../domain/day-state.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { readDay } from '../ledger/day-ledger.sql.ts';
import { configurePlanner, resetPlanner } from '../ledger/planner-settings.sql.ts';
import { type HeldPull, isHoldLost, readHeldPull } from './held-pull.sql.ts';
import { type ChangeCounts, planChanges } from './merge/merge-plan.sql.ts';

interface TitlePreview {
  /** Null: the title is not merged yet. */
  readonly titleId: number | null;
  readonly orderUid: string;
  readonly provider: string | null;
  readonly agent: string | null;
  readonly originalValue: string;
}

/** The changes that a release would make. */
export interface ReleasePreview extends ChangeCounts {
  readonly pullId: bigint;
  readonly date: CivilDate;
  readonly fetchedAt: Date | null;
  readonly holdReason: HoldReason | null;
  readonly holdDetail: HoldDetail | null;
  readonly rejected: number;
  /** Titles of the response that keep the contract. */
  readonly responseTitles: number;
  readonly currentTitles: number;
  /** Decimal text, exact, of original values. */
  readonly currentSum: string;
  readonly withdrawnSum: string;
  readonly isSignedOff: boolean;
  /** The titles that would be withdrawn, by original value, the greatest first; limited in number. */
  readonly withdrawals: readonly TitlePreview[];
  /** The titles that the limit counts, unless those are withdrawals; by original value, limited in number. */
  readonly concerned: readonly TitlePreview[];
}

class Undo extends Error {}

/**
 * Plans the release of a pull, reads the plan, and rolls it back. Null where the pull is not held, or lost
 * its titles in a crash of the database.
 */
export async function previewRelease(
  database: Database,
  pullId: bigint,
  limit: number,
): Promise<ReleasePreview | null> {
  let preview: ReleasePreview | null = null;
  await database.prisma
    .$transaction(async (tx) => {
      preview = await planAndRead(tx, pullId, limit);
      throw new Undo();
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undo)) throw error;
    });
  return preview;
}

async function planAndRead(
  tx: Transaction,
  pullId: bigint,
  limit: number,
): Promise<ReleasePreview | null> {
  await configurePlanner(tx);
  const held = await readHeldPull(tx, pullId);
  if (held === null) return null;
  const plan = await planChanges(
    tx,
    held.fence,
    await readDay(tx, held.date, held.fence),
    held.isRepair,
  );
  if (isHoldLost(held, plan)) return null;
  await resetPlanner(tx);
  const [totals] = await tx.$queryRaw<
    [Pick<ReleasePreview, 'currentTitles' | 'currentSum' | 'withdrawnSum' | 'isSignedOff'>]
  >`
    SELECT title_count AS "currentTitles", original_value_sum::text AS "currentSum",
           signed_off_at IS NOT NULL AS "isSignedOff",
           (SELECT coalesce(sum(title.original_value), 0)::text
            FROM conciliation.staged_change change
            JOIN conciliation.title title ON title.id = change.title_id
            WHERE change.fence = ${held.fence} AND change.kind = 'withdrawn') AS "withdrawnSum"
    FROM conciliation.day WHERE date = ${held.date}::date`;
  const withdrawals = await tx.$queryRaw<TitlePreview[]>`
    SELECT title.id::float8 AS "titleId", title.order_uid AS "orderUid",
           title.provider_external_id AS provider, title.financial_agent_name AS agent,
           title.original_value::text AS "originalValue"
    FROM conciliation.staged_change change
    JOIN conciliation.title title ON title.id = change.title_id
    WHERE change.fence = ${held.fence} AND change.kind = 'withdrawn'
    ORDER BY title.original_value DESC, title.id LIMIT ${limit}`;
  const { titles: responseTitles, ...counts } = plan;
  const holdReason = held.holdReason as HoldReason | null;
  const { date, fetchedAt, holdDetail } = held;
  const concerned = await readConcerned(tx, held, limit);
  return {
    ...counts,
    ...totals,
    pullId,
    date,
    fetchedAt,
    holdReason,
    holdDetail,
    responseTitles,
    withdrawals,
    concerned,
  };
}

/** The titles of the response that the limit of the hold counts. Withdrawals and a missing buyer have none. */
function readConcerned(
  tx: Transaction,
  { fence, holdReason, holdDetail }: HeldPull,
  limit: number,
): Promise<TitlePreview[]> {
  const counted = holdReason === null ? undefined : COUNTED[holdReason];
  if (counted === undefined) return Promise.resolve([]);
  const buyer = holdDetail?.buyer ?? null;
  return tx.$queryRaw<TitlePreview[]>`
    WITH response AS (
      SELECT staged.*, change.kind, change.title_id,
             row_number() OVER (PARTITION BY staged.identity_hash ORDER BY staged.ordinal) AS copy
      FROM conciliation.staged_title AS staged
      LEFT JOIN conciliation.staged_change AS change USING (fence, ordinal)
      WHERE staged.fence = ${fence}
    )
    SELECT title_id::float8 AS "titleId", order_uid AS "orderUid", provider_external_id AS provider,
           financial_agent_name AS agent, original_value::text AS "originalValue"
    FROM response
    WHERE (${counted}) AND (${buyer}::text IS NULL OR ${BUYER} = ${buyer}::text)
    ORDER BY original_value DESC, order_uid, ordinal LIMIT ${limit}`;
}

/** The titles that each limit counts, of rows `response`. */
const COUNTED: Readonly<Record<string, Prisma.Sql>> = {
  duplicates: Prisma.sql`copy > 1`,
  growth: Prisma.sql`kind IS NULL OR kind = 'inserted'`,
  changed_share: Prisma.sql`kind = 'changed'`,
  value_jump: Prisma.sql`true`,
};
