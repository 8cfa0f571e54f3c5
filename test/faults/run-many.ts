import { parseArgs } from 'node:util';
import { FAULT_POINTS, type FaultPoint } from '../../src/runtime/fault-points.ts';
import { findRedisServer } from '../support/redis.ts';
import { createTemplate } from './database-template.ts';
import {
  COMBINATIONS,
  combination,
  FAULTS,
  type FaultName,
  QUEUES,
  type QueueName,
  type RunCase,
} from './fault-names.ts';
import { describeViolations, type RunResult, runFault } from './fault-run.ts';
import { whyNoSmallFilesystem } from './run-folder.ts';

interface Options {
  readonly runs: number;
  readonly seed: number;
  readonly point: FaultPoint | null;
  readonly fault: FaultName | null;
  readonly queue: QueueName | null;
  /** Runs at the same time. */
  readonly parallel: number;
  /** Keep the files of every run, not only where something was found. */
  readonly keep: boolean;
}

/** The command line of the harness. Returns its exit status: 0 where no run found anything. */
export async function runMany(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  const template = await createTemplate();
  const results: RunResult[] = [];
  try {
    const skipped = await whatCannotBeHad();
    for (const [what, why] of skipped) say(`skipped: ${what}, because ${why}`);
    const cases = casesOf(options).filter(
      ({ fault, queue }) => !skipped.has(fault) && !skipped.has(queue),
    );
    say(`${cases.length} runs from seed ${options.seed}, ${options.parallel} at a time`);
    const waiting = cases.values();
    const work = async () => {
      for (const run of waiting) {
        const result = await runFault(template, run, options.keep);
        results.push(result);
        report(result, results.length, cases.length);
      }
    };
    await Promise.all(Array.from({ length: options.parallel }, work));
  } finally {
    await template.remove();
  }
  return summarize(results, options) ? 0 : 1;
}

/** One seed a run; where nothing is chosen, every combination in its turn, on either queue. */
function casesOf({ runs, seed, point, fault, queue }: Options): RunCase[] {
  return Array.from({ length: runs }, (_, index) => {
    const next = combination(seed + index);
    const turn = Math.floor((seed + index) / COMBINATIONS) % QUEUES.length;
    return {
      seed: seed + index,
      point: point ?? next.point,
      fault: fault ?? next.fault,
      queue: queue ?? QUEUES[turn] ?? 'postgres',
    };
  });
}

/** The tests that this machine does not allow, and the reasons. */
async function whatCannotBeHad(): Promise<Map<string, string>> {
  const missing = new Map<string, string>();
  const noDisk = await whyNoSmallFilesystem();
  if (noDisk !== null) missing.set('disk', noDisk);
  if (findRedisServer() === null) missing.set('redis', 'there is no redis-server on the PATH');
  return missing;
}

function report(result: RunResult, done: number, total: number): void {
  const { run, violations, story, durationMs, evidence } = result;
  const seconds = (durationMs / 1000).toFixed(1);
  const verdict = violations.length === 0 ? 'ok' : 'VIOLATION';
  say(
    `${done}/${total} ${verdict} seed ${run.seed} ${run.point} × ${run.fault} on ${run.queue}, ` +
      `${seconds} s: ${story}`,
  );
  if (violations.length > 0) say(describeViolations(run, violations));
  if (evidence !== null) say(`  files: ${evidence}`);
}

/** Prints a table of point × fault: runs, and violations where there were any. */
function summarize(results: readonly RunResult[], { seed }: Options): boolean {
  const failed = results.filter(({ violations }) => violations.length > 0);
  const cells = FAULT_POINTS.map((point) => [
    point,
    ...FAULTS.map((fault) => {
      const here = results.filter(({ run }) => run.point === point && run.fault === fault);
      const bad = here.filter(({ violations }) => violations.length > 0).length;
      return bad === 0 ? String(here.length) : `${here.length} (${bad}!)`;
    }),
  ]);
  const rows = [['', ...FAULTS], ...cells];
  say(
    rows.map((row) => row.map((cell, at) => cell.padEnd(at === 0 ? 24 : 11)).join('')).join('\n'),
  );
  const looks = results.reduce((sum, result) => sum + result.looks, 0);
  say(
    `${results.length} runs from seed ${seed}, ${looks} looks of a reader, ` +
      `${failed.length} runs with violations`,
  );
  for (const { run, violations } of failed) say(describeViolations(run, violations));
  return failed.length === 0;
}

function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      runs: { type: 'string', default: String(COMBINATIONS * QUEUES.length) },
      seed: { type: 'string', default: '0' },
      point: { type: 'string' },
      fault: { type: 'string' },
      queue: { type: 'string' },
      parallel: { type: 'string', default: '2' },
      keep: { type: 'boolean', default: false },
    },
  });
  return {
    runs: wholeNumber('runs', values.runs),
    seed: wholeNumber('seed', values.seed),
    point: oneOf('point', values.point, FAULT_POINTS),
    fault: oneOf('fault', values.fault, FAULTS),
    queue: oneOf('queue', values.queue, QUEUES),
    parallel: wholeNumber('parallel', values.parallel),
    keep: values.keep,
  };
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new RangeError(`--${name} takes a whole number`);
  return Number(text);
}

function oneOf<T extends string>(
  name: string,
  text: string | undefined,
  choices: readonly T[],
): T | null {
  if (text === undefined) return null;
  const chosen = choices.find((choice) => choice === text);
  if (chosen === undefined) throw new RangeError(`--${name} takes one of ${choices.join(', ')}`);
  return chosen;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
