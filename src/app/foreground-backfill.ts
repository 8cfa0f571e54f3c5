/**
 * Runs a backfill in the foreground, with a separate worker and planner, beside a running
 * service or without one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type BackfillProgress, readBackfillProgress } from '../backfills/backfill-ledger.sql.ts';
import type { Config } from '../config/config.ts';
import type { PullParts } from '../pull/pull-parts.ts';
import { runPull } from '../pull/run-pull.ts';
import { openPullQueue } from '../queue/job-queue.ts';
import { InputError, PlatformAuthError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logger.ts';
import { loop } from '../runtime/loop.ts';
import { createPlanner } from '../scheduler/planner-loop.ts';
import { createAttemptHandler } from '../worker/attempt-handler.ts';
import { createAuthGate } from '../worker/auth-gate.ts';
import { startJobWorker } from '../worker/job-worker.ts';
import { type OpenStaging, openPlatform, openPulls, openToken } from './parts.ts';

export interface ForegroundOptions {
  readonly config: Config;
  readonly logger: Logger;
  /** Ends the work early. The backfill keeps its state and can be resumed. */
  readonly signal: AbortSignal;
}

const POLL_INTERVAL_MS = 300;
/** A lost job is replaced by the next run of the planner. */
const PLAN_INTERVAL_MS = 10_000;
const STOP_GRACE_MS = 5_000;

/**
 * Works on a backfill until it is done or cancelled, or until `signal` aborts.
 * @param onProgress called a few times a second
 * @returns the progress at the end
 * @throws PlatformAuthError when the platform refuses the token
 */
export async function runBackfill(
  { config, logger, signal }: ForegroundOptions,
  staging: OpenStaging,
  id: bigint,
  onProgress: (progress: BackfillProgress) => void,
): Promise<BackfillProgress> {
  const { database, databaseUrl } = staging;
  const token = openToken(config);
  const platform = openPlatform(config, token);
  const pulls = await openPulls(config, logger, staging, platform);
  const queue = await openPullQueue({
    redisUrl: config.redisUrl,
    redisCaFile: config.redisCaFile,
    databaseUrl,
    logger,
  });
  const planner = createPlanner({
    database,
    queue,
    logger,
    limits: pulls,
    config: { ...config, backfillsOnly: true, maxOpenBackfillPulls: concurrencyOf(config) },
  });
  const planning = loop({ everyMs: PLAN_INTERVAL_MS, run: () => planner.runOnce() });
  try {
    const refused = new AbortController();
    const parts: PullParts = {
      ...pulls,
      onOutcome: ({ outcome }) => {
        if (outcome.kind === 'unauthorized' && outcome.error instanceof PlatformAuthError) {
          refused.abort(outcome.error);
        }
        planning.notify();
      },
    };
    const worker = await startJobWorker({
      queue,
      logger,
      concurrency: concurrencyOf(config),
      handle: createAttemptHandler({
        subject: 'pull',
        attempt: (pullId, pullSignal) => runPull(parts, pullId, pullSignal),
        gate: createAuthGate({ token, logger }),
        logger,
      }),
    });
    try {
      return await watch(AbortSignal.any([signal, refused.signal]), async () => {
        const progress = await readBackfillProgress(database, id);
        if (progress === null) throw new InputError(`there is no backfill ${id}`);
        refused.signal.throwIfAborted();
        onProgress(progress);
        return progress;
      });
    } finally {
      await worker.close(STOP_GRACE_MS);
    }
  } finally {
    await planning.stop();
    await queue.close();
    await platform.close();
  }
}

async function watch(
  signal: AbortSignal,
  read: () => Promise<BackfillProgress>,
): Promise<BackfillProgress> {
  for (;;) {
    const progress = await read();
    if (progress.state !== 'running' || signal.aborted) return progress;
    await sleep(POLL_INTERVAL_MS, undefined, { signal }).catch(() => {});
  }
}

function concurrencyOf(config: Config): number {
  return config.platform?.concurrency ?? 1;
}
