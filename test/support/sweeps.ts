import type { CivilDate } from '../../src/domain/business-day.ts';
import { dateIn } from '../../src/domain/business-day.ts';
import { runSweep, type SweepOutcome, type SweepParts } from '../../src/sweep/run-sweep.ts';
import { createSweep, type SweepReport } from '../../src/sweep/sweep-ledger.sql.ts';
import type { PullWorld } from './pull-world.ts';

/** One attempt at a sweep, with any outcome. */
export async function attemptSweep(
  world: PullWorld,
  from: CivilDate,
  overrides: Partial<SweepParts> = {},
): Promise<SweepOutcome & { sweepId: bigint }> {
  const parts = { ...world.parts, ...overrides };
  const today = dateIn(parts.timeZone, parts.now?.() ?? new Date());
  const sweepId = await createSweep(world.database, { from, today, requestedBy: 'test' });
  return { ...(await runSweep(parts, sweepId, new AbortController().signal)), sweepId };
}

/** One attempt that has to end well. */
export async function sweep(
  world: PullWorld,
  from: CivilDate,
  overrides: Partial<SweepParts> = {},
): Promise<SweepReport> {
  const outcome = await attemptSweep(world, from, overrides);
  if (outcome.kind !== 'done') throw outcome.error;
  return outcome.report;
}

/** Pulls each date that differs, as the planner would have it. */
export async function pullDifferences(world: PullWorld, report: SweepReport): Promise<void> {
  for (const { date } of report.differences) await world.pull(date);
}
