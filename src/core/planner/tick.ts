import { schedule } from 'node-cron';
import { type Loop, loop } from '../../base/runtime/loop.ts';
import type { Planner } from './planner-loop.ts';

const EVERY_MINUTE = '* * * * *';
/** In UTC every minute occurs exactly once. */
const TIME_ZONE = 'Etc/UTC';
/** node-cron runs a tick of a busy process up to this much late, in milliseconds. */
const LATE_MS = 50_000;
/** The planner also runs after this time without a tick: node-cron waits while the clock repeats an hour. */
const OVERDUE_MS = 70_000;

/**
 * Runs the planner at once and then every minute, until it is stopped. node-cron supplies only the minutes: for a
 * schedule it would drop late slots and slots within a change of the clocks. The ledger finds all of them.
 * @param overdueMs replaced in tests
 */
export function startTicker(
  planner: Pick<Planner, 'runOnce'>,
  overdueMs = OVERDUE_MS,
): Pick<Loop, 'stop'> {
  const ticks = loop({ everyMs: overdueMs, run: () => planner.runOnce() });
  const minutes = schedule(EVERY_MINUTE, ticks.notify, {
    timezone: TIME_ZONE,
    missedExecutionTolerance: LATE_MS,
    suppressMissedWarning: true,
  });
  return {
    async stop() {
      await minutes.destroy();
      await ticks.stop();
    },
  };
}
