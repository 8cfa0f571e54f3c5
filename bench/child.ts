/**
 * Both ends of a child process that is asked one thing at a time. What is measured runs in a process of its own, so
 * that memory, event loop and CPU time are its own.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

const STOP_LIMIT_MS = 10_000;

type Handlers<Names extends string> = Record<Names, (argument: never) => unknown>;

export interface Child<Program extends Handlers<keyof Program & string>> {
  /** Resolves to the result of the child's handler of that name. Rejects when the handler throws or the child ends. */
  call<Name extends keyof Program & string>(
    name: Name,
    ...given: Parameters<Program[Name]>
  ): Promise<Awaited<ReturnType<Program[Name]>>>;
  /** Disconnects the child, so that it ends in good order. A child that hangs is killed. */
  stop(): Promise<void>;
}

/** How the image starts Node (see the Dockerfile, and docs/performance.md for the effect). */
const IMAGE = {
  execArgv: ['--max-semi-space-size=2', '--heap-growing-percent=50'],
  environment: { MALLOC_ARENA_MAX: '1' },
};

const running = new Set<ChildProcess>();

/** Starts a program of this folder with the settings of the image. Its output goes to standard error. */
export function startChild<Program extends Handlers<keyof Program & string>>(
  name: string,
  environment: Record<string, string> = {},
): Child<Program> {
  const child = fork(new URL(`${name}.js`, import.meta.url), [], {
    execArgv: IMAGE.execArgv,
    env: { ...process.env, ...IMAGE.environment, ...environment },
    serialization: 'advanced',
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  running.add(child);
  const waiting = new Map<
    number,
    { resolve: (result: never) => void; reject: (error: Error) => void }
  >();
  let calls = 0;
  child.on('message', (message) => {
    const { id, result, error } = message as { id: number; result?: unknown; error?: string };
    if (error === undefined) waiting.get(id)?.resolve(result as never);
    else waiting.get(id)?.reject(new Error(`${name}: ${error}`));
    waiting.delete(id);
  });
  const exited = once(child, 'exit').then(([status, signal]) => {
    running.delete(child);
    const end = new Error(`${name} ended early (${signal ?? `status ${status}`})`);
    for (const { reject } of waiting.values()) reject(end);
  });
  return {
    call(handler, ...[argument]) {
      calls += 1;
      const id = calls;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        child.send({ id, name: handler, argument }, (error) => {
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
export async function killChildren(): Promise<void> {
  const ended = [...running].map((child) => once(child, 'exit'));
  for (const child of running) child.kill('SIGKILL');
  await Promise.all(ended);
}

/** The child's end: answers the parent with the handler of the name it calls, and closes when the parent stops it. */
export function answerParent<Program extends Handlers<keyof Program & string>>(
  handlers: Program,
  close: () => Promise<void> = async () => {},
): void {
  // A Ctrl-C in the terminal reaches every process; the parent alone decides how to end.
  process.on('SIGINT', () => {});
  process.on('disconnect', () => close().finally(() => process.exit(0)));
  process.on('message', async (message) => {
    const { id, name, argument } = message as { id: number; name: string; argument: unknown };
    try {
      const result = await handlers[name as keyof Program & string](argument as never);
      process.send?.({ id, result });
    } catch (error) {
      process.send?.({ id, error: error instanceof Error ? error.stack : String(error) });
    }
  });
}
