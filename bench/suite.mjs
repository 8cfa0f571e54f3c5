// The order of everything: data sets one after the other; for each the databases that hold its titles
// already; for each case the rounds, both sides of a round one after the other and in turns first.
import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkDays } from '#dist/checks/check-day.sql.js';
import { readConfig } from '#dist/config/config.js';
import { openDatabase } from '#dist/database/database.js';
import { addDays, toCivilDate } from '#dist/domain/business-day.js';
import { createLogger } from '#dist/runtime/logger.js';
import { planDataSets } from './cases.mjs';
import { startChild } from './child.mjs';
import { fillTable } from './fill-table.mjs';
import { itemAt } from './item-at.mjs';
import { measure } from './measure.mjs';
import { summariseProfile } from './profile.mjs';
import { MIGRATED } from './server.mjs';
import { verifyLimit, verifyOurs } from './verify.mjs';

/**
 * @import { BenchOptions } from './options.mjs'
 * @import { Case, Side, Variant } from './cases.mjs'
 * @import { Bench, Measured } from './measure.mjs'
 * @import { ProfileSummary } from './profile.mjs'
 * @import { RenderedAnswers, RenderPlan } from './render-process.mjs'
 * @import { Server } from './server.mjs'
 *
 * @typedef {(line: string) => void} Tell
 *
 * @typedef {{ ratio: number } & Partial<Record<Side, Measured>>} Round
 *
 * @typedef {object} CaseResult
 * @property {string} case
 * @property {string} title
 * @property {number} size
 * @property {[Side, Side]} sides
 * @property {Round[]} rounds
 * @property {ProfileSummary | null} profile
 */

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
 * @param {Server} parts.server
 * @param {BenchOptions} parts.options
 * @param {string} parts.directory for the rendered files
 * @param {Tell} parts.tell about progress
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
    warmUp: itemAt(answersOf(warmUp, 'base').requests, 0),
    today: addDays(LAST_DATE, 1),
  };
  const results = [];
  for (const dataSet of planDataSets(options)) {
    const folder = join(directory, `${dataSet.layout}-${dataSet.titles}`);
    tell(`rendering ${dataSet.titles} titles (${dataSet.layout})`);
    const { titles, days, layout } = dataSet;
    const variants = dataSet.cases.map(({ answer }) => answer).filter((name) => name !== 'base');
    const rendered = await render(folder, { titles, days, lastDate: LAST_DATE, variants });
    const loadedBefore = dataSet.cases.some(({ before }) => before === 'base');
    const base = answersOf(rendered, 'base');
    if (loadedBefore) await loadTemplates(bench, base, tell);
    if (layout === 'full-table') {
      tell(`filling a table with ${options.fullTable} titles`);
      const until = firstDate(base);
      await fillTable(server, FULL, { titles: options.fullTable, until });
    }
    for (const spec of dataSet.cases) {
      results.push(await runCase(bench, options, spec, answersOf(rendered, spec.answer), tell));
    }
    for (const name of [...Object.values(LOADED), FULL, MEASURED]) await server.dropDatabase(name);
    await rm(folder, { recursive: true });
  }
  await sandbox.stop();
  return results;
}

/**
 * @param {string} directory
 * @param {Omit<RenderPlan, 'directory'>} plan
 */
async function render(directory, plan) {
  const child = startChild('render-process.mjs');
  try {
    return await child.call('render', { directory, ...plan });
  } finally {
    await child.stop();
  }
}

/**
 * @param {Map<Variant, RenderedAnswers>} rendered
 * @param {Variant} variant
 */
function answersOf(rendered, variant) {
  const answers = rendered.get(variant);
  if (answers === undefined) throw new Error(`the variant ${variant} was not rendered`);
  return answers;
}

/** @param {RenderedAnswers} answers */
const firstDate = ({ requests }) => itemAt(requests, 0).window.from;

/**
 * Databases that hold the titles already, as their own side loaded them. Checked, as the service has
 * done, and vacuumed, as autovacuum has done long before the next pull.
 *
 * @param {Bench} bench
 * @param {RenderedAnswers} answers
 * @param {Tell} tell
 */
async function loadTemplates(bench, answers, tell) {
  tell(`loading ${answers.titles} titles for the re-pulls`);
  const startDate = firstDate(answers);
  for (const program of /** @type {const} */ (['ours', 'limit'])) {
    const database = LOADED[program];
    await bench.server.createDatabase(database);
    await measure(bench, { program, database, startDate, answers, spec: {} });
    if (program === 'ours') await checkTitles(bench.server.urlOf(database));
    await bench.server.inDatabase(database, (client) => client.query('VACUUM (ANALYZE)'));
  }
}

/** @param {string} databaseUrl */
async function checkTitles(databaseUrl) {
  const database = openDatabase({
    databaseUrl,
    applicationName: 'bench',
    logger: createLogger({ logLevel: 'error' }),
  });
  await checkDays(database, { severities: readConfig({}, { platform: false }).checkSeverities });
  await database.close();
}

/**
 * @param {Bench} bench
 * @param {BenchOptions} options
 * @param {Case} spec
 * @param {RenderedAnswers} answers
 * @param {Tell} tell
 * @returns {Promise<CaseResult>}
 */
async function runCase(bench, options, spec, answers, tell) {
  /** @type {Round[]} */
  const rounds = [];
  for (let round = 0; round < options.rounds; round++) {
    const asked = answersOfRound(spec, answers, round);
    const [subject, reference] = spec.sides;
    const run = (/** @type {Side} */ side) => runSide(bench, spec, asked, side);
    // The reference goes first in every other round.
    const early = round % 2 === 0 ? null : await run(reference);
    const ours = await run(subject);
    const other = early ?? (await run(reference));
    verifyOurs(spec, asked, ours);
    if (reference === 'limit') verifyLimit(spec, asked, ours, other);
    else verifyOurs(spec, asked, other);
    const ratio = ours.titlesPerSecond / other.titlesPerSecond;
    rounds.push({ ratio, [subject]: ours, [reference]: other });
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

/**
 * The full table keeps what a round put into it, so each round has a day of its own.
 *
 * @param {Case} spec
 * @param {RenderedAnswers} answers
 * @param {number} round
 */
function answersOfRound(spec, answers, round) {
  if (spec.layout !== 'full-table') return answers;
  const request = itemAt(answers.requests, round % answers.requests.length);
  return { ...answers, titles: request.titles, requests: [request] };
}

/**
 * @param {Bench} bench
 * @param {Case} spec
 * @param {RenderedAnswers} answers
 * @param {Side} side
 * @param {string} [profileDirectory]
 */
async function runSide(bench, spec, answers, side, profileDirectory) {
  const program = side === 'limit' ? 'limit' : 'ours';
  const database = side === 'full' ? FULL : MEASURED;
  if (side !== 'full') {
    const template = spec.before === 'base' ? LOADED[program] : MIGRATED;
    await bench.server.createDatabase(database, template);
  }
  const startDate = firstDate(answers);
  return measure(bench, { program, database, startDate, answers, spec, profileDirectory });
}

/**
 * Apart from the rounds, because the profiler costs time itself. On an empty or loaded table.
 *
 * @param {Bench} bench
 * @param {Case} spec
 * @param {RenderedAnswers} answers
 * @param {Tell} tell
 */
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
