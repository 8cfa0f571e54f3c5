import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { createSeededRandom, pick } from '../../src/demo/seeded-random.ts';
import { daysFrom } from '../support/pull-world.ts';
import { checkDays } from './check-end.ts';
import { createTemplate } from './database-template.ts';
import type { FaultName, QueueName } from './fault-names.ts';
import { FIRST_DATE } from './fault-run.ts';
import { type FaultWorld, OVERRIDES, openFaultWorld } from './fault-world.ts';
import { FaultyService, type ProcessSample } from './faulty-service.ts';
import { injectFault } from './inject-fault.ts';
import { LastingClient } from './lasting-client.ts';
import { readUnfinished } from './ledger-state.ts';
import { ServedDays } from './served-days.ts';
import { judge, type SoakSample, toCsv } from './soak-report.ts';
import { Violations } from './violations.ts';

/** All but SIGKILL, after which there would be nothing to measure any more. */
const SOAK_FAULTS: readonly [FaultName, ...FaultName[]] = [
  'terminate',
  'postgres',
  'queue',
  'network',
  'stop',
];
const PULLS_PER_FAULT = 5;
const LOOKBACK_DAYS = 2;
const STOPPED_MS = 1_500;
const DAY_LIMIT_MS = 180_000;

/** The command line of the soak. Returns its exit status. */
export async function runSoak(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '60' },
      queue: { type: 'string', default: 'redis' },
      seed: { type: 'string', default: '1' },
    },
  });
  const queue: QueueName = values.queue === 'postgres' ? 'postgres' : 'redis';
  const template = await createTemplate();
  const random = createSeededRandom(`soak ${values.seed}`);
  const run = { seed: Number(values.seed), point: 'claim', fault: 'terminate', queue } as const;
  const world = await openFaultWorld(template, run, random, {
    startDate: FIRST_DATE,
    environment: { LOOKBACK_DAYS: String(LOOKBACK_DAYS), LOG_LEVEL: 'info' },
  });
  // Sweeps over many days come here, which are slow when they are read piece by piece.
  world.sandbox.faults.clear();
  const soak = new Soak(world, `${values.seed}`);
  try {
    return (await soak.run(Number(values.minutes) * 60_000)) ? 0 : 1;
  } finally {
    await soak.close();
    await world.close(null);
    await template.remove();
  }
}

class Soak {
  readonly #world: FaultWorld;
  readonly #database: LastingClient;
  readonly #service: FaultyService;
  readonly #samples: SoakSample[] = [];
  readonly #random;
  readonly #served;
  #pulls = 0;
  #faults = 0;
  #lastSample: ProcessSample | null = null;

  constructor(world: FaultWorld, seed: string) {
    this.#world = world;
    this.#database = new LastingClient(world.databaseUrl);
    this.#random = createSeededRandom(`soak days ${seed}`);
    this.#served = new ServedDays(world.sandbox, this.#random);
    this.#service = new FaultyService({
      environment: world.environment,
      overrides: OVERRIDES,
      clockFile: `${world.folder.path}/clock`,
      onFired: () => {},
      onSample: (sample) => {
        this.#lastSample = sample;
      },
    });
  }

  async run(durationMs: number): Promise<boolean> {
    const startMs = performance.now();
    const elapsedMs = () => performance.now() - startMs;
    let nextFaultAt = PULLS_PER_FAULT;
    for (let day = 0; elapsedMs() < durationMs; day += 1) {
      const date = daysFrom(day, FIRST_DATE);
      this.#served.begin(date, 20 + this.#random(30));
      if (day > 0 && this.#random(3) === 0) this.#served.restate(daysFrom(-1, date));
      await this.#world.folder.write('clock', `${daysFrom(1, date)}T12:00:00Z`);
      if (day === 0) this.#service.start(null);
      if (this.#pulls >= nextFaultAt) {
        await this.#fault();
        nextFaultAt = this.#pulls + PULLS_PER_FAULT;
      }
      await this.#untilDone(day);
      await this.#note(elapsedMs() / 1000);
    }
    return this.#report();
  }

  async close(): Promise<void> {
    await this.#service.kill();
    await this.#database.close();
  }

  async #fault(): Promise<void> {
    const { child } = this.#service;
    if (child === null) return;
    await sleep(this.#random(800));
    const fault = pick(SOAK_FAULTS, this.#random(SOAK_FAULTS.length));
    const targets = {
      ...this.#world,
      random: this.#random,
      takeOver: () => sleep(STOPPED_MS),
    };
    const fired = { point: 'claim', sessionPid: null, process: child, release: () => {} } as const;
    await injectFault(fault, targets, fired);
    this.#faults += 1;
  }

  async #untilDone(day: number): Promise<void> {
    const dates = Array.from({ length: Math.min(day, LOOKBACK_DAYS) + 1 }, (_, back) =>
      daysFrom(day - back, FIRST_DATE),
    );
    const deadline = Date.now() + DAY_LIMIT_MS;
    let unfinished: readonly string[] = [];
    while (Date.now() < deadline) {
      unfinished = await this.#database
        .ask((client) => readUnfinished(client, dates, daysFrom(day + 1, FIRST_DATE)))
        .catch((error) => [String(error)]);
      if (unfinished.length === 0) return;
      await sleep(100);
    }
    throw new Error(`day ${day} is not done: ${unfinished.join('; ')}`);
  }

  async #note(seconds: number): Promise<void> {
    const counts = await this.#database.ask(async (client) => {
      const { rows } = await client.query<{ pulls: number; sessions: number }>(
        `SELECT (SELECT count(*) FROM conciliation.pull)::int AS pulls,
                (SELECT count(*) FROM pg_stat_activity
                 WHERE application_name LIKE 'conciliation%')::int AS sessions`,
      );
      return rows[0];
    });
    this.#pulls = counts?.pulls ?? this.#pulls;
    const sample = this.#lastSample;
    if (sample === null) return;
    this.#lastSample = null;
    this.#samples.push({
      seconds: Math.round(seconds),
      pulls: this.#pulls,
      faults: this.#faults,
      ...sample,
      postgresSessions: counts?.sessions ?? 0,
      redisClients: await this.#countRedisClients(),
    });
  }

  async #countRedisClients(): Promise<number> {
    if (this.#world.redis === null) return 0;
    const client = new Redis(this.#world.redis.url);
    try {
      const list = String(await client.call('CLIENT', 'LIST'));
      return list.trim().split('\n').length - 1;
    } finally {
      client.disconnect();
    }
  }

  async #report(): Promise<boolean> {
    const folder = await mkdtemp(join(tmpdir(), 'conciliation-soak-'));
    await writeFile(join(folder, 'samples.csv'), toCsv(this.#samples));
    await writeFile(join(folder, 'service.log'), this.#service.lines.join('\n'));
    const { lines, failures } = judge(this.#samples);
    const violations = new Violations();
    await this.#database.ask((client) => checkDays(client, this.#served, violations));
    failures.push(...violations.found.map(({ what }) => what));
    if (this.#service.restarts > 0)
      failures.push(`the service ended ${this.#service.restarts} times`);
    say(`${this.#pulls} pulls, ${this.#faults} faults, ${this.#samples.length} samples`);
    for (const line of lines) say(line);
    for (const failure of failures) say(`FAILED: ${failure}`);
    say(`samples and log: ${folder}`);
    return failures.length === 0;
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
