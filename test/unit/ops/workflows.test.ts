import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from '../docs/documents.ts';

interface Job {
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
