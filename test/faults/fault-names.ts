import { FAULT_POINTS, type FaultPoint } from '../../src/base/runtime/fault-points.ts';
import { createSeededRandom, type SeededRandom } from '../../src/demo/synthetic-titles.ts';

/** The fault of a service that has reached a point. `docs/faults.md` describes each fault. */
export const FAULTS = [
  'kill',
  'stop',
  'terminate',
  'postgres',
  'queue',
  'network',
  'disk',
] as const;

export type FaultName = (typeof FAULTS)[number];

export type QueueName = 'postgres' | 'redis';

/** All that a run depends on: the same four give the same run, as far as processes allow. */
export interface RunCase {
  readonly seed: number;
  readonly point: FaultPoint;
  /** `none`: an ordinary run, to compare with. */
  readonly fault: FaultName | 'none';
  readonly queue: QueueName;
}

/** Every point with every fault, once: the first 119 runs of any list on one queue. */
export function combination(index: number): { point: FaultPoint; fault: FaultName } {
  const cases = FAULT_POINTS.flatMap((point) => FAULTS.map((fault) => ({ point, fault })));
  const chosen = cases[index % cases.length];
  if (chosen === undefined) throw new RangeError('there are no combinations');
  return chosen;
}

export function commandFor({ seed, point, fault, queue }: RunCase): string {
  const choice = `FAULT_RUNS=1 FAULT_SEED=${seed} FAULT_POINT=${point} FAULT_FAULT=${fault}`;
  return `${choice} npx vitest run --project faults ${queue}`;
}

/** A separate source of random numbers, for events whose time is not known. */
export function streamOf({ seed, point, fault, queue }: RunCase, purpose: string): SeededRandom {
  return createSeededRandom(`${seed} ${point} ${fault} ${queue} ${purpose}`);
}
