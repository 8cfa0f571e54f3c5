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
  readonly permissions?: unknown;
  readonly env?: unknown;
  readonly steps?: readonly {
    readonly uses?: string;
    readonly run?: string;
    readonly env?: unknown;
    readonly with?: Readonly<Record<string, unknown>>;
  }[];
}

interface Workflow {
  readonly permissions?: unknown;
  readonly env?: unknown;
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

const hasToken = (part: unknown) => /github\.token|secrets\./.test(JSON.stringify(part ?? null));

test.each(workflows)(
  '%s gives a token to the steps that sign in, and to no other',
  (_name, workflow) => {
    expect(JSON.stringify(workflow.permissions)).not.toContain('write');
    expect([workflow, ...Object.values(workflow.jobs)].filter(({ env }) => hasToken(env))).toEqual(
      [],
    );
    for (const { run, env } of stepsOf(workflow).filter(hasToken)) {
      expect([run, env]).toEqual([
        expect.stringMatching(/^docker login [^\n]+ --password-stdin <<<"\$REGISTRY_TOKEN"$/),
        { REGISTRY_TOKEN: expect.stringContaining('github.token') },
      ]);
    }
  },
);

test('the image of a release is signed by its digest, and no token is left beside its source', () => {
  const { build, publish } = workflows.find(([name]) => name === 'release.yml')?.[1].jobs ?? {};
  expect(build?.permissions).toEqual({ contents: 'read', packages: 'write' });
  expect(build?.steps?.[0]?.with).toEqual({ 'persist-credentials': false });
  expect(publish?.permissions).toEqual({ packages: 'write', 'id-token': 'write' });
  expect(publish?.steps?.at(-1)?.run).toMatch(
    /cosign sign --yes "\$image"\ncosign verify "\$image"/,
  );
});
