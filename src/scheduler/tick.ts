import { schedule } from 'node-cron';
import type { Planner } from './planner-loop.ts';

export interface Ticker {
  /** When the planner last ran to its end; null: not yet. For the readiness of the service. */
  lastTickAt(): Date | null;
  /** No further run begins; waits for the one that is under way. */
  stop(): Promise<void>;
}

const EVERY_MINUTE = '* * * * *';
/** In UTC every minute exists, and exists once. */
const TIME_ZONE = 'Etc/UTC';
/** A tick that a busy process sees late is late, not void. */
const LATE_MS = 50_000;
const OVERDUE_MS = 90_000;

/**
 * Runs the planner now and then once a minute. The schedules themselves are not left to node-cron,
 * which drops what it sees late and what falls into a change of the clocks; the ledger forgets none.
 *
 * @param expression replaced in tests, which have no minute to wait; may name seconds in a sixth field
 */
export function startTicker(
  planner: Planner,
  now: () => Date = () => new Date(),
  expression: string = EVERY_MINUTE,
): Ticker {
  let lastTickAt: Date | null = null;
  let underWay: Promise<void> = Promise.resolve();
  let isStopped = false;

  const tick = (): Promise<void> => {
    if (isStopped) return underWay;
    overdue.refresh();
    underWay = planner.runOnce().then((run) => {
      if (run.kind === 'done') lastTickAt = now();
    });
    return underWay;
  };
  const task = schedule(expression, tick, {
    timezone: TIME_ZONE,
    missedExecutionTolerance: LATE_MS,
    suppressMissedWarning: true,
  });
  // node-cron waits for the minute that it expects next: after the system's clock was set back an
  // hour, for an hour. This timer does not follow that clock.
  const overdue = setTimeout(async () => {
    await task.stop();
    if (!isStopped) await task.start();
    await tick();
  }, OVERDUE_MS);
  void tick();

  return {
    lastTickAt: () => lastTickAt,
    async stop() {
      isStopped = true;
      clearTimeout(overdue);
      await task.destroy();
      await underWay;
    },
  };
}
