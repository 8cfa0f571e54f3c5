import type { Database } from '../../src/database/database.ts';
import type { CivilDate } from '../../src/domain/business-day.ts';
import { runSweep, type SweepOutcome, type SweepParts } from '../../src/sweep/run-sweep.ts';
import type { SweepReport } from '../../src/sweep/sweep-ledger.sql.ts';
import type { PullWorld } from './pull-world.ts';

/** A sweep of no slot, of everything since a date. */
export async function createSweep({ prisma }: Database, from: CivilDate): Promise<bigint> {
  const data = { fromDate: from, requestedBy: 'test' };
  return (await prisma.sweep.create({ data })).id;
}

/** One attempt at a sweep, with any outcome. */
export async function attemptSweep(
  world: PullWorld,
  from: CivilDate,
  overrides: Partial<SweepParts> = {},
): Promise<SweepOutcome & { sweepId: bigint }> {
  const parts = { ...world.parts, ...overrides };
  const sweepId = await createSweep(world.database, from);
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
