/** Why a response waits for a person before it is merged. */
import type { Transaction } from '../../base/database/database.ts';
import type { LockedDay } from '../ledger/day-ledger.sql.ts';
import type { Attempt } from '../ledger/pull-ledger.sql.ts';
import { readPlannedLosses, type SuccessorScope } from './losses.sql.ts';
import type { MergePlan } from './merge-plan.sql.ts';
import {
  type HoldDetail,
  IMPLAUSIBLE_REASONS,
  implausibleHold,
  readStagedFacts,
} from './plausibility.sql.ts';

export interface MergePolicy {
  readonly withdrawalLimitPercent: number;
  /** False: a response is held because of withdrawals only. */
  readonly checksPlausibility: boolean;
}

/** The reasons why a response waits for a decision before it is merged. */
export const HOLD_REASONS = [
  'emptied',
  'unreadable',
  'withdrawal_limit',
  ...IMPLAUSIBLE_REASONS,
] as const;
export type HoldReason = (typeof HOLD_REASONS)[number];

/**
 * Returns the reason why a response must wait because of the titles that the date loses; null: none.
 * Titles that earlier responses withdrew count, so that no series of responses loses more than one may.
 */
export function decideHold(day: {
  readonly currentTitles: number;
  /** Titles of the response that keep the contract. */
  readonly responseTitles: number;
  readonly rejected: number;
  /** Titles that the response withdraws. */
  readonly withdrawals: number;
  /** Those of them without a successor. */
  readonly lost: number;
  /** Titles without a successor that earlier responses withdrew. */
  readonly lostBefore: number;
  readonly withdrawalLimitPercent: number;
}): HoldReason | null {
  const { lost, lostBefore, currentTitles } = day;
  if (day.withdrawals > 0 && day.responseTitles === 0 && day.rejected > 0) return 'unreadable';
  if (lost === 0) return null;
  if (day.responseTitles === 0) return 'emptied';
  const isOverLimit =
    (lost + lostBefore) * 100 > day.withdrawalLimitPercent * (currentTitles + lostBefore);
  return isOverLimit ? 'withdrawal_limit' : null;
}

/**
 * The greatest share of the titles of a run, in percent, that its responses may withdraw together: half of the limit
 * of one date. Null: there is no limit. Responses that each lose at most this share of their date lose at most this
 * share of the run together. So such a response is merged at once, and only a greater one waits for the others.
 */
export function runLimitPercent(withdrawalLimitPercent: number): number | null {
  return withdrawalLimitPercent === 100 ? null : withdrawalLimitPercent / 2;
}

/** A run with fewer lost titles is not held. */
const MIN_RUN_TITLES = 20;

/** The losses of all responses of a run. */
export interface RunLosses {
  /** Dates that lose titles. */
  readonly dates: number;
  readonly lost: number;
  /** Titles of all dates of the run before it. */
  readonly titles: number;
}

/** Whether the responses of a run that withdraw titles must wait for a person. The limit of the date holds for one. */
export function isRunHeld(run: RunLosses, withdrawalLimitPercent: number): boolean {
  const limit = runLimitPercent(withdrawalLimitPercent);
  if (limit === null || run.dates < 2 || run.lost < MIN_RUN_TITLES) return false;
  return run.lost * 100 > limit * run.titles;
}

export interface Hold {
  readonly reason: HoldReason;
  readonly detail: HoldDetail | null;
}

interface PlannedMerge {
  readonly day: LockedDay;
  readonly plan: MergePlan;
}

/**
 * The holds that the end of a run decides again; see `decideRuns`. `run_withdrawals`: until then the response waits for
 * the other dates of its run, and afterwards the run as a whole has lost too much.
 */
export const LOSS_REASONS = [
  'emptied',
  'withdrawal_limit',
  'run_withdrawals',
  'buyer_withdrawals',
] as const satisfies readonly HoldReason[];

const isLossHold = (hold: Hold | null) => LOSS_REASONS.some((reason) => reason === hold?.reason);

/**
 * Why the planned changes of an attempt must wait for a person, and how many titles its date loses.
 *
 * While a run is under way, the decision does not depend on other dates, whose responses come in any order: no
 * successor on another date counts, and a response that loses more than the share of a run waits for the end of the run.
 */
export async function findHold(
  tx: Transaction,
  { fence, isOfRun, origin }: Pick<Attempt, 'fence' | 'isOfRun' | 'origin'>,
  { day, plan }: PlannedMerge,
  policy: MergePolicy,
): Promise<{ readonly hold: Hold | null; readonly lost: number }> {
  // A repair withdraws rows that no response had: no earlier loss adds to them.
  const change = { plan, day: origin === 'repair' ? { ...day, withdrawnCount: 0 } : day };
  const within = await holdWithin(tx, fence, change, policy, 'date');
  const runLimit = runLimitPercent(policy.withdrawalLimitPercent);
  if (isOfRun) {
    const isGreat = runLimit !== null && within.lost * 100 > runLimit * change.day.titleCount;
    if (within.hold !== null || !isGreat) return within;
    return { ...within, hold: { reason: 'run_withdrawals', detail: null } };
  }
  if (!isLossHold(within.hold)) return within;
  return holdWithin(tx, fence, change, policy, 'dates');
}

async function holdWithin(
  tx: Transaction,
  fence: bigint,
  { day, plan }: PlannedMerge,
  policy: MergePolicy,
  scope: SuccessorScope,
): Promise<{ readonly hold: Hold | null; readonly lost: number }> {
  const { checksPlausibility, withdrawalLimitPercent } = policy;
  const losses = plan.withdrawn === 0 ? [] : await readPlannedLosses(tx, fence, day, scope);
  const lost = sumOf(losses.map((loss) => loss.lost));
  const reason = decideHold({
    currentTitles: day.titleCount,
    responseTitles: plan.titles,
    rejected: plan.rejected,
    withdrawals: plan.withdrawn,
    lost,
    lostBefore: sumOf(losses.map((loss) => loss.lostBefore)),
    withdrawalLimitPercent,
  });
  if (reason !== null) return { lost, hold: { reason, detail: null } };
  // A response without changes needs no further statement.
  const isChanged = plan.inserted + plan.changed + plan.withdrawn > 0;
  if (!checksPlausibility || !isChanged) return { lost, hold: null };
  const facts = await readStagedFacts(tx, fence, day, plan, losses);
  return { lost, hold: implausibleHold(facts, withdrawalLimitPercent) };
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);
