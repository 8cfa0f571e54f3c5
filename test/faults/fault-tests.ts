import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FAULT_POINTS } from '../../src/runtime/fault-points.ts';
import { findRedisServer } from '../support/redis.ts';
import { createTemplate, type DatabaseTemplate } from './database-template.ts';
import { FAULTS, type QueueName, type RunCase } from './fault-names.ts';
import { describeViolations, type RunResult, runFault } from './fault-run.ts';
import { whyNoSmallFilesystem } from './run-folder.ts';
import { REGRESSION_SEEDS } from './seeds.ts';

/** Any, but the same every time: what it finds today it has to find tomorrow. */
const SEED = 20_260_302;

const missingRedis = findRedisServer() === null ? 'there is no redis-server on the PATH' : null;
const missingDisk = await whyNoSmallFilesystem();

/**
 * Unless FAULT_RUNS is `all`, each point has two of the seven faults: others on the other queue, and
 * others than its neighbour, so that all meet every fault between them.
 */
const FAULTS_PER_POINT = process.env['FAULT_RUNS'] === 'all' ? FAULTS.length : 2;
const FIRST_FAULT: Readonly<Record<QueueName, number>> = { redis: 0, postgres: 3 };

function faultsAt(queue: QueueName, pointIndex: number) {
  return Array.from(
    { length: FAULTS_PER_POINT },
    (_, turn) => FAULTS[(FIRST_FAULT[queue] + pointIndex + turn) % FAULTS.length] ?? FAULTS[0],
  );
}

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
      expect(result.violations, describeViolations(run, result.violations)).toEqual([]);
      look(result);
    });
  };
  describe(`a service with its queue on ${queue}`, () => {
    // From an empty database to the end of the process.
    const ordinary = { seed: SEED, point: 'migration', fault: 'none', queue } as const;
    define('reaches every fault point in an ordinary run', ordinary, ({ reached }) => {
      expect([...reached]).toEqual(FAULT_POINTS);
    });
    for (const [index, point] of FAULT_POINTS.entries()) {
      for (const fault of faultsAt(queue, index)) {
        define(`keeps every guarantee: ${point} × ${fault}`, { seed: SEED, point, fault, queue });
      }
    }
    for (const { found, ...run } of REGRESSION_SEEDS.filter((seed) => seed.queue === queue)) {
      const { seed, point, fault } = run;
      define(`does no longer what it did once: ${found} (${seed}, ${point} × ${fault})`, run);
    }
  });
}
