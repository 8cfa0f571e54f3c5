/**
 * test/faults/ breaks the running service at a named point, in one of seven ways, and looks whether
 * every guarantee still holds. All variation of a run comes from its seed. docs/faults.md describes how to read and
 * reproduce a run.
 */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FAULT_POINTS, type FaultPoint } from '../../src/base/runtime/fault-points.ts';
import { createSeededRandom, pick, type SeededRandom } from '../../src/demo/synthetic-titles.ts';
import { daysFrom, TODAY } from '../support/pull-world.ts';
import { findRedisServer } from '../support/redis.ts';
import { checkHistory } from './check-end.ts';
import { openFaultWorld } from './fault-world.ts';
import { FAULTS, type QueueName, type RunCase } from './inject-fault.ts';
import { createTemplate, type DatabaseTemplate, whyNoSmallFilesystem } from './run-folder.ts';
import { Scenario } from './scenario.ts';
import { ServedDays } from './served-days.ts';
import { TableWatch } from './table-watch.ts';
import { type Violation, Violations } from './violations.ts';

/** Any, but the same every time: what it finds today it has to find tomorrow. */
const SEED = 20_260_302;

const missingRedis = findRedisServer() === null ? 'there is no redis-server on the PATH' : null;
const missingDisk = await whyNoSmallFilesystem();

/** Runs that have found a defect. A service that had stopped did not end, because Redis was away while it stopped. */
const FOUND: readonly RunCase[] = [45_014, 45_022].map((seed) => ({
  ...{ seed, point: 'shutdown', fault: 'queue', queue: 'redis' },
}));

/** FAULT_RUNS runs on each queue in place of the usual ones, the first with FAULT_SEED. */
const { FAULT_RUNS, FAULT_SEED = '0', FAULT_POINT, FAULT_FAULT } = process.env;

/** Every point with every fault, once: the first 119 runs of any list, unless a point or a fault is chosen. */
function chosenRuns(queue: QueueName): RunCase[] {
  const [first, ...others] = FAULT_POINTS.flatMap((point) =>
    FAULTS.map((fault) => ({ point, fault, queue })),
  ).filter(
    ({ point, fault }) => point === (FAULT_POINT ?? point) && fault === (FAULT_FAULT ?? fault),
  );
  if (first === undefined) throw new RangeError(`there is no ${FAULT_POINT} × ${FAULT_FAULT}`);
  return Array.from({ length: Number(FAULT_RUNS) }, (_, index) => {
    const seed = Number(FAULT_SEED) + index;
    return { seed, ...pick([first, ...others], seed) };
  });
}

/**
 * Each point has one of the seven faults, another one on the other queue, and another one than its neighbour: either
 * queue meets every fault at two points and more. FAULT_RUNS runs the others.
 */
const FIRST_FAULT: Readonly<Record<QueueName, number>> = { redis: 0, postgres: 3 };

/** The points with their faults on one queue, and what was ever found on it. */
export function describeFaults(queue: QueueName): void {
  let template: DatabaseTemplate;
  beforeAll(async () => {
    template = await createTemplate();
  });
  afterAll(() => template.remove());

  const define = (title: string, run: RunCase, look: (result: RunResult) => void = () => {}) => {
    const noQueue = run.queue === 'redis' ? missingRedis : null;
    const missing = noQueue ?? (run.fault === 'disk' ? missingDisk : null);
    if (missing !== null) return test.skip(`${title}, skipped because ${missing}`, () => {});
    return test.concurrent(title, async () => {
      const result = await runFault(template, run);
      const { violations, evidence } = result;
      expect(violations, `${describeViolations(run, violations)}  files: ${evidence}`).toEqual([]);
      look(result);
    });
  };
  describe(`a service with its queue on ${queue}`, () => {
    if (FAULT_RUNS !== undefined) {
      for (const run of chosenRuns(queue)) define(`${run.seed}: ${run.point} × ${run.fault}`, run);
      return;
    }
    // From an empty database to the end of the process.
    const ordinary = { seed: SEED, point: 'migration', fault: 'none', queue } as const;
    define('reaches every fault point in an ordinary run', ordinary, ({ reached }) => {
      expect([...reached]).toEqual(FAULT_POINTS);
    });
    for (const [index, point] of FAULT_POINTS.entries()) {
      const fault = pick(FAULTS, FIRST_FAULT[queue] + index);
      define(`keeps every guarantee: ${point} × ${fault}`, { seed: SEED, point, fault, queue });
    }
    for (const run of FOUND.filter((found) => found.queue === queue)) {
      define(`does no longer what it did once: ${run.seed}, ${run.point} × ${run.fault}`, run);
    }
  });
}

interface RunResult {
  readonly violations: readonly Violation[];
  readonly reached: ReadonlySet<FaultPoint>;
  /** Where the files of the run are, if they were kept. */
  readonly evidence: string | null;
}

/** Ahead of the database's clock, which would take what was fetched since a slot for pulled by it. */
const FIRST_DATE = daysFrom(2, TODAY);

async function runFault(template: DatabaseTemplate, run: RunCase): Promise<RunResult> {
  const random = createSeededRandom(`${run.seed} ${run.point} ${run.fault} ${run.queue}`);
  const violations = new Violations();
  const world = await openFaultWorld(template, run, random, {
    startDate: FIRST_DATE,
    environment: sweepSettings(random),
  });
  const served = new ServedDays(world.sandbox, random);
  const scenario = new Scenario({ run, random, world, served, violations, firstDate: FIRST_DATE });
  const watch = new TableWatch(world.databaseUrl, served, violations);
  try {
    await scenario.play();
    await watch.stop();
    await scenario.ask((client) => checkHistory(client, served, watch.statesSeen, violations));
  } catch (error) {
    violations.add('harness', error instanceof Error ? `${error.stack}` : String(error));
  }
  await scenario.kill();
  const found = violations.found;
  const evidence = found.length === 0 ? null : await keepEvidence(run, found, scenario.log());
  await world.close(evidence === null ? null : join(evidence, 'files'));
  return { violations: found, reached: scenario.reached, evidence };
}

/** Half of the runs sweep as well, every day. */
function sweepSettings(random: SeededRandom): Record<string, string> {
  if (random(2) === 0) return { SWEEP_CRON: '0 0 * * *' };
  const [, month, day] = daysFrom(-1, FIRST_DATE).split('-').map(Number);
  return { SWEEP_CRON: `0 3 ${day} ${month} *` };
}

async function keepEvidence(
  run: RunCase,
  violations: readonly Violation[],
  log: string,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `conciliation-fault-${run.seed}-`));
  await writeFile(join(folder, 'violations.txt'), describeViolations(run, violations));
  await writeFile(join(folder, 'service.log'), log);
  return folder;
}

function describeViolations(run: RunCase, violations: readonly Violation[]): string {
  const { seed, point, fault, queue } = run;
  const lines = violations.map(({ guarantee, what }) => `  (${guarantee}) ${what}`);
  return [
    `seed ${seed}, point ${point}, fault ${fault}, queue on ${queue}:`,
    ...lines,
    `  again: FAULT_RUNS=1 FAULT_SEED=${seed} FAULT_POINT=${point} FAULT_FAULT=${fault} ` +
      `npx vitest run --project faults ${queue}\n`,
  ].join('\n');
}
