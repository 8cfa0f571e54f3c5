// A worker of the product that pulls the dates which the harness names, one after the other. The process may
// be stopped and killed at any instant: a pull that was begun is found in the ledger and taken over.
import { setTimeout as sleep } from 'node:timers/promises';
import { FEATURES } from '#dist/app/features.js';
import { openPlatform, openPulls, openStaging } from '#dist/app/parts.js';
import { readConfig } from '#dist/base/config/config.js';
import { InputError, StagingUnavailableError, StaleFenceError } from '#dist/base/runtime/errors.js';
import { installFaultHook } from '#dist/base/runtime/fault-points.js';
import { createLogger } from '#dist/base/runtime/logger.js';
import { createPull } from '#dist/core/ledger/pull-requests.sql.js';
import { runPull } from '#dist/core/work/run-pull.js';

const RETRY_WAIT_MS = 200;

/** Any other error is explained neither by an outage nor by another attempt: it is a defect and ends the process. */
const PASSING = [StagingUnavailableError, StaleFenceError, InputError];

/**
 * @import { CivilDate } from '#dist/base/values/business-day.js'
 * @import { FaultPoint } from '#dist/base/runtime/fault-points.js'
 *
 * @typedef {{ stopPoint: FaultPoint | null }} StopPoint
 * @typedef {{ date: CivilDate | null }} NextDate null: there is no more work
 */

/** @type {FaultPoint | null} */
let stopPoint = null;
/** @type {(date: CivilDate | null) => void} */
let settleDate = () => {};
process.on('disconnect', () => process.exit());
process.on('message', (received) => {
  const message = /** @type {StopPoint | NextDate} */ (received);
  if ('stopPoint' in message) stopPoint = message.stopPoint;
  if ('date' in message) settleDate(message.date);
});
// The process stops itself at the point that the harness named, and the harness continues the process.
installFaultHook((point) => {
  if (point !== stopPoint) return;
  stopPoint = null;
  process.kill(process.pid, 'SIGSTOP');
});

const logger = createLogger({ logLevel: 'error' });
const config = readConfig(process.env, { platform: true });
const platform = openPlatform(config);
const parts = await untilAvailable(async () => {
  const staging = await openStaging(config, logger);
  return openPulls(config, logger, staging, { platform, features: FEATURES });
});

for (let isDone = false; ; isDone = true) {
  /** @type {Promise<CivilDate | null>} */
  const wanted = new Promise((settle) => {
    settleDate = settle;
  });
  process.send?.({ isDone });
  const date = await wanted;
  if (date === null) break;
  while (!(await untilAvailable(() => pull(date)))) await sleep(RETRY_WAIT_MS);
}
await parts.database.close();
await platform.close();
process.disconnect();

/** @param {CivilDate} date */
async function pull(date) {
  const open = await parts.database.prisma.pull.findFirst({
    where: { date, state: { in: ['queued', 'running'] } },
    orderBy: { id: 'desc' },
  });
  const create = () =>
    createPull(parts.database, { origin: 'manual', date, requestedBy: 'feed harness' });
  const pullId = open?.id ?? (await create());
  const outcome = await runPull(parts, pullId, new AbortController().signal);
  return outcome.kind === 'done';
}

/**
 * @template T
 * @param {() => Promise<T>} work
 */
async function untilAvailable(work) {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!PASSING.some((type) => error instanceof type)) throw error;
      await sleep(RETRY_WAIT_MS);
    }
  }
}
