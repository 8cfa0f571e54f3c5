import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';

const SRC = join(import.meta.dirname, '../../src');

/** The rooms of src/ that each room may import, besides itself. generated/ holds the Prisma client. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  generated: [],
  base: [],
  core: ['base'],
  console: ['base', 'core'],
  features: ['base', 'core', 'console'],
  demo: ['base', 'core', 'features'],
  app: ['base', 'core', 'console', 'features'],
  cli: ['base', 'core', 'console', 'features', 'demo', 'app'],
};

/** npm packages that the pure part may use. */
const PURE_PACKAGES = new Set([
  'node:crypto',
  'cpf-cnpj-validator',
  'temporal-polyfill',
  'typebox',
]);

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
const isPure = (file: string) =>
  file.startsWith('base/values/') || (file.startsWith('core/title/') && !file.endsWith('.sql.ts'));
const isLocal = (target: string) => /\.tsx?$/.test(target);

const imports = sourceFiles().flatMap(importsOf);

test('every room of src/ has its place in the order', () => {
  const folders = new Set(
    sourceFiles()
      .filter((file) => dirname(file) !== '.')
      .map(partOf),
  );
  expect([...folders].filter((folder) => !(folder in MAY_IMPORT))).toEqual([]);
});

test('imports run downwards only', () => {
  const upwards = imports.filter(({ file, target }) => {
    const [from, to] = [partOf(file), partOf(target)];
    const isAllowed = to === 'generated' || MAY_IMPORT[from]?.includes(to);
    return isLocal(target) && from !== to && !isAllowed;
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
      isPure(file) &&
      !isLocal(target) &&
      !PURE_PACKAGES.has(target.replace(/^(typebox)\/.*/, '$1')),
  );
  expect(foreign).toEqual([]);
  for (const file of sourceFiles().filter(isPure)) {
    expect(readFileSync(join(SRC, file), 'utf8'), file).not.toMatch(
      /new Date\(\)|Date\.now|Math\.random|process\.|performance\./,
    );
  }
});

test('only the folders that copy rows use the driver of PostgreSQL', () => {
  const drivers = ['pg', 'pg-copy-streams', 'pg-cursor', '@prisma/adapter-pg'];
  const users = imports.filter(({ target }) => drivers.includes(target));
  expect([...new Set(users.map(({ file }) => dirname(file)))].sort()).toEqual([
    'base/database',
    'base/embedded',
    'base/export',
    'core/merge',
  ]);
});

test('the files that contain SQL are named *.sql.ts, outside of the folders that are all about PostgreSQL', () => {
  const files = sourceFiles().filter((file) => !/^base\/(database|embedded)\//.test(file));
  const speaksSql = (file: string) =>
    /\$queryRaw|\$executeRaw|Prisma\.sql`|\.query\(/.test(readFileSync(join(SRC, file), 'utf8'));
  expect(files.filter(speaksSql)).toEqual(files.filter((file) => file.endsWith('.sql.ts')));
});

test('no folder of src/ has more than 25 files, and no file lies outside of folders', () => {
  const sizes = new Map<string, number>();
  for (const file of sourceFiles()) sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1);
  expect([...sizes].filter(([, size]) => size > 25)).toEqual([]);
  expect(sourceFiles().filter((file) => dirname(file) === '.')).toEqual([]);
});

test('no part of src/ can install a fault', () => {
  const installers = sourceFiles().filter((file) =>
    readFileSync(join(SRC, file), 'utf8').includes('installFaultHook'),
  );
  expect(installers).toEqual(['base/runtime/fault-points.ts']);
});
