import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { type Database, openDatabase } from '../../src/base/database/database.ts';
import { FAULT_POINTS, type FaultPoint } from '../../src/base/runtime/fault-points.ts';
import type { CivilDate } from '../../src/base/values/business-day.ts';
import { createPull } from '../../src/core/ledger/pull-requests.sql.ts';
import type { SeededRandom } from '../../src/demo/synthetic-titles.ts';
import { type SignOffRefusal, signOffDays } from '../../src/features/review/sign-off.sql.ts';
import { withClient } from '../support/client.ts';
import { decideOpenChanges, digestOf } from '../support/days.ts';
import { logger } from '../support/logger.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { daysFrom } from '../support/pull-world.ts';
import { checkDays, checkSeals, checkUnchanged, readContents, readDay } from './check-end.ts';
import { type FaultWorld, OVERRIDES } from './fault-world.ts';
import { FaultyService, type FiredFault, type ServiceSettings } from './faulty-service.ts';
import { injectFault, type RunCase, streamOf } from './inject-fault.ts';
import type { ServedDays } from './served-days.ts';
import type { Violations } from './violations.ts';

export interface ScenarioParts {
  readonly run: RunCase;
  readonly random: SeededRandom;
  readonly world: FaultWorld;
  readonly served: ServedDays;
  readonly violations: Violations;
  readonly firstDate: CivilDate;
}

/** A bound against hanging: ticks are a second apart here, not a minute, and machines are busy. */
const LIVENESS_LIMIT_MS = 2 * PATIENCE_MS;
const POLL_MS = 100;
const HEARING_LIMIT_MS = PATIENCE_MS;
/** The time that a second process has for the work of a stopped one. */
const TAKE_OVER_LIMIT_MS = 20_000;

/** Pulls that have not ended, and dates that no process has pulled for the slot. */
const UNFINISHED = `
  SELECT format('pull %s of %s is %s (%s)', id, date, state, error_code) AS text
  FROM conciliation.pull WHERE state IN ('queued', 'running')
  UNION ALL
  SELECT format('%s has no pull of the slot', wanted) FROM unnest($1::date[]) AS wanted
  WHERE NOT EXISTS (SELECT FROM conciliation.pull
                    WHERE date = wanted AND slot_at >= $2::date AT TIME ZONE 'UTC')`;

async function until(isSo: () => boolean | Promise<boolean>, limitMs: number): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await isSo()) && Date.now() < deadline) await sleep(POLL_MS);
}

/** Reached with the first titles only, or only where there are titles to be changed. */
const ROUNDS: Readonly<Partial<Record<FaultPoint, 1 | 2>>> = { migration: 1 };

/**
 * Two days of a service: first the dates that it begins with, then the same again, restated, with one
 * more; and then everything once more by hand, which must change nothing. On one of the two days the
 * fault meets it.
 */
export class Scenario {
  story: string | null = null;
  readonly #parts: ScenarioParts;
  readonly #settings: ServiceSettings;
  readonly #services: FaultyService[] = [];
  readonly #restated = new Map<string, boolean>();
  readonly #faultRound: 1 | 2;
  readonly #hit: number;
  #isFired: boolean;
  #injection: Promise<void> = Promise.resolve();
  /** Past the proxy. Asked many times a run: a new connection each time would take more of the processor than the service. */
  readonly #staging: Database;
  #today: CivilDate;

  constructor(parts: ScenarioParts) {
    const { run, random, world, served, firstDate } = parts;
    this.#parts = parts;
    this.#staging = openDatabase({
      databaseUrl: world.databaseUrl,
      applicationName: 'checker',
      maxConnections: 2,
      logger,
    });
    this.#isFired = run.fault === 'none';
    const dates = 2 + random(2);
    for (let day = 0; day < dates; day += 1) served.begin(daysFrom(day, firstDate), 3 + random(9));
    this.#today = daysFrom(dates, firstDate);
    this.#faultRound = ROUNDS[run.point] ?? (random(2) === 0 ? 1 : 2);
    const isOnce = ['shutdown', 'applied', 'closing', 'migration'].includes(run.point);
    this.#hit = isOnce ? 1 : 1 + random(dates);
    this.#settings = {
      environment: world.environment,
      overrides: OVERRIDES,
      clockFile: `${world.folder.path}/clock`,
      onFired: (fired) => this.#onFired(fired),
    };
  }

  get reached(): ReadonlySet<FaultPoint> {
    return new Set(
      FAULT_POINTS.filter((point) => this.#services.some((s) => s.reached.has(point))),
    );
  }

  log(): string {
    return this.#services.flatMap(({ lines }) => lines).join('\n');
  }

  async play(): Promise<void> {
    const { run, served, world, violations } = this.#parts;
    await this.#setToday(this.#today);
    if (this.#faultRound === 1) await this.#arm();
    const service = this.#spawn();
    const armFile = `${world.folder.path}/armed`;
    service.start(run.fault === 'none' ? null : { point: run.point, hit: this.#hit, armFile });
    await this.#finishRound(1, service);

    await this.#signOff();
    for (const date of served.dates) {
      // Only dates that the checker knows as restated since may be flagged.
      if (this.#parts.random(3) > 0 || date === served.dates[0]) this.#restate(date);
    }
    served.begin(this.#today, 1 + this.#parts.random(6));
    if (this.#faultRound === 2) await this.#arm();
    await this.#setToday(daysFrom(1, this.#today));
    await this.#finishRound(2, service);
    if (this.story === null && run.fault !== 'none') {
      violations.add('harness', `${run.point} was not reached ${this.#hit} times in its round`);
    }

    await this.#pullAgain();
    await this.ask(async (client) => {
      await checkDays(client, served, violations);
      const before = await readContents(client);
      await this.#pullAgain();
      checkUnchanged(before, await readContents(client), violations);
      await this.#untilTold(client);
    });
    this.#checkLog();
    for (const each of this.#services) {
      const end = await each.stop();
      if (end !== '0' && end !== 'none')
        violations.add(5, `the service ended with ${end} when asked to stop`);
    }
  }

  async kill(): Promise<void> {
    await Promise.all(this.#services.map((service) => service.kill()));
    await this.#injection;
    await this.#staging.close().catch(() => {});
  }

  /** Asks the database past the proxy. */
  ask<T>(question: (client: Client) => Promise<T>): Promise<T> {
    return withClient(this.#parts.world.databaseUrl, question);
  }

  #spawn(): FaultyService {
    const service = new FaultyService(this.#settings);
    this.#services.push(service);
    return service;
  }

  #onFired(fired: FiredFault): void {
    const { run, world, violations } = this.#parts;
    this.#isFired = true;
    if (run.fault === 'none') return;
    const random = streamOf(run, 'fault');
    const targets = { ...world, random, takeOver: () => this.#takeOver() };
    this.#injection = injectFault(run.fault, targets, fired).then(
      (story) => {
        this.story = `${story} at hit ${this.#hit} of day ${this.#faultRound}`;
      },
      (error: unknown) => {
        fired.release();
        violations.add('harness', `the fault could not be injected: ${error}`);
      },
    );
  }

  /** While the first process is stopped, the platform moves on, and a second process works on. */
  async #takeOver(): Promise<void> {
    const { served, run } = this.#parts;
    const random = streamOf(run, 'take over');
    for (const date of served.dates) if (random(4) > 0) this.#restate(date);
    this.#spawn().start(null);
    // Where the stopped process holds locks, the second one waits for them as long.
    await until(async () => (await this.#unfinished()).length === 0, TAKE_OVER_LIMIT_MS);
  }

  #restate(date: CivilDate): void {
    this.#parts.served.restate(date);
    if (this.#restated.has(date)) this.#restated.set(date, true);
  }

  async #finishRound(round: 1 | 2, service: FaultyService): Promise<void> {
    if (this.#parts.run.point === 'shutdown' && round === this.#faultRound) {
      await this.#askToStop(service);
    }
    await this.#untilDone(`day ${round}`);
    // The ledger may know of a COMMIT before the harness has heard of the process that sent it.
    await until(() => round !== this.#faultRound || this.#isFired, HEARING_LIMIT_MS);
    await this.#injection;
    // The fault may have caused another delay.
    await this.#untilDone(`day ${round}`);
  }

  /** In the middle of a pull, where there is one. */
  async #askToStop(service: FaultyService): Promise<void> {
    const { sandbox } = this.#parts.world;
    const before = sandbox.requests.length;
    await until(() => sandbox.requests.length > before, LIVENESS_LIMIT_MS);
    await sleep(this.#parts.random(40));
    service.send('SIGTERM');
    await until(() => this.story !== null || service.ends.length > 0, LIVENESS_LIMIT_MS);
  }

  async #untilDone(what: string): Promise<void> {
    const { violations } = this.#parts;
    let unfinished: readonly string[] = [];
    await until(async () => {
      unfinished = await this.#unfinished();
      return unfinished.length === 0 || this.#services.some(({ hasGivenUp }) => hasGivenUp);
    }, LIVENESS_LIMIT_MS);
    if (unfinished.length === 0) return;
    const ends = this.#services.flatMap((service) => service.ends);
    violations.add(5, `${what} is not done: ${unfinished.join('; ')} (ends: ${ends})`);
    throw new Error('given up: the service does not get its work done');
  }

  /** The open work of the ledger, in words; empty if no work is open. */
  async #unfinished(): Promise<readonly string[]> {
    const dates = this.#parts.served.dates.filter((date) => date < this.#today);
    try {
      const { pool } = this.#staging;
      const { rows } = await pool.query<{ text: string }>(UNFINISHED, [dates, this.#today]);
      return rows.map(({ text }) => text);
    } catch (error) {
      return [String(error)];
    }
  }

  /** Every date once more, on demand. */
  async #pullAgain(): Promise<void> {
    for (const date of this.#parts.served.dates) {
      await createPull(this.#staging, { origin: 'manual', date, requestedBy: 'checker' });
    }
    await this.#untilDone('pulling again');
  }

  async #signOff(): Promise<void> {
    const { served, random } = this.#parts;
    for (const date of served.dates.filter(() => random(2) === 0)) {
      let refusal = await this.#signOffAsSeen(date);
      // The pull of a sweep may change the day after the look at it.
      for (let look = 1; refusal === 'changed_meanwhile' && look < 3; look += 1) {
        refusal = await this.#signOffAsSeen(date);
      }
      if (refusal !== null) throw new Error(`the sign-off of ${date} is refused: ${refusal}`);
    }
  }

  async #signOffAsSeen(date: CivilDate): Promise<SignOffRefusal | null> {
    const { served } = this.#parts;
    const seenDigest = await digestOf(this.#staging, date, {});
    const day = await this.ask((client) => readDay(client, date));
    if (day?.state !== 'reconciled') return null;
    // The platform may have moved on while a process was stopped, and no pull has run since.
    const isOld = day.digest !== served.latest(date).digest;
    // A changed bank account keeps its days from being signed off.
    await decideOpenChanges(this.#staging, 'confirmed', 'checker');
    const [outcome] = await signOffDays(this.#staging, [{ date, seenDigest }], {
      by: 'checker',
      reason: null,
      fourEyes: false,
    });
    if (outcome?.refusal === null) this.#restated.set(date, isOld);
    return outcome?.refusal ?? null;
  }

  /** An alert is raised at the next look at the ledger. */
  async #untilTold(client: Client): Promise<void> {
    const { violations } = this.#parts;
    let missing: readonly string[] = [];
    await until(async () => {
      missing = await checkSeals(client, this.#restated);
      return missing.length === 0;
    }, HEARING_LIMIT_MS);
    for (const what of missing) violations.add(6, what);
  }

  #checkLog(): void {
    for (const line of this.log().split('\n')) {
      if (/defect in a job|"code":"DEFECT"|"level":60/.test(line)) {
        this.#parts.violations.add(5, `the service met a defect of its own: ${line}`);
      }
    }
  }

  async #setToday(date: CivilDate): Promise<void> {
    this.#today = date;
    await this.#parts.world.folder.write('clock', `${date}T12:00:00Z`);
  }

  #arm(): Promise<string> {
    return this.#parts.world.folder.write('armed', '');
  }
}
