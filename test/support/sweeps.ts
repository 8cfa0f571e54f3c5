import type { CivilDate } from '../../src/base/values/business-day.ts';
import {
  runSweep,
  type SweepOutcome,
  type SweepParts,
} from '../../src/features/sweep/sweeps.sql.ts';
import type { PullWorld } from './pull-world.ts';

/** One attempt at a sweep of everything since a date, with any outcome. */
export function attemptSweep(
  world: PullWorld,
  from: CivilDate,
  overrides: Partial<SweepParts> = {},
): Promise<SweepOutcome> {
  const parts = { ...world.parts, ...overrides };
  return runSweep(parts, { from, slotAt: new Date() }, new AbortController().signal);
}

export type DoneSweep = Extract<SweepOutcome, { kind: 'done' }>['report'];

/** One attempt that has to end well. */
export async function sweep(
  world: PullWorld,
  from: CivilDate,
  overrides: Partial<SweepParts> = {},
): Promise<DoneSweep> {
  const outcome = await attemptSweep(world, from, overrides);
  if (outcome.kind !== 'done') throw outcome.error;
  return outcome.report;
}
