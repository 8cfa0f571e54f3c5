// Both ends of a child process that is asked one thing at a time: the sandbox, our pull, the limit
// and the renderer each run in one, so that memory, event loop and CPU profile are their own.
import { fork } from 'node:child_process';
import { once } from 'node:events';

/** @import { ChildProcess } from 'node:child_process' */
/** @import { Child, Programs, Question, Reply } from './child-types.ts' */

const STOP_LIMIT_MS = 10_000;

/** @type {Set<ChildProcess>} */
const running = new Set();

/**
 * Starts `file` of this folder. Its output goes to standard error: standard output is the report's.
 *
 * @template {keyof Programs} Program
 * @param {Program} file
 * @param {{ execArgv?: string[], environment?: Record<string, string> }} [options]
 * @returns {Child<Program>}
 */
export function startChild(file, { execArgv = [], environment = {} } = {}) {
  const child = fork(new URL(file, import.meta.url), [], {
    execArgv,
    env: { ...process.env, ...environment },
    serialization: 'advanced',
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  running.add(child);
  /** @type {Map<number, { resolve: (result: never) => void, reject: (error: Error) => void }>} */
  const waiting = new Map();
  let calls = 0;

  child.on('message', (message) => {
    const { id, result, error } = /** @type {Reply} */ (message);
    const call = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) call?.resolve(/** @type {never} */ (result));
    else call?.reject(new Error(`${file}: ${error}`));
  });
  const exited = once(child, 'exit').then(([status, signal]) => {
    running.delete(child);
    const end = new Error(`${file} ended early (${signal ?? `status ${status}`})`);
    for (const { reject } of waiting.values()) reject(end);
  });

  return {
    call(name, ...[argument]) {
      calls += 1;
      const id = calls;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        child.send({ id, name: String(name), argument }, (error) => {
          if (error) reject(error);
        });
      });
    },
    async stop() {
      if (child.connected) child.disconnect();
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** For the end of an interrupted run. */
export async function killChildren() {
  const children = [...running];
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(
    children
      .filter((child) => child.exitCode === null && child.signalCode === null)
      .map((child) => once(child, 'exit')),
  );
}

/**
 * The child's end: answers the parent with the handler of the name it calls.
 *
 * @param {Record<string, (argument: never) => unknown>} handlers
 */
export function answerParent(handlers) {
  // A Ctrl-C in the terminal reaches everybody; the parent alone decides how to end.
  process.on('SIGINT', () => {});
  process.on('disconnect', () => process.exit(0));
  process.on('message', async (message) => {
    const { id, name, argument } = /** @type {Question} */ (message);
    try {
      const handler = handlers[name];
      if (handler === undefined) throw new Error(`there is no handler ${name}`);
      process.send?.({ id, result: await handler(/** @type {never} */ (argument)) });
    } catch (error) {
      process.send?.({
        id,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    }
  });
}
