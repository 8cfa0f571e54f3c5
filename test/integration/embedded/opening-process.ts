import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

type Answer = Readonly<Record<string, unknown>>;

const running = new Set<ChildProcess>();

/** A separate process that opens, or fails to open, the embedded database of `dataDir`. */
export async function openInProcess(options: { dataDir: string; exclusive?: boolean }) {
  const script = join(import.meta.dirname, 'opening-process.mjs');
  const child = spawn(process.execPath, [script, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // A separate process group, so that a test can interrupt the group as a terminal does.
    detached: true,
  });
  running.add(child);
  const exited = once(child, 'exit').then(() => running.delete(child));
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextAnswer = async (): Promise<Answer> => {
    const { value, done } = await answers.next();
    if (done) throw new Error('the opening process ended without an answer');
    return JSON.parse(value);
  };
  const opened = await nextAnswer();
  return {
    pid: child.pid ?? 0,
    /** The answer of the process to the opening: `{ url }`, or `{ error, message }`. */
    opened,
    nextAnswer,
    /** Closes the database in an orderly way and ends. */
    async close() {
      child.stdin.end();
      await exited;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

export async function killAllProcesses(): Promise<void> {
  for (const child of running) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
}

/** The server's pid, by PostgreSQL's lock file; null when it has stopped in an orderly way. */
export async function readServerPid(dataDir: string): Promise<number | null> {
  try {
    const lockFile = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8');
    return Number(lockFile.split('\n')[0]);
  } catch {
    return null;
  }
}

export async function requireServerPid(dataDir: string): Promise<number> {
  const serverPid = await readServerPid(dataDir);
  if (serverPid === null) throw new Error('no server is running');
  return serverPid;
}

/** Whether the server lives; a zombie, which waits to be reaped by its new parent, does not. */
export async function isServerRunning(serverPid: number): Promise<boolean> {
  try {
    const { stdout } = await run('ps', ['-o', 'stat=', '-p', String(serverPid)]);
    return !stdout.startsWith('Z');
  } catch {
    return false;
  }
}

export async function killServer(serverPid: number): Promise<void> {
  process.kill(serverPid, 'SIGKILL');
  while (await isServerRunning(serverPid)) await sleep(10);
}
