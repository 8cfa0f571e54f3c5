import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { runProgram } from '../../support/programs.ts';
import { ROOT } from '../docs/documents.ts';

/** Steps, or the path of a workflow of this repository. */
interface Job {
  readonly uses?: string;
  readonly 'timeout-minutes'?: number;
  readonly steps?: readonly { readonly uses?: string; readonly run?: string }[];
}

interface Workflow {
  readonly permissions?: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

const FOLDER = join(ROOT, '.github/workflows');
const workflows = readdirSync(FOLDER).map(
  (name) => [name, parse(readFileSync(join(FOLDER, name), 'utf8')) as Workflow] as const,
);
const stepsOf = ({ jobs }: Workflow) => Object.values(jobs).flatMap(({ steps = [] }) => steps);

test.each(workflows)('%s pins each action by a commit', (_name, workflow) => {
  const actions = stepsOf(workflow).flatMap(({ uses }) => uses ?? []);
  expect(actions.filter((action) => !/^[\w-]+\/[\w/-]+@[0-9a-f]{40}$/.test(action))).toEqual([]);
});

test.each(workflows)('%s states its rights and limits the time of each job', (_name, workflow) => {
  expect(workflow.permissions).toBeDefined();
  for (const { uses, 'timeout-minutes': minutes } of Object.values(workflow.jobs)) {
    if (uses === undefined) expect(minutes).toBeGreaterThan(0);
    else expect(uses).toMatch(/^\.\/\.github\/workflows\/[\w-]+\.yml$/);
  }
});

test.each(workflows)(
  '%s has steps that bash reads, without values in the script',
  (_name, workflow) => {
    for (const { run } of stepsOf(workflow)) {
      if (run === undefined) continue;
      expect(runProgram('bash', ['-n'], run), run).toEqual({ status: 0, output: '' });
      // A value of the event would become a part of the script.
      expect(run).not.toContain('${{');
    }
  },
);
