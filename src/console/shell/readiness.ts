/** Whether this process can do its work: the checks of `/readyz`. */
import { Gauge, type Registry } from 'prom-client';
import { ConciliationError } from '../../base/runtime/errors.ts';
import type { Logger } from '../../base/runtime/logger.ts';
import { boundedRun, OverdueError } from '../../base/runtime/timing.ts';

/** A condition for the work of this process. */
export interface ReadinessCheck {
  /** Does not change: monitoring systems refer to it. */
  readonly name: string;
  /** Returns null on success, otherwise the reason without secrets. A rejection is a failure too. */
  readonly run: () => Promise<string | null>;
}

const CHECK_TIMEOUT_MS = 3_000;

type Readiness = ReturnType<typeof createReadiness>;

/**
 * Runs all checks at the same time and waits at most `timeoutMs` for each. Logs when a check starts
 * to fail and when it passes again.
 */
export function createReadiness(
  checks: readonly ReadinessCheck[],
  logger: Logger,
  timeoutMs: number = CHECK_TIMEOUT_MS,
) {
  const failing = new Set<string>();
  const asked = checks.map(({ name, run }) => {
    const ask = boundedRun(run, { timeoutMs, keepMs: 0 });
    return async () => {
      const { reason, ...fault } = await ask().then(
        (reason) => ({ reason }),
        (error: unknown) => ({ reason: reasonOf(error, timeoutMs), err: error }),
      );
      if (reason === null) {
        if (failing.delete(name)) logger.info({ check: name }, 'ready again');
      } else if (!failing.has(name)) {
        failing.add(name);
        logger.warn({ check: name, reason, ...fault }, 'not ready');
      }
      return { name, ok: reason === null, reason };
    };
  });
  return async () => {
    const results = await Promise.all(asked.map((ask) => ask()));
    return { ready: results.every(({ ok }) => ok), checks: results };
  };
}

/** A driver's message may quote any value, so only known messages are shown. */
function reasonOf(error: unknown, timeoutMs: number): string {
  if (error instanceof OverdueError) return `no answer in ${timeoutMs} ms`;
  return error instanceof ConciliationError ? error.code : 'failed';
}

/** Whether each check of `/readyz` passes. The checks run at each scrape and end within their time limit. */
export function registerReadiness(registry: Registry, readiness: Readiness): void {
  new Gauge({
    name: 'conciliation_ready',
    help: 'Whether the check of /readyz passes.',
    labelNames: ['check'],
    registers: [registry],
    async collect() {
      const { checks } = await readiness();
      for (const { name, ok } of checks) this.set({ check: name }, ok ? 1 : 0);
    },
  });
}
