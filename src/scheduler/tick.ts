import { loop } from '../runtime/loop.ts';
import type { Planner } from './planner-loop.ts';

export interface Ticker {
  /** When the planner last ran without a failure; null before that. For the readiness of the service. */
  lastTickAt(): Date | null;
  /** Begins no further run. Resolves when the run under way has ended. */
  stop(): Promise<void>;
}

const TICK_MS = 60_000;
/** A timer may fire early by a millisecond; the minute that begins then has had its tick. */
const EARLY_MS = 5;

/**
 * Runs the planner now and then at the beginning of every minute. The schedules themselves have no timers,
 * which lose a slot when the process is late or the clock is changed. The ledger loses none.
 *
 * @param tickMs replaced in tests; a divisor of a minute
 */
export function startTicker(
  planner: Planner,
  now: () => Date = () => new Date(),
  tickMs: number = TICK_MS,
): Ticker {
  let lastTickAt: Date | null = null;
  const ticks = loop({
    everyMs: () => tickMs + EARLY_MS - ((Date.now() + EARLY_MS) % tickMs),
    async run() {
      const run = await planner.runOnce();
      if (run.kind === 'done') lastTickAt = now();
    },
  });
  return { lastTickAt: () => lastTickAt, stop: ticks.stop };
}
