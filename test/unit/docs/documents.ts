import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

export const ROOT = join(import.meta.dirname, '../../..');

/** The project's documents, as paths from the root. */
export const DOCUMENTS: readonly string[] = ['.', 'docs'].flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);

export function readDocument(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The document without its blocks of code. */
export function proseOf(document: string): string {
  return document.replace(/^( *)```.*?^\1```$/gms, '');
}

/** The cells of every row of every table, without the rows that head a table. */
export function tableRowsOf(document: string): string[][] {
  const lines = proseOf(document).split('\n');
  return lines
    .filter((line, index) => line.startsWith('| ') && !lines[index + 1]?.startsWith('| ---'))
    .filter((line) => !line.startsWith('| ---'))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** The text below a heading, with the sections within. */
export function sectionOf(document: string, heading: string): string {
  const [, marks = '', text = ''] = new RegExp(`^(#+) ${heading}\n(.*)`, 'ms').exec(document) ?? [];
  return text.split(new RegExp(`^#{2,${marks.length}} `, 'm'))[0] ?? '';
}

/** The texts that stand between backticks. */
export function codeIn(text: string): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
}

/** The variables of docs/configuration.md, with those that name the file of a secret. */
export function documentedVariables(): string[] {
  return tableRowsOf(readDocument('docs/configuration.md')).flatMap(([cell = '', , takes = '']) =>
    codeIn(cell).flatMap((name) => (takes.endsWith('or a file') ? [name, `${name}_FILE`] : [name])),
  );
}

interface PrometheusRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly runbook_url: string };
}

/** The rules of ops/prometheus/rules.yml. */
export const PROMETHEUS_RULES: readonly PrometheusRule[] = parse(
  readDocument('ops/prometheus/rules.yml'),
).groups.flatMap(({ rules }: { rules: PrometheusRule[] }) => rules);
