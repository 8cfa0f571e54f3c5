import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import type { FaultPoint } from '../../src/base/runtime/fault-points.ts';
import {
  type ServiceProcess,
  type ServiceStart,
  spawnService,
} from '../support/service-process.ts';

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
  readonly process: ServiceProcess;
  release(): void;
}

export interface ServiceSettings extends ServiceStart {
  readonly onFired: (fired: FiredFault) => void;
}

/** The service as a container platform runs it: whenever it ends, it is started again. */
export class FaultyService {
  readonly reached = new Set<FaultPoint>();
  /** How the processes ended that were not asked to. */
  readonly ends: string[] = [];
  #settings: ServiceSettings;
  readonly #processes: ServiceProcess[] = [];
  /** Null between two processes. */
  #current: ServiceProcess | null = null;
  #isStopping = false;

  constructor(settings: ServiceSettings) {
    this.#settings = settings;
  }

  /** Everything that any process of it wrote to standard error. */
  get lines(): readonly string[] {
    return this.#processes.flatMap(({ written }) => written);
  }

  get hasGivenUp(): boolean {
    return this.ends.length > MAX_RESTARTS;
  }

  send(signal: NodeJS.Signals): void {
    this.#current?.send(signal);
  }

  /** @param plan of the first process; later processes only report the points that they reach */
  start(plan: FaultPlan | null): void {
    const { onFired, ...settings } = this.#settings;
    const environment = { FAULT_PLAN: JSON.stringify(plan), ...settings.environment };
    const process = spawnService({ ...settings, environment, hook: HOOK });
    this.#processes.push(process);
    this.#current = process;
    this.#listen(process, onFired);
    void process.ended.then(({ exit, signal }) => {
      this.#current = null;
      if (this.#isStopping) return;
      this.ends.push(String(signal ?? exit));
      if (this.hasGivenUp) return;
      setTimeout(() => !this.#isStopping && this.start(null), RESTART_DELAY_MS);
    });
  }

  /**
   * As an orchestrator asks. A process that does not end by then is killed. Returns how it ended: `0` in good
   * order, `none` where there was no process, or none that had begun to listen to signals.
   */
  async stop(): Promise<string> {
    this.#isStopping = true;
    const process = this.#current;
    if (process === null) return 'none';
    const isStarting = process.consoleUrl() === '';
    process.send('SIGCONT');
    // A second signal would end the process at once, in any order.
    if (process.logged('service stopped').length === 0) process.send('SIGTERM');
    const killer = setTimeout(() => process.send('SIGKILL'), STOP_LIMIT_MS);
    const { exit, signal } = await process.ended;
    clearTimeout(killer);
    return isStarting && signal === 'SIGTERM' ? 'none' : String(signal ?? exit);
  }

  async kill(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#processes.map((process) => process.kill()));
  }

  #listen(process: ServiceProcess, onFired: ServiceSettings['onFired']): void {
    const { channel } = process;
    // A process that is killed leaves what it was sent unread, which resets the pipe.
    channel.on('error', () => {});
    const lines = createInterface({ input: channel }).on('error', () => {});
    lines.on('line', (line) => {
      const event = JSON.parse(line);
      this.reached.add(event.point);
      if (event.fired !== true) return;
      onFired({
        point: event.point,
        sessionPid: event.sessionPid ?? null,
        process,
        release: () => channel.write('.'),
      });
    });
  }
}
