// Both ends of a child process that is asked one thing at a time: the sandbox, our pull, the limit
// and the renderer each run in one, so that memory, event loop and CPU profile are their own.
import { fork } from 'node:child_process';
import { once } from 'node:events';

const STOP_LIMIT_MS = 10_000;

const running = new Set();

/**
 * Starts `file` of this folder. Its output goes to standard error: standard output is the report's.
 *
 * @param {string} file
 * @param {{ execArgv?: string[], environment?: Record<string, string> }} [options]
 */
export function startChild(file, { execArgv = [], environment = {} } = {}) {
  const child = fork(new URL(file, import.meta.url), [], {
    execArgv,
    env: { ...process.env, ...environment },
    serialization: 'advanced',
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  running.add(child);
  const waiting = new Map();
  let calls = 0;

  child.on('message', ({ id, result, error }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) resolve(result);
    else reject(new Error(`${file}: ${error}`));
  });
  const exited = once(child, 'exit').then(([status, signal]) => {
    running.delete(child);
    const end = new Error(`${file} ended early (${signal ?? `status ${status}`})`);
    for (const { reject } of waiting.values()) reject(end);
  });

  return {
    /** @returns {Promise<any>} what the child's handler of that name returned */
    call(name, argument) {
      calls += 1;
      const id = calls;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        child.send({ id, name, argument }, (error) => {
          if (error) reject(error);
        });
      });
    },
    /** In good order, so that a CPU profile is written; a child that does not listen is killed. */
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
 * @param {Record<string, (argument: any) => unknown>} handlers
 */
export function answerParent(handlers) {
  // A Ctrl-C in the terminal reaches everybody; the parent alone decides how to end.
  process.on('SIGINT', () => {});
  process.on('disconnect', () => process.exit(0));
  process.on('message', async ({ id, name, argument }) => {
    try {
      process.send?.({ id, result: await handlers[name](argument) });
    } catch (error) {
      process.send?.({
        id,
        error: error instanceof Error ? (error.stack ?? error.message) : error,
      });
    }
  });
}
