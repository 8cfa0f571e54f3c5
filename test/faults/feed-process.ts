import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endWithThisProcess } from '../support/program.ts';

const POLL_MS = 20;

export interface FeedProcessSettings {
  readonly name: string;
  /** A script of this folder. */
  readonly script: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** Called for each message of the script. */
  readonly onMessage?: (message: { readonly isDone?: boolean }) => void;
  /** Called when the process has ended and `kill` did not end the process. */
  readonly onEnd: (status: string) => void;
}

/** A writer or reader: a child process that can be stopped, killed and started again. */
export class FeedProcess {
  readonly name: string;
  restarts = -1;
  isPaused = false;
  readonly #settings: FeedProcessSettings;
  #child: ChildProcess;

  constructor(settings: FeedProcessSettings) {
    this.name = settings.name;
    this.#settings = settings;
    this.#child = this.#start();
  }

  get isAlive(): boolean {
    return isAlive(this.#child);
  }

  send(message: object): void {
    // The process may have been killed: the next process asks again.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  /** SIGKILL; resolves when the process has ended. */
  async kill(): Promise<void> {
    if (!this.isAlive) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }

  restart(): void {
    this.#child = this.#start();
  }

  /**
   * Stops the process, and continues the process when `wait` has ended.
   *
   * @param point the fault point at which the process stops itself; null: at once
   * @returns whether the process was stopped, and had not ended before
   */
  async pause(point: string | null, wait: () => Promise<void>): Promise<boolean> {
    const child = this.#child;
    this.isPaused = true;
    if (point === null) child.kill('SIGSTOP');
    else this.send({ stopPoint: point });
    while (isAlive(child) && !isStopped(child)) await sleep(POLL_MS);
    const wasStopped = isAlive(child);
    if (wasStopped) await wait();
    child.kill('SIGCONT');
    this.isPaused = false;
    return wasStopped;
  }

  #start(): ChildProcess {
    const { script, environment, logFile, onMessage, onEnd } = this.#settings;
    this.restarts += 1;
    const log = openSync(logFile, 'a');
    const child = fork(join(import.meta.dirname, script), [], {
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
      execArgv: [],
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    endWithThisProcess(child);
    child.on('error', () => {});
    child.on('message', (message: { isDone?: boolean }) => {
      if (child === this.#child) onMessage?.(message);
    });
    child.once('exit', (status, signal) => {
      if (signal !== 'SIGKILL') onEnd(String(signal ?? status));
    });
    return child;
  }
}

function isAlive(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

function isStopped({ pid }: ChildProcess): boolean {
  try {
    return /\) T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
