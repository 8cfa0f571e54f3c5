import { schedule } from 'node-cron';
import { loop } from '../runtime/loop.ts';
import type { Planner } from './planner-loop.ts';

export interface Ticker {
  /** When the planner last ran without a failure; null before that. For the readiness of the service. */
  lastTickAt(): Date | null;
  /** Begins no further run. Resolves when the run under way has ended. */
  stop(): Promise<void>;
}

const EVERY_MINUTE = '* * * * *';
/** In UTC every minute exists, and exists once. */
const TIME_ZONE = 'Etc/UTC';
/** node-cron runs a tick that a busy process sees up to this much late. */
const LATE_MS = 50_000;
/** The planner also runs after this time without a tick: node-cron waits while the clock repeats an hour. */
const OVERDUE_MS = 70_000;

/**
 * Runs the planner now and then once a minute. node-cron gives the minutes only: of a schedule it would drop
 * the slots that it sees late and those that fall into a change of the clocks. The ledger loses none.
 *
 * @param expression replaced in tests; may name seconds in a sixth field
 */
export function startTicker(
  planner: Planner,
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
