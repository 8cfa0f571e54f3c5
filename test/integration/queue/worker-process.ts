import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface WorkerProcessOptions {
  readonly redisUrl: string | null;
  readonly databaseUrl: string;
  /** The id of a pull that it enqueues first. */
  readonly enqueue: string;
}

export interface WorkerProcess {
  /** The answers so far, such as `{ handled: '12' }`, or `{ refused: [problem] }`. */
  readonly answers: readonly Readonly<Record<string, unknown>>[];
  /** Closes in an orderly way and ends; returns the exit status. */
  close(): Promise<number | null>;
}

const running = new Set<ChildProcess>();

/** A separate process that works on the queue, after it is ready. */
export async function startWorkerProcess(
  options: WorkerProcessOptions,
  environment: Readonly<Record<string, string>> = {},
): Promise<WorkerProcess> {
  const script = join(import.meta.dirname, 'worker-process.mjs');
  const child = spawn(process.execPath, [script, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  });
  running.add(child);
  const exited = once(child, 'exit').then(([status]) => {
    running.delete(child);
    return status as number | null;
  });
  const answers: Record<string, unknown>[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => answers.push(JSON.parse(line)));
  await Promise.race([
    once(lines, 'line'),
    exited.then((status) => {
      throw new Error(`the worker process ended with status ${status}`);
    }),
  ]);
  return {
    answers,
    close() {
      child.stdin.end();
      return exited;
    },
  };
}

export async function killWorkerProcesses(): Promise<void> {
  for (const child of running) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
}
