import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { registerReadiness } from '../../../src/console/shell/readiness.ts';
import { ALERT_KINDS } from '../../../src/features/alerts/alerts.ts';
import { createMetrics } from '../../../src/features/alerts/metrics.sql.ts';
import { findProgram, runProgram } from '../../support/programs.ts';
import { ROOT } from '../docs/documents.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
}

interface RuleCase {
  readonly alertname: string;
  readonly exp_alerts: readonly unknown[];
}

interface Panel {
  readonly targets: readonly { readonly refId: string; readonly expr: string }[];
}

const RULES = 'ops/prometheus/rules.yml';
const RULE_TESTS = 'ops/prometheus/rules.test.yml';
const DASHBOARD = 'ops/grafana/dashboard.json';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const rules: Rule[] = parse(read(RULES)).groups.flatMap((group: { rules: Rule[] }) => group.rules);
const cases: RuleCase[] = parse(read(RULE_TESTS)).tests.flatMap(
  (given: { alert_rule_test: RuleCase[] }) => given.alert_rule_test,
);
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

test('each rule has a case in which it fires and a case in which it does not', () => {
  for (const { alert } of rules) {
    const ofRule = cases.filter(({ alertname }) => alertname === alert);
    expect(
      ofRule.some(({ exp_alerts }) => exp_alerts.length > 0),
      alert,
    ).toBe(true);
    expect(
      ofRule.some(({ exp_alerts }) => exp_alerts.length === 0),
      alert,
    ).toBe(true);
  }
});

const promtool = findProgram('promtool');

describe.skipIf(promtool === null)('promtool (skipped where it is not installed)', () => {
  const run = (...parameters: string[]) => runProgram(promtool ?? '', parameters);

  test('check metrics', async () => {
    const unread = () => Promise.reject(new Error('not read'));
    const { registry } = createMetrics({ readLedger: unread, countJobs: unread });
    const metrics = await registry.metrics();
    expect(runProgram(promtool ?? '', ['check', 'metrics'], metrics)).toEqual({
      status: 0,
      output: '',
    });
  });

  test('check rules', () => {
    const { status, output } = run('check', 'rules', join(ROOT, RULES));
    expect(output).toContain(`SUCCESS: ${rules.length} rules found`);
    expect(status).toBe(0);
  });

  test('test rules', () => {
    const { status, output } = run('test', 'rules', join(ROOT, RULE_TESTS));
    expect(output).toContain('SUCCESS');
    expect(status).toBe(0);
  });

  test('check rules, for the expressions of the dashboard', () => {
    const folder = mkdtempSync(join(tmpdir(), 'conciliation-dashboard-'));
    try {
      const recorded = panelExpressions.map((expr, index) => ({
        record: `panel:expression:${index}`,
        expr: expr.replaceAll('$__rate_interval', '5m'),
      }));
      const file = join(folder, 'rules.yml');
      writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules: recorded }] }));
      const { status, output } = run('check', 'rules', file);
      expect(output).toContain(`SUCCESS: ${recorded.length} rules found`);
      expect(status).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
