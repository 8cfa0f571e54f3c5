import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { ALERT_KINDS, ALERTS } from '../../../src/features/alerts/alerts.sql.ts';
import { codeIn, ROOT, readDocument, tableRowsOf } from './documents.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly runbook_url: string };
}

const rules: Rule[] = parse(
  readFileSync(join(ROOT, 'ops/prometheus/rules.yml'), 'utf8'),
).groups.flatMap((group: { rules: Rule[] }) => group.rules);

const runbook = readDocument('docs/operating.md');
const partOf = (heading: string) => runbook.split(`\n## ${heading}\n`)[1]?.split(/^## /m)[0] ?? '';
const ofProgram = partOf('Alerts of the program');
const ofPrometheus = partOf('Alerts of Prometheus');
const sectionsOf = (part: string) => [...part.matchAll(/^### (.+)$/gm)].map(([, name]) => name);

test('the runbook has a section for each kind of alert, in their order, and no other', () => {
  expect(sectionsOf(ofProgram)).toEqual([...ALERT_KINDS]);
});

test('the runbook has a section for each Prometheus rule, and no other', () => {
  expect(sectionsOf(ofPrometheus)).toEqual(rules.map(({ alert }) => alert));
});

test('each section of an alert of the program has the same four parts', () => {
  for (const section of ofProgram.split(/^### /m).slice(1)) {
    const parts = [...section.matchAll(/^\*\*(.+?)(?::\*\*|\*\* )/gm)].map(([, part]) => part);
    expect(parts, section).toEqual(['Means', 'See the cause', 'Do', 'Ends when']);
  }
});

test('each Prometheus rule links to its section, and an alert of the program to that of its kind', () => {
  for (const { alert, expr, annotations } of rules) {
    const anchor = expr.includes('conciliation_alerts_open')
      ? '{{ $labels.kind }}'
      : alert.toLowerCase();
    expect(annotations.runbook_url).toMatch(/^https:\/\//);
    expect(annotations.runbook_url.endsWith(`/docs/operating.md#${anchor}`), alert).toBe(true);
  }
});

test('the table of alerts has the kinds with the severity of the Prometheus rules', () => {
  const rows = tableRowsOf(partOf('Alerts')).filter(([cell = '']) => cell.includes('](#'));
  const critical = rules.find(
    ({ labels, expr }) => labels.severity === 'critical' && expr.includes('kind=~'),
  );
  const isCritical = (kind: string) =>
    /"(.+)"/
      .exec(critical?.expr ?? '')?.[1]
      ?.split('|')
      .includes(kind);
  expect(rows.map(([kind, severity]) => [kind, severity])).toEqual(
    ALERT_KINDS.map((kind) => [
      `[\`${kind}\`](#${kind})`,
      isCritical(kind) === true ? 'critical' : 'warning',
    ]),
  );
  expect(ALERT_KINDS.filter((kind) => ALERTS[kind].severity === 'critical')).toEqual(
    ALERT_KINDS.filter(isCritical),
  );
});

test('each command of the runbook exists', () => {
  const commands = codeIn(readDocument('docs/commands.md'));
  const named = [...runbook.matchAll(/^conciliation ((?:[a-z][a-z-]* ?)+)/gm)].map(
    ([, command = '']) => command.trim(),
  );
  expect(named).not.toEqual([]);
  expect(named.filter((command) => !commands.includes(command))).toEqual([]);
});
