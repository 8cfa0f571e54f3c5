// npm run bench:sweep -- [--rounds 5] [--dates 400] [--titles 1000]: what a sweep costs whose dates all agree.
//
// Three measured processes in turns, each on the same loaded database:
//
//   sweep       compares all dates
//   few-dates   compares the last 10 dates: its peak memory shows whether memory grows with the answer
//   read        reads the same answer into rows for COPY, and throws the rows away
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { addDays, datesBetween, toCivilDate } from '#dist/domain/business-day.js';
import { killChildren, startChild } from './child.mjs';
import { CONTAINER_ENVIRONMENT, CONTAINER_FLAGS } from './container.mjs';
import { itemAt } from './item-at.mjs';
import { median } from './report.mjs';
import { startServer } from './server.mjs';

/**
 * @import pg from 'pg'
 * @import { MeterReading } from './meter.mjs'
 * @import { Server } from './server.mjs'
 *
 * @typedef {MeterReading & { titles: number }} Reading
 */

const LAST_DATE = toCivilDate('2024-06-30');
const TODAY = addDays(LAST_DATE, 1);
const FEW_DATES = 10;
const DATABASE = 'bench_sweep';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    dates: { type: 'string', default: '400' },
    titles: { type: 'string', default: '1000' },
  },
});
const rounds = Number(values.rounds);
const dateCount = Number(values.dates);
const titles = Number(values.titles);

const directory = await mkdtemp(join(tmpdir(), 'conciliation-bench-'));
// Under root the server runs as another user, who has to reach its folder.
await chmod(directory, 0o755);
/** @type {Server | undefined} */
let server;
try {
  const postgres = await startServer(join(directory, 'data'));
  server = postgres;
  const sandbox = startChild('sandbox-process.mjs', {
    environment: { SANDBOX_NOW: `${TODAY}T12:00:00Z` },
  });
  const address = await sandbox.call('address');
  const dates = datesBetween(addDays(LAST_DATE, 1 - dateCount), LAST_DATE);
  const startDate = itemAt(dates, 0);
  await sandbox.call('setDays', { dates, titles });
  await postgres.createDatabase(DATABASE);

  const open = async () => {
    const child = startChild('sweep-process.mjs', {
      execArgv: [...CONTAINER_FLAGS],
      environment: CONTAINER_ENVIRONMENT,
    });
    const databaseUrl = postgres.urlOf(DATABASE);
    await child.call('open', { address, databaseUrl, startDate, today: TODAY });
    return child;
  };
  const loader = await open();
  await loader.call('load', { dates });
  await loader.call('close');
  await loader.stop();

  /** @type {Reading[]} */
  const sweeps = [];
  /** @type {Reading[]} */
  const fewDates = [];
  /** @type {Reading[]} */
  const reads = [];
  const measures = /** @type {const} */ ([
    { name: 'sweep', call: 'sweep', from: startDate, runs: sweeps },
    { name: 'few-dates', call: 'sweep', from: itemAt(dates, -FEW_DATES), runs: fewDates },
    { name: 'read', call: 'read', from: startDate, runs: reads },
  ]);
  for (let round = 0; round < rounds; round++) {
    for (const { name, call, from, runs } of measures) {
      await postgres.inDatabase(DATABASE, (client) => client.query('SELECT pg_stat_reset()'));
      const child = await open();
      await postgres.settle();
      runs.push(await child.call(call, { from }));
      await child.call('close');
      await child.stop();
      const written = await postgres.inDatabase(DATABASE, readWrittenTables);
      const expected = call === 'sweep' ? ['sweep'] : [];
      if (written.join() !== expected.join()) throw new Error(`${name} wrote to ${written}`);
    }
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
  }
  await sandbox.stop();

  const ratios = sweeps.map(
    ({ workerCpuSeconds }, round) => workerCpuSeconds / itemAt(reads, round).workerCpuSeconds,
  );
  const peak = (/** @type {Reading[]} */ runs) =>
    Math.max(...runs.map(({ peakMemoryBytes }) => peakMemoryBytes));
  for (const { name, runs } of measures) {
    const of = (/** @type {'titles' | 'elapsedMs' | 'workerCpuSeconds'} */ field) =>
      median(runs.map((run) => run[field]));
    process.stdout.write(
      `${name.padEnd(9)}  ${of('titles')} titles  ${(of('elapsedMs') / 1000).toFixed(2)} s  ` +
        `CPU ${of('workerCpuSeconds').toFixed(2)} s  peak ${(peak(runs) / 1e6).toFixed(1)} MB\n`,
    );
  }
  process.stdout.write(
    `CPU of the sweep to CPU of the reading: ${median(ratios).toFixed(2)} ` +
      `(${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})\n` +
      `peak memory of ${dateCount} dates above ${FEW_DATES} dates: ` +
      `${((peak(sweeps) - peak(fewDates)) / 1e6).toFixed(1)} MB\n` +
      'tables written by a sweep: sweep\n',
  );
} finally {
  await killChildren();
  await server?.close();
  await rm(directory, { recursive: true, force: true });
}

/**
 * The tables of the product in which rows were inserted, updated or deleted since the statistics were reset.
 *
 * @param {pg.Client} client
 * @returns {Promise<string[]>}
 */
async function readWrittenTables(client) {
  const { rows } = await client.query(
    `SELECT relname FROM pg_stat_user_tables
     WHERE schemaname = 'conciliation' AND n_tup_ins + n_tup_upd + n_tup_del > 0 ORDER BY relname`,
  );
  return rows.map(({ relname }) => relname);
}
