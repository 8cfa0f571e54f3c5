import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { registerReadiness } from '../../../src/console/shell/readiness.ts';
import { createMetrics } from '../../../src/features/alerts/metrics.sql.ts';
import { findProgram, outputOf } from '../../support/program.ts';
import {
  documentedVariables,
  PROMETHEUS_RULES,
  ROOT,
  readDocument as read,
} from '../docs/documents.ts';

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly [field: string]: unknown;
}

const KUBERNETES = 'ops/kubernetes';
/** The version of YAML that kubectl reads: a mode such as 0440 is octal. */
const YAML_OF_KUBECTL = { version: '1.1' } as const;

const kustomization = parse(read(`${KUBERNETES}/kustomization.yaml`), YAML_OF_KUBECTL);
const manifests: Manifest[] = kustomization.resources.flatMap((name: string) =>
  parseAllDocuments(read(`${KUBERNETES}/${name}`), YAML_OF_KUBECTL).map((document) =>
    document.toJS(),
  ),
);

test('the kustomization names every file of the folder', () => {
  const named = [
    'kustomization.yaml',
    ...kustomization.resources,
    ...kustomization.configMapGenerator.flatMap(({ envs }: { envs: string[] }) => envs),
  ];
  expect(named.toSorted()).toEqual(readdirSync(join(ROOT, KUBERNETES)).toSorted());
});

test('the program knows every variable that the manifests set', () => {
  const known = documentedVariables();
  const set = [
    ...read(`${KUBERNETES}/conciliation.env`).matchAll(/^(\w+)=/gm),
    ...JSON.stringify(manifests).matchAll(/"name":"([A-Z][A-Z_]+)"/g),
  ].map(([, name = '']) => name);
  expect(set).toContain('PLATFORM_TOKEN_FILE');
  expect(set.filter((name) => !known.includes(name))).toEqual([]);
});

test('every pod runs without root, without rights and on a read-only file system', () => {
  const pods = manifests
    .filter(({ kind }) => kind === 'Deployment' || kind === 'Job')
    .map((manifest) => manifest['spec']);
  expect(pods).toHaveLength(2);
  for (const pod of pods) {
    expect(pod).toMatchObject({
      template: {
        spec: {
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              securityContext: {
                readOnlyRootFilesystem: true,
                allowPrivilegeEscalation: false,
                capabilities: { drop: ['ALL'] },
              },
            },
          ],
          volumes: [{ secret: { defaultMode: 0o440 } }],
        },
      },
    });
  }
});

test('each secret of the unit is the file that a variable of the program names', () => {
  const unit = read('ops/systemd/erp-conciliation-sync.service');
  const credentials = [...unit.matchAll(/^LoadCredential=([\w-]+):/gm)].map(([, name]) => name);
  const named = [...unit.matchAll(/^Environment=(\w+_FILE)=%d\/([\w-]+)$/gm)];
  expect(named.map(([, , name]) => name)).toEqual(credentials);
  const variables = documentedVariables();
  expect(named.filter(([, variable = '']) => !variables.includes(variable))).toEqual([]);
});

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

const WORKFLOWS = '.github/workflows';
const workflows = readdirSync(join(ROOT, WORKFLOWS)).map(
  (name) => [name, parse(read(`${WORKFLOWS}/${name}`)) as Workflow] as const,
);
const stepsOf = ({ jobs }: Workflow) => Object.values(jobs).flatMap(({ steps = [] }) => steps);

const hasToken = (part: unknown) => /github\.token|secrets\./.test(JSON.stringify(part ?? null));

test.each(workflows)(
  '%s pins each action by a commit, and gives a token to the steps that sign in, and to no other',
  (_name, workflow) => {
    const actions = stepsOf(workflow).flatMap(({ uses }) => uses ?? []);
    expect(actions.filter((action) => !/^[\w-]+\/[\w/-]+@[0-9a-f]{40}$/.test(action))).toEqual([]);
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

const RULES = 'ops/prometheus/rules.yml';
const RULE_TESTS = 'ops/prometheus/rules.test.yml';
const DASHBOARD = 'ops/grafana/dashboard.json';

const dashboard: { panels: { targets: { expr: string }[] }[] } = JSON.parse(read(DASHBOARD));
const panelExpressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));

/** The names that `/metrics` can export, and `up`, which Prometheus makes. */
function exportedNames(): Set<string> {
  const unread = () => Promise.reject(new Error('not read'));
  const { registry } = createMetrics({ readLedger: unread, countJobs: unread });
  registerReadiness(registry, unread);
  const names = new Set(['up']);
  for (const { name, type } of registry.getMetricsAsArray()) {
    // The library declares a number here; the value is the name of the type.
    if (String(type) !== 'histogram') names.add(name);
    else for (const suffix of ['bucket', 'sum', 'count']) names.add(`${name}_${suffix}`);
  }
  return names;
}

/** The names of metrics in an expression, by their prefixes. */
function metricsIn(expression: string): string[] {
  return expression.match(/\bup\b|\b(?:conciliation|nodejs|process)_\w+/g) ?? [];
}

test.each([
  ...PROMETHEUS_RULES.map(({ alert, expr }) => [alert, expr] as const),
  ...panelExpressions.map((expr) => [DASHBOARD, expr] as const),
])('%s: %s asks for exported metrics', (_place, expression) => {
  const names = metricsIn(expression);
  expect(names).not.toEqual([]);
  const exported = exportedNames();
  expect(names.filter((name) => !exported.has(name))).toEqual([]);
});

test('every metric of the program is on the dashboard', () => {
  const shown = new Set(panelExpressions.flatMap(metricsIn));
  const missing = [...exportedNames()].filter(
    (name) =>
      name.startsWith('conciliation_') &&
      !/duration_seconds_(sum|count)$/.test(name) &&
      !shown.has(name),
  );
  expect(missing).toEqual([]);
});

const promtool = findProgram('promtool');

describe.skipIf(promtool === null)('promtool (skipped where it is not installed)', () => {
  test.each([
    ['check', RULES, `SUCCESS: ${PROMETHEUS_RULES.length} rules found`],
    ['test', RULE_TESTS, 'SUCCESS'],
  ])('%s rules', async (what, file, success) => {
    expect(await outputOf(promtool ?? '', [what, 'rules', join(ROOT, file)])).toContain(success);
  });
});
