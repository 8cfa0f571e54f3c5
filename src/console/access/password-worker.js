// One password in one thread: argon2 takes 19 MiB and many milliseconds, which the thread of the service
// does not have. The memory is free again when the thread ends. Not TypeScript, because a thread loads this
// file as it is, in tests too.
import { parentPort, workerData } from 'node:worker_threads';
import { argon2id, argon2Verify } from 'hash-wasm';

const { task, options } = workerData;
parentPort?.postMessage(await (task === 'hash' ? argon2id(options) : argon2Verify(options)));
