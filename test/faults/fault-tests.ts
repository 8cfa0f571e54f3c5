import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FAULT_POINTS } from '../../src/base/runtime/fault-points.ts';
import { findRedisServer } from '../support/redis.ts';
import { createTemplate, type DatabaseTemplate } from './database-template.ts';
import { combination, FAULTS, type QueueName, type RunCase } from './fault-names.ts';
import { describeViolations, type RunResult, runFault } from './fault-run.ts';
import { whyNoSmallFilesystem } from './run-folder.ts';

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

function chosenRuns(queue: QueueName): RunCase[] {
  return Array.from({ length: Number(FAULT_RUNS) }, (_, index) => {
    const seed = Number(FAULT_SEED) + index;
    const next = combination(seed);
    const point = oneOf(FAULT_POINTS, FAULT_POINT) ?? next.point;
    return { seed, point, fault: oneOf(FAULTS, FAULT_FAULT) ?? next.fault, queue };
  });
}

function oneOf<T extends string>(choices: readonly T[], text: string | undefined): T | undefined {
  const chosen = choices.find((choice) => choice === text);
  if (text !== undefined && chosen === undefined) throw new RangeError(`not one of ${choices}`);
  return chosen;
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
      const fault = FAULTS[(FIRST_FAULT[queue] + index) % FAULTS.length] ?? FAULTS[0];
      define(`keeps every guarantee: ${point} × ${fault}`, { seed: SEED, point, fault, queue });
    }
    for (const run of FOUND.filter((found) => found.queue === queue)) {
      define(`does no longer what it did once: ${run.seed}, ${run.point} × ${run.fault}`, run);
    }
  });
}
