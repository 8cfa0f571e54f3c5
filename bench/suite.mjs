// The order of everything: data sets one after the other; for each the databases that hold its titles
// already; for each case the rounds, both sides of a round one after the other and in turns first.
import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addDays, toCivilDate } from '../dist/domain/business-day.js';
import { planDataSets } from './cases.mjs';
import { startChild } from './child.mjs';
import { fillTable } from './fill-table.mjs';
import { measure } from './measure.mjs';
import { summariseProfile } from './profile.mjs';
import { MIGRATED } from './server.mjs';
import { verifyLimit, verifyOurs } from './verify.mjs';

/** Long over, so that whatever day it is, every measured date is closed. */
const LAST_DATE = toCivilDate('2024-06-30');
const WARM_UP_DATE = toCivilDate('2021-03-01');
const WARM_UP_TITLES = 2000;

const MEASURED = 'bench_measured';
const FULL = 'bench_full';
const LOADED = { ours: 'bench_loaded_ours', limit: 'bench_loaded_limit' };

const PROFILES = fileURLToPath(new URL('profiles/', import.meta.url));

/**
 * @param {object} parts
 * @param {import('./server.mjs').Server} parts.server
 * @param {import('./options.mjs').BenchOptions} parts.options
 * @param {string} parts.directory for the rendered files
 * @param {(line: string) => void} parts.tell about progress
 */
export async function runSuite({ server, options, directory, tell }) {
  const sandbox = startChild('sandbox-process.mjs');
  const warmUp = await render(join(directory, 'warm-up'), {
    titles: WARM_UP_TITLES,
    days: 1,
    lastDate: WARM_UP_DATE,
    variants: [],
  });
  const bench = {
    server,
    sandbox,
    address: await sandbox.call('address'),
    warmUp: warmUp.base.requests[0],
    today: addDays(LAST_DATE, 1),
  };
  const results = [];
  for (const dataSet of planDataSets(options)) {
    const folder = join(directory, `${dataSet.layout}-${dataSet.titles}`);
    tell(`rendering ${dataSet.titles} titles (${dataSet.layout})`);
    const { titles, days, layout } = dataSet;
    const variants = dataSet.cases.map(({ answer }) => answer).filter((name) => name !== 'base');
    const answers = await render(folder, { titles, days, lastDate: LAST_DATE, variants });
    const loadedBefore = dataSet.cases.some(({ before }) => before === 'base');
    if (loadedBefore) await loadTemplates(bench, answers.base, tell);
    if (layout === 'full-table') {
      tell(`filling a table with ${options.fullTable} titles`);
      const until = answers.base.requests[0].window.from;
      await fillTable(server, FULL, { titles: options.fullTable, until });
    }
    for (const spec of dataSet.cases) {
      results.push(await runCase(bench, options, spec, answers[spec.answer], tell));
    }
    for (const name of [...Object.values(LOADED), FULL, MEASURED]) await server.dropDatabase(name);
    await rm(folder, { recursive: true });
  }
  await sandbox.stop();
  return results;
}

async function render(directory, plan) {
  const child = startChild('render-process.mjs');
  try {
    return await child.call('render', { directory, ...plan });
  } finally {
    await child.stop();
  }
}

/**
 * Databases that hold the titles already, as their own side loaded them. Vacuumed, as autovacuum
 * would have done long before the next pull.
 */
async function loadTemplates(bench, answers, tell) {
  tell(`loading ${answers.titles} titles for the re-pulls`);
  const startDate = answers.requests[0].window.from;
  for (const program of /** @type {const} */ (['ours', 'limit'])) {
    const database = LOADED[program];
    await bench.server.createDatabase(database);
    await measure(bench, { program, database, startDate, answers, pullsAtOnce: 1 });
    await bench.server.inDatabase(database, (client) => client.query('VACUUM (ANALYZE)'));
  }
}

async function runCase(bench, options, spec, answers, tell) {
  const rounds = [];
  for (let round = 0; round < options.rounds; round++) {
    const asked = answersOfRound(spec, answers, round);
    const [subject, reference] = spec.sides;
    const order = round % 2 === 0 ? [subject, reference] : [reference, subject];
    const runs = {};
    for (const side of order) runs[side] = await runSide(bench, spec, asked, side);
    verifyOurs(spec, asked, runs[subject]);
    if (reference === 'limit') verifyLimit(spec, asked, runs.ours, runs.limit);
    else verifyOurs(spec, asked, runs[reference]);
    const ratio = runs[subject].titlesPerSecond / runs[reference].titlesPerSecond;
    rounds.push({ ratio, ...runs });
    tell(`${spec.title}, ${asked.titles} titles, round ${round + 1}: ${ratio.toFixed(2)}`);
  }
  return {
    case: spec.name,
    title: spec.title,
    size: answersOfRound(spec, answers, 0).titles,
    sides: spec.sides,
    rounds,
    profile: options.profile ? await profileCase(bench, spec, answers, tell) : null,
  };
}

/** The full table keeps what a round put into it, so each round has a day of its own. */
function answersOfRound(spec, answers, round) {
  if (spec.layout !== 'full-table') return answers;
  const request = answers.requests[round % answers.requests.length];
  return { ...answers, titles: request.titles, requests: [request] };
}

async function runSide(bench, spec, answers, side, profileDirectory) {
  const program = side === 'limit' ? 'limit' : 'ours';
  const database = side === 'full' ? FULL : MEASURED;
  if (side !== 'full') {
    const template = spec.before === 'base' ? LOADED[program] : MIGRATED;
    await bench.server.createDatabase(database, template);
  }
  const startDate = answers.requests[0].window.from;
  const { pullsAtOnce = 1 } = spec;
  return measure(bench, { program, database, startDate, answers, pullsAtOnce, profileDirectory });
}

/** Apart from the rounds, because the profiler costs time itself. On an empty or loaded table. */
async function profileCase(bench, spec, answers, tell) {
  tell(`${spec.title}, ${answers.titles} titles: profile`);
  const directory = join(PROFILES, `${spec.name}-${answers.titles}`);
  await rm(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const asked = answersOfRound(spec, answers, 0);
  const run = await runSide(bench, spec, asked, 'ours', directory);
  verifyOurs(spec, asked, run);
  return summariseProfile(directory, run);
}
