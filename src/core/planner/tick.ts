import { schedule } from 'node-cron';
import { loop } from '../../base/runtime/loop.ts';
import type { Planner } from './planner-loop.ts';

export interface Ticker {
  /** When the planner last ran without a failure; null: not yet. For the readiness check of the service. */
  lastTickAt(): Date | null;
  /** Begins no further run. Resolves when the current run has ended. */
  stop(): Promise<void>;
}

const EVERY_MINUTE = '* * * * *';
/** In UTC every minute occurs exactly once. */
const TIME_ZONE = 'Etc/UTC';
/** node-cron runs a tick of a busy process up to this much late, in milliseconds. */
const LATE_MS = 50_000;
/** The planner also runs after this time without a tick: node-cron waits while the clock repeats an hour. */
const OVERDUE_MS = 70_000;

/**
 * Runs the planner at once and then every minute. node-cron supplies only the minutes: for a schedule it
 * would drop late slots and slots within a change of the clocks. The ledger finds all of them.
 * @param expression replaced in tests; may have a sixth field for seconds
 */
export function startTicker(
  planner: Pick<Planner, 'runOnce'>,
  now: () => Date = () => new Date(),
  expression: string = EVERY_MINUTE,
): Ticker {
  let lastTickAt: Date | null = null;
  const ticks = loop({
    everyMs: OVERDUE_MS,
    async run() {
      const run = await planner.runOnce();
      if (run.kind === 'done') lastTickAt = now();
    },
  });
  const minutes = schedule(expression, ticks.notify, {
    timezone: TIME_ZONE,
    missedExecutionTolerance: LATE_MS,
    suppressMissedWarning: true,
  });
  return {
    lastTickAt: () => lastTickAt,
    async stop() {
      await minutes.destroy();
      await ticks.stop();
    },
  };
}
