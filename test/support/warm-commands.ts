import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { ChildResult } from './child-command.ts';

const HOST = join(import.meta.dirname, 'warm-commands.mjs');

let host: ChildProcess | null = null;
let last: Promise<unknown> = Promise.resolve();
process.once('exit', () => host?.kill('SIGKILL'));

/** Runs a command after those before it, all in one process. */
export function runWarm(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<ChildResult> {
  const result = last.then(() => run(args, environment));
  last = result.catch(() => {});
  return result;
}

async function run(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<ChildResult> {
  host ??= start();
  const end = `end of ${randomUUID()} `;
  const outputs = Promise.all([readUntil(host.stdout, end), readUntil(host.stderr, end)]);
  host.send({ args, environment, end });
  const [{ text: stdout, exit }, { text: stderr }] = await outputs;
  return { exit, signal: null, stdout, stderr };
}

function start(): ChildProcess {
  const child = spawn(process.execPath, [HOST], {
    cwd: tmpdir(),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  child.once('close', () => {
    host = null;
  });
  child.stdout?.setEncoding('utf8');
  child.stderr?.setEncoding('utf8');
  return child;
}

/** Reads what the command writes up to the line with `end` and the exit status. */
function readUntil(stream: Readable | null, end: string): Promise<{ text: string; exit: number }> {
  return new Promise((resolve, reject) => {
    let text = '';
    const onData = (part: string) => {
      text += part;
      const [own = '', exit] = text.split(end);
      if (exit === undefined || !exit.endsWith('\n')) return;
      settle();
      resolve({ text: own, exit: Number(exit) });
    };
    const onClose = () => {
      settle();
      reject(new Error(`the process of the commands ended: ${text}`));
    };
    const settle = () => {
      stream?.off('data', onData);
      stream?.off('close', onClose);
    };
    stream?.on('data', onData);
    stream?.on('close', onClose);
  });
}
