// A separate process that works on the queue: node worker-process.mjs <options as JSON>. It answers
// on standard output, one JSON document a line, and closes in an orderly way when standard input ends.
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { openQueues } from '#dist/core/work/job-queue.js';
import { startJobWorker } from '#dist/core/work/job-worker.js';

/** @import { WorkerProcessOptions } from './worker-process.ts' */

/** @type {WorkerProcessOptions} */
const { redisUrl, databaseUrl, lockMs, handling, handlingMs, enqueue } = JSON.parse(
  process.argv[2] ?? '',
);
const logger = pino({ level: process.env['LOG_LEVEL'] ?? 'silent' }, pino.destination(2));
const answer = (/** @type {object} */ document) => console.log(JSON.stringify(document));

let hasStopped = false;

const queues = await openQueues({ redisUrl, databaseUrl, logger }).catch((error) => {
  answer({ refused: error.problems });
  process.exit();
});
const worker = await startJobWorker({
  queue: queues.pull,
  concurrency: 1,
  lockMs,
  logger,
  handle: async (pullId, signal) => {
    answer({ handling: String(pullId) });
    if (handling === 'stop' && !hasStopped) {
      hasStopped = true;
      process.kill(process.pid, 'SIGSTOP');
    }
    await sleep(handlingMs, undefined, { signal });
    answer({ handled: String(pullId) });
  },
});
answer({ ready: true });
if (enqueue !== undefined) await queues.pull.enqueue(BigInt(enqueue));
process.stdin.resume().once('end', async () => {
  await worker.close(0);
  await queues.close();
  answer({ closed: true });
});
