import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ConciliationError,
  PlatformContractError,
  ShutdownError,
} from '../../base/runtime/errors.ts';
import { type PushCounts, type PushParts, pushOnce } from './push-providers.ts';

/** Delay before the next look while another process pushes a batch, in milliseconds. */
const BUSY_DELAY_MS = 1000;
/** Contract errors are retried only a few times, because a changed interface does not change back soon. */
const CONTRACT_ATTEMPTS = 3;

/** `error` is null when nothing is left to push. */
export interface PushOutcome extends PushCounts {
  readonly error: ConciliationError | null;
}

/** A wait before the next batch. `error` is null when another process is pushing. */
export interface PushWait {
  readonly delayMs: number;
  readonly error: ConciliationError | null;
}

export interface PushWatch {
  /** Called before each wait. */
  readonly onWait?: (wait: PushWait) => void;
  /** Called after each batch, with the total counts. */
  readonly onProgress?: (counts: PushCounts) => void;
}

/**
 * Pushes batches until nothing is left, with the waits between failed attempts, for a person at a terminal.
 * Stops after as many consecutive failures as the policy has attempts. Undecided rows stay pending.
 * @throws ShutdownError when `signal` is aborted
 * @throws StagingUnavailableError when the database is not available
 */
export async function pushToEnd(
  parts: PushParts,
  signal: AbortSignal,
  watch: PushWatch = {},
): Promise<PushOutcome> {
  const total = { requests: 0, synced: 0, rejected: 0, invalid: 0, unchanged: 0, relieved: 0 };
  let failures = 0;
  const wait = async (next: PushWait) => {
    watch.onWait?.(next);
    await sleep(next.delayMs, undefined, { signal }).catch((cause: unknown) => {
      throw new ShutdownError('stopped while waiting for the next attempt', { cause });
    });
  };
  for (;;) {
    const report = await pushOnce(parts, signal);
    add(total, report);
    watch.onProgress?.(total);
    switch (report.kind) {
      case 'busy':
        await wait({ delayMs: BUSY_DELAY_MS, error: null });
        break;
      case 'done':
        if (isIdle(report)) return { ...total, error: null };
        failures = 0;
        break;
      case 'retry':
        // A batch that decided some rows before it failed shows that the platform answers.
        failures = report.synced + report.rejected > 0 ? 1 : failures + 1;
        if (failures >= attemptsFor(parts, report.error)) return { ...total, error: report.error };
        await wait(report);
        break;
      default:
        return { ...total, error: report.error };
    }
  }
}

function attemptsFor(parts: PushParts, error: ConciliationError): number {
  return error instanceof PlatformContractError
    ? Math.min(parts.retry.attempts, CONTRACT_ATTEMPTS)
    : parts.retry.attempts;
}

const COUNTS = ['requests', 'synced', 'rejected', 'invalid', 'unchanged', 'relieved'] as const;

function add(total: { -readonly [Count in keyof PushCounts]: number }, counts: PushCounts): void {
  for (const count of COUNTS) total[count] += counts[count];
}

function isIdle(counts: PushCounts): boolean {
  return COUNTS.every((count) => counts[count] === 0);
}
