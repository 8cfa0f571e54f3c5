// A separate process that works on the queue: node worker-process.mjs <options as JSON>. It answers
// on standard output, one JSON document a line, and closes in an orderly way when standard input ends.
import { pino } from 'pino';
import { openQueues } from '#dist/core/work/job-queue.js';
import { startJobWorker } from '#dist/core/work/job-worker.js';

/** @import { WorkerProcessOptions } from './worker-process.ts' */

/** @type {WorkerProcessOptions} */
const { redisUrl, databaseUrl, enqueue } = JSON.parse(process.argv[2] ?? '');
const logger = pino({ level: process.env['LOG_LEVEL'] ?? 'silent' }, pino.destination(2));
const answer = (/** @type {object} */ document) => console.log(JSON.stringify(document));

const queues = await openQueues({ redisUrl, databaseUrl, logger }).catch((error) => {
  answer({ refused: error.problems });
  process.exit();
});
const worker = await startJobWorker({
  queue: queues.pull,
  concurrency: 1,
  logger,
  handle: async (pullId) => void answer({ handled: String(pullId) }),
});
answer({ ready: true });
await queues.pull.enqueue(BigInt(enqueue));
process.stdin.resume().once('end', async () => {
  await worker.close(0);
  await queues.close();
  answer({ closed: true });
});
