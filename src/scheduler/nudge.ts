import type { Planner } from './planner-loop.ts';

/**
 * A planner that is told of an ended pull plans at once, so that a backfill need not wait a minute for
 * its next date. However often it is told meanwhile, one run follows the one under way.
 */
export function createNudge(planner: Planner): () => void {
  let isRunning = false;
  let isWanted = false;
  const run = async () => {
    isRunning = true;
    while (isWanted) {
      isWanted = false;
      await planner.runOnce();
    }
    isRunning = false;
  };
  return () => {
    isWanted = true;
    if (!isRunning) void run();
  };
}
