// Puts each defect of mutants.json into a copy of the tree, runs the tests that must notice, and says
// which one did. A defect that no test notices survives, and ends this with 1.
//
//   npm run mutants                  all of them
//   npm run mutants -- fence chain   those whose name holds one of the words
//   npm run mutants -- --markdown    also prints the table of docs/mutants.md
//   npm run mutants -- --no-baseline saves the first run, below
//
// Of a defect's tests, the one that docs/mutants.md names runs first, alone. All run where that one passes. What
// runs for a defect first runs without any: a test that fails anyway notices nothing.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * @typedef {object} Mutant
 * @property {string} name
 * @property {number} guarantee of docs/guarantees.md
 * @property {string} file
 * @property {string} find
 * @property {string} replace
 * @property {string[]} tests that must notice the defect
 *
 * @typedef {object} Report of Vitest, as far as it is read here
 * @property {{ assertionResults: { status: string, fullName: string }[] }[]} testResults
 */

const ROOT = join(import.meta.dirname, '../..');
/** A defect that makes a test hang is noticed too: by the test, which has less patience than in a run without defects. */
const TIMEOUT_MS = 400_000;
const env = { ...process.env, PATIENCE_MS: '60000' };

const args = process.argv.slice(2);
const words = args.filter((arg) => !arg.startsWith('--'));
/** @type {Mutant[]} */
const all = JSON.parse(readFileSync(join(import.meta.dirname, 'mutants.json'), 'utf8'));
const chosen = all.filter(
  ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
);
const copy = mkdtempSync(join(tmpdir(), 'conciliation-mutants-'));
process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

function copyTree() {
  const listed = spawnSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    { cwd: ROOT, encoding: 'utf8' },
  );
  for (const file of listed.stdout.split('\0').filter((name) => name !== '')) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(ROOT, file), join(copy, file), { recursive: true });
  }
  cpSync(join(ROOT, 'src/generated'), join(copy, 'src/generated'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
}

/** Tests of processes run dist/. The types of a defect do not matter. */
function build() {
  const { status, stdout } = spawnSync(
    process.execPath,
    ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--noCheck'],
    { cwd: copy, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stdout);
}

/**
 * The project of vitest.config.ts that has the file.
 *
 * @param {string} test
 */
function projectOf(test) {
  return test.endsWith('.long.test.ts') ? 'long' : (test.split('/')[1] ?? '');
}

/**
 * The names of the tests that failed; null where none did.
 *
 * @param {string[]} tests
 * @param {string} [name] the one test of these files that runs
 */
function failures(tests, name) {
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const projects = [...new Set(tests.map(projectOf))];
  const run = spawnSync(
    process.execPath,
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      ...projects.flatMap((project) => ['--project', project]),
      ...tests,
      ...[
        '--bail',
        '1',
        '--reporter',
        'json',
        '--outputFile',
        report,
        '--experimental.fsModuleCache',
      ],
      ...(name === undefined ? [] : ['--testNamePattern', `^${escapeRegExp(name)}$`]),
    ],
    { cwd: copy, encoding: 'utf8', env, timeout: TIMEOUT_MS, killSignal: 'SIGTERM' },
  );
  if (run.status === 0) return null;
  if (run.error !== undefined && 'code' in run.error && run.error.code === 'ETIMEDOUT')
    return ['(hangs)'];
  try {
    /** @type {Report} */
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    const failed = testResults
      .flatMap(({ assertionResults }) => assertionResults)
      .filter(({ status }) => status === 'failed');
    if (failed.length > 0) return failed.map(({ fullName }) => fullName);
  } catch {
    // Told below.
  }
  throw new Error(`no test failed, the run did:\n${run.stdout}${run.stderr}`);
}

/** @param {string} text */
function escapeRegExp(text) {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/**
 * The test that failed when docs/mutants.md was written.
 *
 * @param {Mutant} mutant
 */
function testOfTheTable({ name, file }) {
  const row = table.find((line) => line.includes(` | ${name} | \`${file}\` | `));
  return row
    ?.replace(/^.*?`: /, '')
    .replace(/ \|$/, '')
    .replaceAll('\\|', '|');
}

/**
 * @template T
 * @param {Mutant} mutant
 * @param {() => T} work
 */
function inDefect({ file, find, replace }, work) {
  const path = join(copy, file);
  const source = readFileSync(path, 'utf8');
  if (source.split(find).length !== 2) {
    throw new Error(`${file} has ${source.split(find).length - 1} places like ${find}`);
  }
  writeFileSync(
    path,
    source.replace(find, () => replace),
  );
  try {
    build();
    return work();
  } finally {
    writeFileSync(path, source);
    build();
  }
}

const table = readFileSync(join(ROOT, 'docs/mutants.md'), 'utf8').split('\n');
copyTree();
build();
/** @type {Map<string, string[] | null>} by tests and name: those that fail without any defect */
const baseline = new Map();

/**
 * The tests that notice the defect; null where none does, or where one of them fails without it.
 *
 * @param {Mutant} mutant
 * @param {string} [name]
 */
function noticing(mutant, name) {
  const { tests } = mutant;
  const key = JSON.stringify([tests, name]);
  if (!args.includes('--no-baseline') && !baseline.has(key)) {
    baseline.set(key, failures(tests, name));
  }
  const broken = baseline.get(key) ?? null;
  if (broken !== null) console.log(`${name ?? tests} fails without any defect: ${broken}`);
  return broken === null ? inDefect(mutant, () => failures(tests, name)) : null;
}

const rows = [];
for (const mutant of chosen) {
  const startedMs = performance.now();
  const failed = noticing(mutant, testOfTheTable(mutant)) ?? noticing(mutant);
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  rows.push({ ...mutant, failed });
  console.log(`${failed === null ? 'SURVIVES' : 'caught  '} ${mutant.name} (${seconds} s)`);
  if (failed !== null) console.log(`           ${failed[0]}`);
}

if (args.includes('--markdown')) {
  for (const { guarantee, name, file, tests, failed } of rows) {
    console.log(
      `| ${guarantee} | ${name} | \`${file}\` | \`${tests[0]}\`: ${(failed?.[0] ?? 'NONE').replaceAll('|', '\\|')} |`,
    );
  }
}
const survivors = rows.filter(({ failed }) => failed === null);
console.log(`${rows.length - survivors.length} of ${rows.length} caught.`);
process.exitCode = survivors.length === 0 ? 0 : 1;
