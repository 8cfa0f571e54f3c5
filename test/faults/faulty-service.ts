import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';
import { pathToFileURL } from 'node:url';
import type { FaultPoint } from '../../src/base/runtime/fault-points.ts';

const PROGRAM = join(import.meta.dirname, '../support/service-process.mjs');
const HOOK = pathToFileURL(join(import.meta.dirname, 'fault-hook.mjs')).href;

/** Long enough for a container platform to start the next one, and short enough for a test. */
const RESTART_DELAY_MS = 50;
/** A service that ends this often is in a loop that no fault of ours explains. */
const MAX_RESTARTS = 40;
const STOP_LIMIT_MS = 60_000;

export interface FaultPlan {
  readonly point: FaultPoint;
  /** Which time that the point is reached, from 1, since `armFile` exists. */
  readonly hit: number;
  readonly armFile: string;
}

/** The process is halted at the planned point until `release` is called. */
export interface FiredFault {
  readonly point: FaultPoint;
  /** Of the session whose COMMIT is on its way. */
  readonly sessionPid: number | null;
  readonly process: ChildProcess;
  release(): void;
}

export interface ServiceSettings {
  readonly environment: Readonly<Record<string, string>>;
  /** Times of the service, see `ServiceOverrides`. */
  readonly overrides: object;
  readonly clockFile: string;
  readonly onFired: (fired: FiredFault) => void;
}

const living = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** The service as a container platform runs it: whenever it ends, it is started again. */
export class FaultyService {
  readonly reached = new Set<FaultPoint>();
  /** Everything that any process of it wrote to standard error. */
  readonly lines: string[] = [];
  /** How the processes ended that were not asked to. */
  readonly ends: string[] = [];
  restarts = 0;
  #settings: ServiceSettings;
  #child: ChildProcess | null = null;
  #isStopping = false;
  #consoleUrl = '';
  #hasStopped = false;
  #lastEnded: Promise<unknown> = Promise.resolve();

  constructor(settings: ServiceSettings) {
    this.#settings = settings;
  }

  /** Null between two processes. */
  get child(): ChildProcess | null {
    return this.#child;
  }

  /** Empty before the process has started all its parts. */
  get consoleUrl(): string {
    return this.#consoleUrl;
  }

  get hasGivenUp(): boolean {
    return this.restarts > MAX_RESTARTS;
  }

  /** @param plan of the first process; later processes only report the points that they reach */
  start(plan: FaultPlan | null): void {
    const { environment, overrides, clockFile } = this.#settings;
    const options = { roles: ['scheduler', 'worker', 'console'], clockFile, overrides };
    const child = spawn(process.execPath, ['--import', HOOK, PROGRAM, JSON.stringify(options)], {
      cwd: tmpdir(),
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        FAULT_PLAN: JSON.stringify(plan),
        ...environment,
      },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    });
    living.add(child);
    this.#child = child;
    this.#consoleUrl = '';
    this.#hasStopped = false;
    if (child.stderr !== null) {
      createInterface({ input: child.stderr }).on('line', (line) => this.#hear(line));
    }
    this.#listen(child, child.stdio[3] as Duplex);
    this.#lastEnded = once(child, 'close').then(([exit, signal]) => {
      living.delete(child);
      this.#child = null;
      if (this.#isStopping) return;
      this.ends.push(String(signal ?? exit));
      this.restarts += 1;
      if (!this.hasGivenUp) setTimeout(() => this.#restart(), RESTART_DELAY_MS);
    });
  }

  /**
   * As an orchestrator asks. A process that does not end by then is killed. Returns how it ended: `0` in good
   * order, `none` where there was no process, or none that had begun to listen to signals.
   */
  async stop(): Promise<string> {
    this.#isStopping = true;
    const child = this.#child;
    if (child === null) return 'none';
    const isStarting = this.#consoleUrl === '';
    const ended = once(child, 'close');
    child.kill('SIGCONT');
    // A second signal would end the process at once, in any order.
    if (!this.#hasStopped) child.kill('SIGTERM');
    const killer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
    const [exit, signal] = await ended;
    clearTimeout(killer);
    return isStarting && signal === 'SIGTERM' ? 'none' : String(signal ?? exit);
  }

  async kill(): Promise<void> {
    this.#isStopping = true;
    this.#child?.kill('SIGKILL');
    await this.#lastEnded;
  }

  #restart(): void {
    if (!this.#isStopping) this.start(null);
  }

  #hear(line: string): void {
    this.lines.push(line);
    if (line.includes('"service stopped"')) this.#hasStopped = true;
    if (!line.includes('"service started"')) return;
    this.#consoleUrl = String(JSON.parse(line).consoleUrl ?? '');
  }

  #listen(child: ChildProcess, channel: Duplex): void {
    // A process that is killed leaves what it was sent unread, which resets the pipe.
    channel.on('error', () => {});
    const lines = createInterface({ input: channel }).on('error', () => {});
    lines.on('line', (line) => {
      const event = JSON.parse(line);
      this.reached.add(event.point);
      if (event.fired !== true) return;
      this.#settings.onFired({
        point: event.point,
        sessionPid: event.sessionPid ?? null,
        process: child,
        release: () => channel.write('.'),
      });
    });
  }
}
