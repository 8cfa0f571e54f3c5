/** docs/operating.md, docs/console.md and docs/matching.md beside the code. */
import { expect, test } from 'vitest';
import { CHECK_CODES, CHECKS } from '../../../src/base/values/checks.ts';
import { HOLD_REASONS } from '../../../src/core/ledger/states.ts';
import { ALERT_KINDS, ALERTS } from '../../../src/features/alerts/alerts.sql.ts';
import {
  DEFAULT_RULES,
  OLD_DAYS,
  RULE_VERSION,
  RULES,
} from '../../../src/features/matching/candidates.sql.ts';
import { BREAK_KINDS } from '../../../src/features/matching/judgement.sql.ts';
import { SUM_CANDIDATES, SUM_ITEMS } from '../../../src/features/matching/sums.sql.ts';
import {
  codeIn,
  documentedVariables,
  PROMETHEUS_RULES,
  readDocument,
  sectionOf,
  tableRowsOf,
} from './documents.ts';

const runbook = readDocument('docs/operating.md');
const ofProgram = sectionOf(runbook, 'Alerts of the program');
const ofPrometheus = sectionOf(runbook, 'Alerts of Prometheus');
const sectionsOf = (part: string) => [...part.matchAll(/^### (.+)$/gm)].map(([, name]) => name);

test('the runbook has a section for each kind of alert and each Prometheus rule, in their order, and no other', () => {
  expect(sectionsOf(ofProgram)).toEqual([...ALERT_KINDS]);
  expect(sectionsOf(ofPrometheus)).toEqual(PROMETHEUS_RULES.map(({ alert }) => alert));
});

test('each section of an alert of the program has the same four parts', () => {
  for (const section of ofProgram.split(/^### /m).slice(1)) {
    const parts = [...section.matchAll(/^\*\*(.+?)(?::\*\*|\*\* )/gm)].map(([, part]) => part);
    expect(parts, section).toEqual(['Means', 'See the cause', 'Do', 'Ends when']);
  }
});

test('each Prometheus rule links to its section, and an alert of the program to that of its kind', () => {
  for (const { alert, expr, annotations } of PROMETHEUS_RULES) {
    const anchor = expr.includes('conciliation_alerts_open')
      ? '{{ $labels.kind }}'
      : alert.toLowerCase();
    expect(annotations.runbook_url).toMatch(/^https:\/\//);
    expect(annotations.runbook_url.endsWith(`/docs/operating.md#${anchor}`), alert).toBe(true);
  }
});

test('the table of alerts and the Prometheus rules have the kinds with their severity', () => {
  const rows = tableRowsOf(sectionOf(runbook, 'Alerts')).filter(([cell = '']) =>
    cell.includes('](#'),
  );
  expect(rows.map(([kind, severity]) => [kind, severity])).toEqual(
    ALERT_KINDS.map((kind) => [`[\`${kind}\`](#${kind})`, ALERTS[kind].severity]),
  );
  const critical = ALERT_KINDS.filter((kind) => ALERTS[kind].severity === 'critical').sort();
  const named = PROMETHEUS_RULES.flatMap(({ labels, expr }) => {
    const [, sign, kinds = ''] = /kind([=!]~)"([^"]+)"/.exec(expr) ?? [];
    return sign === undefined ? [] : [[labels.severity, sign, kinds.split('|').sort()]];
  });
  expect(named).toEqual([
    ['critical', '=~', critical],
    ['warning', '!~', critical],
  ]);
});

test('each command of the runbook exists', () => {
  const commands = codeIn(readDocument('docs/commands.md'));
  const named = [...runbook.matchAll(/^conciliation ((?:[a-z][a-z-]* ?)+)/gm)].map(
    ([, command = '']) => command.trim(),
  );
  expect(named).not.toEqual([]);
  expect(named.filter((command) => !commands.includes(command))).toEqual([]);
});

/** The rows of the table of a section, without the marks of code. */
const rowsOf = (document: string, heading: string) =>
  tableRowsOf(sectionOf(document, heading)).map((cells) =>
    cells.map((cell) => cell.replaceAll('`', '')),
  );
const codesOf = (document: string, heading: string) =>
  rowsOf(document, heading).map(([code]) => code);

const pages = readDocument('docs/console.md');

test('docs/console.md has each check of the titles with its version and severity, and each reason for a held response', () => {
  const documented = rowsOf(pages, 'Checks of the titles').map((cells) => cells.slice(0, 3));
  expect(documented).toEqual(
    CHECK_CODES.map((code) => [code, String(CHECKS[code].version), CHECKS[code].severity]),
  );
  expect(codesOf(pages, 'Checks of the response')).toEqual([...HOLD_REASONS]);
});

test('docs/console.md names variables that docs/configuration.md describes', () => {
  const named = [...pages.matchAll(/`([A-Z]+(?:_[A-Z]+)+)(?:=\w+)?`/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(5);
  expect(documentedVariables()).toEqual(expect.arrayContaining(named));
});

const matching = readDocument('docs/matching.md');

test('docs/matching.md has the rules with their limits and the kinds of breaks in their order', () => {
  expect(codesOf(matching, 'Rules')).toEqual([...RULES, 'person']);
  expect(codesOf(matching, 'Breaks')).toEqual([...BREAK_KINDS]);
  expect(matching).toContain(`current version of the rules is ${RULE_VERSION}.`);
  const { dueDays, valueTolerance } = DEFAULT_RULES;
  expect(matching).toContain(`${dueDays} days and ${valueTolerance} count`);
  expect(matching).toContain(`at least ${OLD_DAYS} days old`);
  expect(matching).toContain(`one title and 2 to ${SUM_ITEMS} payables`);
  expect(matching).toContain(`at most ${SUM_CANDIDATES} candidates`);
});
