import { dirname, join, relative } from 'node:path';
import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';
import { SOURCES, SRC } from './sources.ts';

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

function importsOf({ file, source }: (typeof SOURCES)[number]): Import[] {
  const { module, errors } = parseSync(file, source);
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

const imports = SOURCES.flatMap(importsOf);
const FILES = SOURCES.map(({ file }) => file);
const filesWith = (pattern: RegExp) =>
  SOURCES.filter(({ source }) => pattern.test(source)).map(({ file }) => file);

test('imports run downwards only', () => {
  const upwards = imports.filter(({ file, target }) => {
    const [from, to] = [partOf(file), partOf(target)];
    const isAllowed = to === 'generated' || MAY_IMPORT[from]?.includes(to);
    return isLocal(target) && from !== to && !isAllowed;
  });
  expect(upwards).toEqual([]);
});

test('the pure part has neither IO, nor a clock, nor packages', () => {
  const foreign = imports.filter(
    ({ file, target }) =>
      isPure(file) &&
      !isLocal(target) &&
      !PURE_PACKAGES.has(target.replace(/^(typebox)\/.*/, '$1')),
  );
  expect(foreign).toEqual([]);
  const clocks = filesWith(/new Date\(\)|Date\.now|Math\.random|process\.|performance\./);
  expect(clocks.filter(isPure)).toEqual([]);
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
  const isOutside = (file: string) => !/^base\/(database|embedded)\//.test(file);
  const speakers = filesWith(/\$queryRaw|\$executeRaw|Prisma\.sql`|\.query\(/).filter(isOutside);
  expect(speakers).toEqual(FILES.filter((file) => isOutside(file) && file.endsWith('.sql.ts')));
});

test('no folder of src/ has more than 25 files, and no file lies outside of folders', () => {
  const sizes = new Map<string, number>();
  for (const file of FILES) sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1);
  expect([...sizes].filter(([, size]) => size > 25)).toEqual([]);
  expect(FILES.filter((file) => dirname(file) === '.')).toEqual([]);
});

test('no part of src/ can install a fault', () => {
  expect(filesWith(/installFaultHook/)).toEqual(['base/runtime/fault-points.ts']);
});
