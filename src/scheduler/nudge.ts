import type { Planner } from './planner-loop.ts';

export interface Nudge {
  /** Has the planner run; however often it is asked meanwhile, one run follows the one under way. */
  plan(): void;
  /** No further run begins; waits for the one that is under way. */
  stop(): Promise<void>;
}

/**
 * A planner that is told of an ended pull plans at once, so that a backfill need not wait a minute for
 * its next date.
 */
export function createNudge(planner: Planner): Nudge {
  let underWay: Promise<void> | undefined;
  let isWanted = false;
  let isStopped = false;
  const run = async () => {
    while (isWanted && !isStopped) {
      isWanted = false;
      await planner.runOnce();
    }
    underWay = undefined;
  };
  return {
    plan() {
      isWanted = true;
      underWay ??= run();
    },
    async stop() {
      isStopped = true;
      await underWay;
    },
  };
}
