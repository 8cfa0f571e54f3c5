// One thread for passwords: argon2 takes 19 MiB and many milliseconds, which the thread of the service
// does not have. The word lists for new passwords take 60 MB more. Two threads at once took 63 MB in a flood
// of sign-ins (bench/sign-ins.mjs). The memory is free again when the thread ends. Not TypeScript, because a thread loads this file as it is, in tests too.
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { argon2id, argon2Verify } from 'hash-wasm';

/** @param {{ password: string, words: string[] }} options */
async function countGuesses({ password, words }) {
  const [{ ZxcvbnFactory }, common, portuguese] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
    import('@zxcvbn-ts/language-pt-br'),
  ]);
  const estimate = new ZxcvbnFactory({
    dictionary: { ...common.dictionary, ...portuguese.dictionary },
    graphs: common.adjacencyGraphs,
    // With the defaults, 256 characters of an attacker take more than 10 s.
    maxLength: 40,
    l33tMaxSubstitutions: 4,
  });
  return estimate.check(password, words).guesses;
}

// Under a flood of sign-ins this thread is always busy. On Linux a thread can have a lower priority than
// its process, so that pulls get the CPU first.
if (process.platform === 'linux')
  setPriority(Number(basename(readlinkSync('/proc/thread-self'))), 10);

const tasks = { hash: argon2id, verify: argon2Verify, guesses: countGuesses };
parentPort?.on('message', async ({ task, options }) => {
  parentPort?.postMessage(await tasks[/** @type {keyof typeof tasks} */ (task)](options));
});
