/**
 * npm run bench -- [--size 1k,20k,100k,500k,1M] [--case first-load,identical,changed,backfill,day] [--rounds 5]
 * [--backfill-days 365]: our pull, from the request to the commit and with all its guarantees, against the limit
 * (limit-process.ts). Both run against the same embedded server, in processes of their own, in turns, each from a
 * clean database. A size is the titles of one response; a backfill has days of 1,000 titles.
 */
import { rm } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readConfig } from '#dist/base/config/config.js';
import { openDatabase } from '#dist/base/database/database.js';
import { toCivilDate } from '#dist/base/values/business-day.js';
import { checkDays } from '#dist/features/checks/check-day.sql.js';
import { runChild } from './child.ts';
import {
  type Bench,
  type Case,
  type Measured,
  measure,
  type Side,
  verify,
  WARM_UP_DATE,
} from './measure.ts';
import { median, toCount } from './numbers.ts';
import { startPlatform } from './platform.ts';
import type { Answer, RenderProgram, Variant } from './render-process.ts';
import { logger, type Server, withServer } from './server.ts';

/** Titles of one day where there are many days. */
const DAY_TITLES = 1000;

const ONE_DAY = { days: 'one', before: 'nothing', answer: 'base', pullsAtOnce: 1 } as const;
const MANY_DAYS = { ...ONE_DAY, days: 'many' } as const;

const CASES: readonly Case[] = [
  { ...ONE_DAY, name: 'first-load', title: 'first load' },
  { ...ONE_DAY, name: 'identical', title: 'identical re-pull', before: 'base' },
  { ...ONE_DAY, name: 'changed', title: '1 % changed', before: 'base', answer: 'changed' },
  { ...MANY_DAYS, name: 'backfill', title: 'backfill, days of 1,000', pullsAtOnce: 4 },
  { ...MANY_DAYS, name: 'day', title: 'one day of 1,000 after the other', atMostDays: 60 },
];

interface CaseResult {
  readonly case: string;
  readonly title: string;
  readonly size: number;
  readonly rounds: readonly (Record<Side, Measured> & { readonly ratio: number })[];
}

type BenchOptions = ReturnType<typeof parseOptions>;

/** Long past, so that every measured date is closed. */
const LAST_DATE = toCivilDate('2024-06-30');
const WARM_UP_TITLES = 2000;

const MEASURED = 'bench_measured';
const LOADED = { ours: 'bench_loaded_ours', limit: 'bench_loaded_limit' };

const tell = (line: string) => process.stderr.write(`${line}\n`);

function parseOptions() {
  const { values } = parseArgs({
    options: {
      size: { type: 'string', default: '1k,20k,100k,500k,1M' },
      case: { type: 'string', default: CASES.map(({ name }) => name).join() },
      rounds: { type: 'string', default: '5' },
      'backfill-days': { type: 'string', default: '365' },
    },
  });
  return {
    sizes: values.size.split(',').map(toCount),
    cases: values.case.split(',').map(toCase),
    rounds: toCount(values.rounds),
    backfillDays: toCount(values['backfill-days']),
  };
}

function toCase(name: string): Case {
  const found = CASES.find((known) => known.name === name);
  if (found !== undefined) return found;
  throw new Error(`there is no case ${name}: ${CASES.map((known) => known.name).join(', ')}`);
}

/** Data sets one after the other; for each the databases that hold its titles already; then its cases. */
async function runSuite(server: Server, options: BenchOptions, directory: string) {
  const platform = await startPlatform();
  platform.answers.set(WARM_UP_DATE, WARM_UP_TITLES);
  const bench = { server, platform };
  const results: CaseResult[] = [];
  for (const { cases, days, titlesPerDay } of planDataSets(options)) {
    const folder = join(directory, `${days}-${titlesPerDay}`);
    tell(`rendering ${days * titlesPerDay} titles`);
    const plan = { directory: folder, lastDate: LAST_DATE, days, titlesPerDay };
    const render = (variant: Variant) =>
      runChild<RenderProgram>('render-process', { ...plan, variant });
    const base = await render('base');
    const isChanged = cases.some(({ answer }) => answer === 'changed');
    const changed = isChanged ? await render('changed') : [];
    if (cases.some(({ before }) => before === 'base')) await loadTemplates(bench, base);
    for (const spec of cases) {
      const answers = spec.answer === 'base' ? base : changed;
      const asked = answers.slice(-(spec.atMostDays ?? days));
      results.push(await runCase(bench, options.rounds, spec, asked));
    }
    for (const name of [...Object.values(LOADED), MEASURED]) await server.dropDatabase(name);
    await rm(folder, { recursive: true });
  }
  await platform.close();
  return results;
}

/** Each data set once, however many cases use it. */
function planDataSets({ cases, sizes, backfillDays }: BenchOptions) {
  const of = (wanted: Case['days']) => cases.filter(({ days }) => days === wanted);
  const many = { cases: of('many'), days: backfillDays, titlesPerDay: DAY_TITLES };
  const ones = sizes.map((titlesPerDay) => ({ cases: of('one'), days: 1, titlesPerDay }));
  return [...ones, many].filter((dataSet) => dataSet.cases.length > 0);
}

/**
 * Databases that hold the titles already, as their own side loaded them. Checked, as the service has
 * done, and vacuumed, as autovacuum has done long before the next pull.
 */
async function loadTemplates(bench: Bench, answers: readonly Answer[]): Promise<void> {
  for (const side of ['ours', 'limit'] as const) {
    const database = LOADED[side];
    tell(`loading the titles for the re-pulls: ${side}`);
    const databaseUrl = await bench.server.createDatabase(database);
    await measure(bench, { side, database, answers, pullsAtOnce: 1 });
    if (side === 'ours') await checkTitles(databaseUrl);
    await bench.server.inDatabase(database, (client) => client.query('VACUUM (ANALYZE)'));
  }
}

async function checkTitles(databaseUrl: string): Promise<void> {
  const database = openDatabase({ databaseUrl, applicationName: 'bench', logger });
  await checkDays(database, readConfig({}, { platform: false }).checkSeverities);
  await database.close();
}

async function runCase(
  bench: Bench,
  roundCount: number,
  spec: Case,
  answers: readonly Answer[],
): Promise<CaseResult> {
  const run = async (side: Side) => {
    const template = spec.before === 'base' ? LOADED[side] : undefined;
    await bench.server.createDatabase(MEASURED, template);
    return measure(bench, { side, database: MEASURED, answers, pullsAtOnce: spec.pullsAtOnce });
  };
  const size = answers.reduce((total, { titles }) => total + titles, 0);
  const rounds: CaseResult['rounds'][number][] = [];
  for (let round = 0; round < roundCount; round++) {
    // The limit goes first in every other round.
    const early = round % 2 === 0 ? null : await run('limit');
    const ours = await run('ours');
    const limit = early ?? (await run('limit'));
    verify(spec, answers, { ours, limit });
    const ratio = ours.titlesPerSecond / limit.titlesPerSecond;
    rounds.push({ ratio, ours, limit });
    tell(`${spec.title}, ${size} titles, round ${round + 1}: ${ratio.toFixed(2)}`);
  }
  return { case: spec.name, title: spec.title, size, rounds };
}

const SIDES = ['ours', 'limit'] as const;

const HEAD = ['case', 'titles', 'side', 'titles/s', 'ratio (min–max)', 'peak MB', 'CPU ms/pull'];

const count = (value: number) => Math.round(value).toLocaleString('en');
const decimal = (value: number) => value.toFixed(2);

/** A Markdown table with two lines for each case and size: medians over the rounds, but of memory the worst. */
function renderTable(results: readonly CaseResult[]): string {
  const lines = results.flatMap(({ title, size, rounds }) => {
    const ratios = rounds.map(({ ratio }) => ratio);
    return SIDES.map((side) => {
      const of = (field: 'titlesPerSecond' | 'peakMemoryBytes' | 'workerCpuMsPerPull') =>
        rounds.map((round) => round[side][field]);
      return [
        ...[title, count(size), side, count(median(of('titlesPerSecond')))],
        `${decimal(median(ratios))} (${decimal(Math.min(...ratios))}–${decimal(Math.max(...ratios))})`,
        count(Math.max(...of('peakMemoryBytes')) / 1e6),
        decimal(median(of('workerCpuMsPerPull'))),
      ];
    });
  });
  const table = [HEAD, HEAD.map(() => '---'), ...lines];
  return table.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

const asked = parseOptions();
await withServer(async (server, directory) => {
  tell(`${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}`);
  process.stdout.write(renderTable(await runSuite(server, asked, directory)));
});
