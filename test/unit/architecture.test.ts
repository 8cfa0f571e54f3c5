import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';

const SRC = join(import.meta.dirname, '../../src');

/**
 * What each part may import, besides itself. The order is the way of the data; whoever is missing
 * from a list is out of bounds.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  errors: [],
  'address-faults': [],
  'environment-reader': ['domain'],
  config: ['address-faults', 'domain', 'environment-reader', 'errors'],
  'fault-points': [],
  repeat: [],
  logger: ['config', 'errors'],
  generated: [],
  staging: ['domain', 'errors', 'fault-points', 'logger', 'generated'],
  platform: ['domain', 'errors', 'logger'],
  embedded: ['errors', 'logger'],
  sandbox: ['domain', 'errors'],
  export: ['domain', 'errors', 'staging'],
  pull: ['domain', 'errors', 'fault-points', 'logger', 'platform', 'staging'],
  sweep: ['domain', 'errors', 'fault-points', 'logger', 'platform', 'pull', 'staging'],
  push: ['domain', 'errors', 'logger', 'platform', 'staging'],
  queue: ['domain', 'errors', 'fault-points', 'logger', 'platform', 'pull', 'push', 'staging'],
  scheduler: ['domain', 'errors', 'logger', 'repeat', 'staging'],
  alerts: ['domain', 'errors', 'logger', 'repeat', 'staging'],
  console: ['domain', 'errors', 'export', 'logger', 'staging'],
  app: ['config', 'domain', 'embedded', 'errors', 'logger', 'platform', 'pull', 'staging'],
  'foreground-backfill': [
    'app',
    'config',
    'errors',
    'logger',
    'pull',
    'queue',
    'scheduler',
    'staging',
  ],
  'worker-role': [
    'config',
    'console',
    'domain',
    'logger',
    'pull',
    'push',
    'queue',
    'scheduler',
    'staging',
    'sweep',
  ],
  main: [
    'alerts',
    'app',
    'config',
    'console',
    'domain',
    'errors',
    'fault-points',
    'logger',
    'queue',
    'scheduler',
    'staging',
    'worker-role',
  ],
  cli: [
    'app',
    'config',
    'domain',
    'embedded',
    'errors',
    'export',
    'foreground-backfill',
    'logger',
    'main',
    'pull',
    'push',
    'queue',
    'sandbox',
    'staging',
    'sweep',
  ],
};

/** npm packages that the pure part may use. */
const PURE_PACKAGES = new Set(['node:crypto', 'cpf-cnpj-validator']);

interface Import {
  readonly file: string;
  readonly target: string;
}

function sourceFiles(): string[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('generated'))
    .sort();
}

function importsOf(file: string): Import[] {
  const { module, errors } = parseSync(file, readFileSync(join(SRC, file), 'utf8'));
  expect(errors).toEqual([]);
  const targets = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => (moduleRequest === null ? [] : moduleRequest.value)),
    ),
  ];
  return targets.map((target) => ({
    file,
    target: target.startsWith('.') ? relative(SRC, join(SRC, dirname(file), target)) : target,
  }));
}

const partOf = (file: string) => file.split('/')[0]?.replace(/\.tsx?$/, '') ?? '';
const isLocal = (target: string) => /\.tsx?$/.test(target);

const imports = sourceFiles().flatMap(importsOf);

test('every part of src/ has a place in the order', () => {
  expect([...new Set(sourceFiles().map(partOf))].filter((part) => !(part in MAY_IMPORT))).toEqual(
    [],
  );
});

test('imports run downwards only', () => {
  const upwards = imports.filter(({ file, target }) => {
    const [from, to] = [partOf(file), partOf(target)];
    return isLocal(target) && from !== to && !MAY_IMPORT[from]?.includes(to);
  });
  expect(upwards).toEqual([]);
});

test('no file imports itself through others', () => {
  const graph = new Map<string, string[]>();
  for (const { file, target } of imports) {
    if (isLocal(target)) graph.set(file, [...(graph.get(file) ?? []), target]);
  }
  const done = new Set<string>();
  const cycles: string[][] = [];
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) {
      cycles.push([...path.slice(path.indexOf(file)), file]);
      return;
    }
    if (done.has(file)) return;
    for (const target of graph.get(file) ?? []) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  expect(cycles).toEqual([]);
});

test('the pure part has neither IO, nor a clock, nor packages', () => {
  const foreign = imports.filter(
    ({ file, target }) =>
      partOf(file) === 'domain' && !isLocal(target) && !PURE_PACKAGES.has(target),
  );
  expect(foreign).toEqual([]);
  for (const file of sourceFiles().filter((name) => partOf(name) === 'domain')) {
    expect(readFileSync(join(SRC, file), 'utf8'), file).not.toMatch(
      /new Date\(\)|Date\.now|Math\.random|process\.|performance\./,
    );
  }
});

test('only staging/ speaks SQL', () => {
  const speakers = imports.filter(
    ({ file, target }) =>
      ['pg', 'pg-copy-streams', 'pg-cursor', '@prisma/adapter-pg'].includes(target) &&
      !['staging', 'embedded', 'export'].includes(partOf(file)),
  );
  // Types of the pool may pass through the engine; statements may not.
  expect(speakers.filter(({ file }) => partOf(file) !== 'pull')).toEqual([]);
});

test('no part of src/ can install a fault', () => {
  const installers = sourceFiles().filter((file) =>
    readFileSync(join(SRC, file), 'utf8').includes('installFaultHook'),
  );
  expect(installers).toEqual(['fault-points.ts']);
});
