// The always-on service as a user starts it: how long until it is ready, what it takes when idle, and
// how many days a second a backfill makes, by workers and by the platform's latency. Everything runs on
// this one machine and shares its cores: the platform, PostgreSQL and every process of the service.
//
//   node bench/service.mjs [--days 365] [--titles 1000] [--workers 1,2,4] [--latency 0,300] [--rounds 3]
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { addDays, toCivilDate } from '#dist/domain/business-day.js';
import { loadTypescript } from '../test/faults/load-typescript.mjs';
import { treeCpuSeconds } from './process-cpu.mjs';
import { median } from './report.mjs';
import { MIGRATED, startServer } from './server.mjs';

const { startSandbox } = await loadTypescript('../support/sandbox/sandbox.ts');

/**
 * @typedef {ReturnType<typeof startService>} Service
 * @typedef {Awaited<ReturnType<typeof backfill>>} Backfill
 */

const { values } = parseArgs({
  options: {
    days: { type: 'string', default: '365' },
    titles: { type: 'string', default: '1000' },
    workers: { type: 'string', default: '1,2,4' },
    latency: { type: 'string', default: '0,300' },
    rounds: { type: 'string', default: '3' },
  },
});
const numbers = (/** @type {string} */ text) => text.split(',').map(Number);
const [days, titles, rounds] = [Number(values.days), Number(values.titles), Number(values.rounds)];
const [workerCounts, latencies] = [numbers(values.workers), numbers(values.latency)];

const COMMAND = new URL('../bin/conciliation.js', import.meta.url).pathname;
const STARTS = 5;
const SETTLE_MS = 30_000;
const DATES_AT_ONCE = 15;
const FROM = toCivilDate('2025-01-01');

const folder = await mkdtemp(join(tmpdir(), 'conciliation-bench-service-'));
const server = await startServer(join(folder, 'postgres'));
/** @type {import('../test/support/sandbox/sandbox.ts').Sandbox} */
const sandbox = await startSandbox({ titlesPerDay: titles, restate: false });
for (let day = 0; day < days; day += 1) sandbox.setDaySize(addDays(FROM, day), titles);
try {
  write(`${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}`);
  await measureStart();
  await measureBackfills();
} finally {
  await sandbox.close();
  await server.close();
  await rm(folder, { recursive: true, force: true });
}

async function measureStart() {
  const readyMs = [];
  let idle = '';
  for (let round = 0; round < STARTS; round += 1) {
    const databaseUrl = await server.createDatabase('bench_service', MIGRATED);
    const started = performance.now();
    const service = startService(databaseUrl, 4, 0);
    await untilReady(service);
    readyMs.push(performance.now() - started);
    if (round === STARTS - 1) {
      await sleep(SETTLE_MS);
      const status = readFileSync(`/proc/${service.child.pid}/status`, 'utf8');
      const cpu = cpuSeconds(service);
      await sleep(SETTLE_MS);
      const share = (cpuSeconds(service) - cpu) / (SETTLE_MS / 1000);
      const megabytes = Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
      idle = `idle: ${megabytes} MB resident, ${(100 * share).toFixed(1)} % of a core`;
    }
    await stop(service);
  }
  write(`start to ready: median ${Math.round(median(readyMs))} ms of ${STARTS}; ${idle}`);
}

async function measureBackfills() {
  print('workers', 'latency ms', 'days/s (by round)', 'service CPU s/day', 'PostgreSQL CPU s/day');
  print('---:', '---:', '---:', '---:', '---:');
  for (const latencyMs of latencies) {
    sandbox.faults.clear();
    if (latencyMs > 0) sandbox.faults.add({ kind: 'latency', latencyMs, times: 'forever' });
    for (const workers of workerCounts) {
      /** @type {Backfill[]} */
      const runs = [];
      for (let round = 0; round < rounds; round += 1) runs.push(await backfill(workers));
      const of = (/** @type {keyof Backfill} */ field, /** @type {number} */ digits) =>
        median(runs.map((run) => run[field])).toFixed(digits);
      const byRound = runs.map((run) => run.daysPerSecond.toFixed(1)).join(' ');
      const rate = `${of('daysPerSecond', 1)} (${byRound})`;
      print(workers, latencyMs, rate, of('serviceCpu', 3), of('databaseCpu', 3));
    }
  }
}

/** @param {number} workers */
async function backfill(workers) {
  const databaseUrl = await server.createDatabase('bench_service', MIGRATED);
  /** @type {Service[]} */
  const services = [];
  const client = new pg.Client({ connectionString: databaseUrl });
  try {
    await client.connect();
    for (let index = 0; index < workers; index += 1) {
      services.push(startService(databaseUrl, DATES_AT_ONCE + 1, index));
    }
    await Promise.all(services.map(untilReady));
    // What is due from the start, yesterday and its lookback, is out of the way first.
    await untilNone(client, `state IN ('queued', 'running')`);
    const cpu = () => services.reduce((sum, service) => sum + cpuSeconds(service), 0);
    const databaseCpu = () => requireProc(server.cpuSeconds());
    const [serviceBefore, databaseBefore] = [cpu(), databaseCpu()];
    orderBackfill(databaseUrl);
    const seconds = await untilDone(client);
    return {
      daysPerSecond: days / seconds,
      serviceCpu: (cpu() - serviceBefore) / days,
      databaseCpu: (databaseCpu() - databaseBefore) / days,
    };
  } finally {
    await client.end();
    await Promise.all(services.map(stop));
  }
}

/** @param {string} databaseUrl */
function orderBackfill(databaseUrl) {
  const range = ['--from', FROM, '--to', addDays(FROM, days - 1)];
  const options = ['--concurrency', String(DATES_AT_ONCE), '--detach'];
  const { status, stderr } = spawnSync(
    process.execPath,
    [COMMAND, 'backfill', ...range, ...options],
    { env: environment(databaseUrl, DATES_AT_ONCE + 1, 0), encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
}

/**
 * Seconds from the first request to the last commit.
 *
 * @param {pg.Client} client
 * @returns {Promise<number>}
 */
async function untilDone(client) {
  for (;;) {
    const { rows } = await client.query(
      `SELECT count(*)::int AS done, sum(titles)::int AS titles,
              extract(epoch FROM max(finished_at) - min(fetch_started_at))::float8 AS seconds
       FROM conciliation.pull WHERE origin = 'backfill' AND state = 'merged'`,
    );
    const [{ done, titles: merged, seconds }] = rows;
    if (done === days) {
      if (merged !== days * titles) throw new Error(`${merged} titles, not ${days * titles}`);
      return seconds;
    }
    await sleep(200);
  }
}

/**
 * @param {pg.Client} client
 * @param {string} condition
 */
async function untilNone(client, condition) {
  for (let quiet = 0; quiet < 5; ) {
    await sleep(200);
    const { rows } = await client.query(
      `SELECT count(*)::int AS left FROM conciliation.pull WHERE ${condition}`,
    );
    quiet = rows[0].left === 0 ? quiet + 1 : 0;
  }
}

/**
 * @param {string} databaseUrl
 * @param {number} concurrency
 * @param {number} index of the process, from 0
 */
function environment(databaseUrl, concurrency, index) {
  return {
    PATH: process.env['PATH'],
    DATABASE_URL: databaseUrl,
    PLATFORM_BASE_URL: sandbox.baseUrl,
    PLATFORM_TOKEN: sandbox.issueToken({ expiresInSeconds: 86_400 }),
    PLATFORM_CONCURRENCY: String(concurrency),
    CONSOLE_PORT: String(18_080 + index),
    LOG_LEVEL: 'warn',
  };
}

/**
 * @param {string} databaseUrl
 * @param {number} concurrency
 * @param {number} index of the process, from 0
 */
function startService(databaseUrl, concurrency, index) {
  const child = spawn(process.execPath, [COMMAND, 'start'], {
    env: environment(databaseUrl, concurrency, index),
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return { child, readyUrl: `http://127.0.0.1:${18_080 + index}/readyz` };
}

/** @param {Service} service */
async function untilReady({ child, readyUrl }) {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}`);
    const answer = await fetch(readyUrl).catch(() => null);
    if (answer?.status === 200) return;
    await sleep(10);
  }
}

/** @param {Service} service */
async function stop({ child }) {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}

/** @param {Service} service */
function cpuSeconds({ child }) {
  return requireProc(treeCpuSeconds(child.pid ?? 0));
}

/** @param {number | null} seconds */
function requireProc(seconds) {
  if (seconds === null) throw new Error('CPU time is read from /proc, which this system lacks');
  return seconds;
}

/** @param {string} line */
function write(line) {
  process.stdout.write(`${line}\n`);
}

/** @param {(string | number)[]} cells */
function print(...cells) {
  write(`| ${cells.join(' | ')} |`);
}
