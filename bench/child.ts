/** Both ends of a child process. What is measured runs in a process of its own, so that memory and CPU time are its own. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** How the image starts Node (see the Dockerfile, and docs/performance.md for the effect). */
const IMAGE = {
  execArgv: ['--max-semi-space-size=2', '--heap-growing-percent=50'],
  environment: { MALLOC_ARENA_MAX: '1' },
};

type Program = (argument: never) => unknown;

const running = new Set<ChildProcess>();

/** Runs a program of this folder with the settings of the image. Its output goes to standard error. */
export async function runChild<P extends Program>(name: string, argument: Parameters<P>[0]) {
  const child = fork(new URL(`${name}.js`, import.meta.url), [], {
    execArgv: IMAGE.execArgv,
    env: { ...process.env, ...IMAGE.environment },
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  running.add(child);
  const exited = once(child, 'exit').then(([status, signal]) => {
    running.delete(child);
    return `${name} ended early (${signal ?? `status ${status}`})`;
  });
  child.send(argument);
  const [result] = await Promise.race([
    once(child, 'message'),
    exited.then((end) => Promise.reject(new Error(end))),
  ]);
  child.disconnect();
  await exited;
  return result as Awaited<ReturnType<P>>;
}

/** For the end of an interrupted run. */
export function killChildren(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** The child's end: sends the result of the program to the parent. The process ends when the parent stops it. */
export function answerParent<Argument>(program: (argument: Argument) => unknown): void {
  // A Ctrl-C in the terminal reaches every process; the parent alone decides how to end.
  process.on('SIGINT', () => {});
  process.once('disconnect', () => process.exit());
  process.once('message', async (argument) => process.send?.(await program(argument as Argument)));
}
