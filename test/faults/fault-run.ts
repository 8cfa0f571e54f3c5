/**
 * test/faults/ breaks the running service at a named point, in one of seven ways, and looks whether
 * every guarantee still holds. This file is one run; all its variation comes from
 * its seed. docs/faults.md describes how to read and reproduce a run.
 */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FaultPoint } from '../../src/base/runtime/fault-points.ts';
import { createSeededRandom, type SeededRandom } from '../../src/demo/synthetic-titles.ts';
import { daysFrom, TODAY } from '../support/pull-world.ts';
import { checkHistory } from './check-end.ts';
import type { DatabaseTemplate } from './database-template.ts';
import { commandFor, type RunCase } from './fault-names.ts';
import { openFaultWorld } from './fault-world.ts';
import { Scenario } from './scenario.ts';
import { ServedDays } from './served-days.ts';
import { TableWatch } from './table-watch.ts';
import { type Violation, Violations } from './violations.ts';

export interface RunResult {
  readonly violations: readonly Violation[];
  readonly reached: ReadonlySet<FaultPoint>;
  /** Where the files of the run are, if they were kept. */
  readonly evidence: string | null;
}

/** Ahead of the database's clock, which would take what was fetched since a slot for pulled by it. */
const FIRST_DATE = daysFrom(2, TODAY);

export async function runFault(template: DatabaseTemplate, run: RunCase): Promise<RunResult> {
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
    violations.add(
      'harness',
      error instanceof Error ? (error.stack ?? error.message) : String(error),
    );
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

export function describeViolations(run: RunCase, violations: readonly Violation[]): string {
  const { seed, point, fault, queue } = run;
  const lines = violations.map(({ guarantee, what }) => `  (${guarantee}) ${what}`);
  return [
    `seed ${seed}, point ${point}, fault ${fault}, queue on ${queue}:`,
    ...lines,
    `  again: ${commandFor(run)}\n`,
  ].join('\n');
}
