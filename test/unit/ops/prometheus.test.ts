import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { registerReadiness } from '../../../src/console/shell/readiness.ts';
import { ALERT_KINDS } from '../../../src/features/alerts/alerts.sql.ts';
import { createMetrics } from '../../../src/features/alerts/metrics.sql.ts';
import { findProgram, outputOf } from '../../support/program.ts';
import { ROOT } from '../docs/documents.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
}

interface Panel {
  readonly targets: readonly { readonly refId: string; readonly expr: string }[];
}

const RULES = 'ops/prometheus/rules.yml';
const RULE_TESTS = 'ops/prometheus/rules.test.yml';
const DASHBOARD = 'ops/grafana/dashboard.json';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const rules: Rule[] = parse(read(RULES)).groups.flatMap((group: { rules: Rule[] }) => group.rules);
const dashboard: { panels: Panel[] } = JSON.parse(read(DASHBOARD));
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
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
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

test('each kind of alert is in exactly one rule, and the rules name no other kind', () => {
  const [critical = '', other = ''] = rules
    .filter(({ expr }) => expr.includes('conciliation_alerts_open'))
    .map(({ expr }) => /kind[=!]~"([^"]+)"/.exec(expr)?.[1]);
  expect(critical).toBe(other);
  expect(
    critical.split('|').filter((kind) => !ALERT_KINDS.some((known) => known === kind)),
  ).toEqual([]);
});

const promtool = findProgram('promtool');

describe.skipIf(promtool === null)('promtool (skipped where it is not installed)', () => {
  test.each([
    ['check', RULES, `SUCCESS: ${rules.length} rules found`],
    ['test', RULE_TESTS, 'SUCCESS'],
  ])('%s rules', async (what, file, success) => {
    expect(await outputOf(promtool ?? '', [what, 'rules', join(ROOT, file)])).toContain(success);
  });
});
