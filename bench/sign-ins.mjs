// What a flood of sign-ins costs the service while a large day is pulled.
//
//   npm run bench:sign-ins -- [options]
//
// In each round two services in turns, on a database of their own, pull one date: "quiet" alone, "flood"
// while all sign-ins with wrong passwords arrive at once. /healthz is asked all the time. Exits with 1 where
// the flood takes more than 60 MB more memory, where /healthz takes 200 ms at the 99th percentile, or where
// the median pull is more than 25 % slower.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { request } from 'undici';
import { addDays, dateIn } from '#dist/domain/business-day.js';
import { killChildren, startChild } from './child.mjs';
import { CONTAINER_ENVIRONMENT, CONTAINER_FLAGS } from './container.mjs';
import { median } from './report.mjs';
import { MIGRATED, startServer } from './server.mjs';

const USAGE = `npm run bench:sign-ins -- [options]

  --titles <number>     100000 unless told; titles of the day that is pulled
  --sign-ins <number>   200 unless told; sign-ins of a flood, all with wrong passwords
  --addresses <number>  20 unless told; addresses that the sign-ins come from, in turns
  --rounds <number>     3 unless told; each measures the service quiet and under the flood
  --help
`;

const { titles, signIns, addresses, rounds } = readOptions();

const COMMAND = new URL('../bin/conciliation.js', import.meta.url).pathname;
const PORT = '18090';
const CONSOLE = `http://127.0.0.1:${PORT}`;
const MEMORY_LIMIT_MB = 60;
const HEALTH_LIMIT_MS = 200;
const SLOWER_LIMIT = 1.25;
/** Not among the dates that the service pulls by itself. */
const DATE = addDays(dateIn('America/Sao_Paulo', new Date()), -30);

/** @typedef {Awaited<ReturnType<typeof measure>>} Run */

const folder = await mkdtemp(join(tmpdir(), 'conciliation-bench-sign-ins-'));
const server = await startServer(join(folder, 'postgres'));
/** @type {Run[]} */
const quiet = [];
/** @type {Run[]} */
const flood = [];
try {
  const sandbox = startChild('sandbox-process.mjs');
  const { baseUrl, token } = await sandbox.call('address');
  await sandbox.call('setDays', { dates: [DATE], titles });
  for (let round = 0; round < rounds; round += 1) {
    quiet.push(await measure({ baseUrl, token, isFlood: false }));
    flood.push(await measure({ baseUrl, token, isFlood: true }));
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
  }
  await sandbox.stop();
} finally {
  await killChildren();
  await server.close();
  await rm(folder, { recursive: true, force: true });
}
report();

/** Ends the process where help was asked for, and with 2 where an argument is wrong. */
function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        titles: { type: 'string', default: '100000' },
        'sign-ins': { type: 'string', default: '200' },
        addresses: { type: 'string', default: '20' },
        rounds: { type: 'string', default: '3' },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      process.stdout.write(USAGE);
      process.exit();
    }
    return {
      titles: toCount(values.titles),
      signIns: toCount(values['sign-ins']),
      addresses: toCount(values.addresses),
      rounds: toCount(values.rounds),
    };
  } catch (error) {
    process.stderr.write(`${/** @type {Error} */ (error).message}\n\n${USAGE}`);
    process.exit(2);
  }
}

/** @param {string} text */
function toCount(text) {
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`${text} is not a whole number above 0`);
  return Number(text);
}

/** @param {{ baseUrl: string, token: string, isFlood: boolean }} options */
async function measure({ baseUrl, token, isFlood }) {
  const databaseUrl = await server.createDatabase('bench_sign_ins', MIGRATED);
  const env = {
    PATH: process.env['PATH'],
    DATABASE_URL: databaseUrl,
    PLATFORM_BASE_URL: baseUrl,
    PLATFORM_TOKEN: token,
    CONSOLE_PORT: PORT,
    TRUSTED_PROXIES: '127.0.0.1',
    LOG_LEVEL: 'error',
    ...CONTAINER_ENVIRONMENT,
  };
  const child = spawn(process.execPath, [...CONTAINER_FLAGS, COMMAND, 'start'], {
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const client = new pg.Client({ connectionString: databaseUrl });
  try {
    await untilReady();
    await client.connect();
    // The dates that are due from the start come first.
    await untilNone(client);
    const idleMb = megabytes(child.pid, 'VmRSS');
    const form = isFlood ? await readForm() : null;
    const ordered = spawnSync(
      process.execPath,
      [COMMAND, 'backfill', '--from', DATE, '--to', DATE, '--detach'],
      { env, encoding: 'utf8' },
    );
    if (ordered.status !== 0) throw new Error(ordered.stderr);
    await untilFetched(client);
    const tries = form === null ? Promise.resolve([]) : floodOf(form);
    const { healthMs, seconds } = await untilMerged(client);
    const statuses = await tries;
    return { idleMb, peakMb: megabytes(child.pid, 'VmHWM'), seconds, healthMs, statuses };
  } finally {
    await client.end();
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  }
}

/** All at once, each with another user, in turns from all addresses. Returns the statuses. */
/** @param {{ cookie: string, csrf: string }} form */
function floodOf({ cookie, csrf }) {
  return Promise.all(
    Array.from({ length: signIns }, async (_, index) => {
      const { statusCode, body } = await request(`${CONSOLE}/login`, {
        method: 'POST',
        headers: {
          cookie,
          'content-type': 'application/x-www-form-urlencoded',
          'x-forwarded-for': `192.0.2.${index % addresses}`,
        },
        body: new URLSearchParams({
          _csrf: csrf,
          name: `user-${index}`,
          password: 'x'.repeat(20),
        }).toString(),
      });
      await body.dump();
      if (![401, 429, 503].includes(statusCode)) throw new Error(`a sign-in got ${statusCode}`);
      return statusCode;
    }),
  );
}

async function readForm() {
  const { headers, body } = await request(`${CONSOLE}/login`);
  const [cookie = ''] = [headers['set-cookie'] ?? ''].flat().map((text) => text.split(';')[0]);
  const csrf = /name="_csrf" value="([^"]+)"/.exec(await body.text())?.[1];
  if (csrf === undefined) throw new Error('the sign-in page has no form token');
  return { cookie: cookie ?? '', csrf };
}

/**
 * Asks /healthz one time after another until the pull is merged.
 *
 * @param {pg.Client} client
 */
async function untilMerged(client) {
  const healthMs = [];
  for (;;) {
    const startedMs = performance.now();
    const { statusCode, body } = await request(`${CONSOLE}/healthz`);
    await body.dump();
    if (statusCode !== 200) throw new Error(`/healthz answered ${statusCode}`);
    healthMs.push(performance.now() - startedMs);
    const { rows } = await client.query(
      `SELECT state, titles, extract(epoch FROM finished_at - fetch_started_at)::float8 AS seconds
       FROM conciliation.pull WHERE origin = 'backfill'`,
    );
    const [pull] = rows;
    if (pull.state === 'merged') {
      if (pull.titles !== titles) throw new Error(`${pull.titles} titles, not ${titles}`);
      return { healthMs, seconds: pull.seconds };
    }
    if (pull.state !== 'running' && pull.state !== 'queued') throw new Error(pull.state);
    await sleep(10);
  }
}

async function untilReady() {
  for (;;) {
    const answer = await fetch(`${CONSOLE}/readyz`).catch(() => null);
    if (answer?.status === 200) return;
    await sleep(50);
  }
}

/** @param {pg.Client} client */
async function untilNone(client) {
  for (let none = 0; none < 5; ) {
    await sleep(200);
    const { rowCount } = await client.query(
      `SELECT FROM conciliation.pull WHERE state IN ('queued', 'running')`,
    );
    none = rowCount === 0 ? none + 1 : 0;
  }
}

/** @param {pg.Client} client */
async function untilFetched(client) {
  for (;;) {
    const { rowCount } = await client.query(
      `SELECT FROM conciliation.pull WHERE origin = 'backfill' AND fetch_started_at IS NOT NULL`,
    );
    if (rowCount === 1) return;
    await sleep(10);
  }
}

/**
 * @param {number | undefined} pid
 * @param {'VmRSS' | 'VmHWM'} field
 */
function megabytes(pid, field) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return (Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) * 1024) / 1e6;
}

function report() {
  let isOver = false;
  const line = (/** @type {string} */ text) => process.stdout.write(`${text}\n`);
  const limit = (/** @type {string} */ text, /** @type {boolean} */ isWithin) => {
    isOver ||= !isWithin;
    line(`${isWithin ? 'within' : 'OVER  '}  ${text}`);
  };
  for (const [name, runs] of /** @type {const} */ ([
    ['quiet', quiet],
    ['flood', flood],
  ])) {
    const seconds = median(runs.map((run) => run.seconds));
    const peak = Math.max(...runs.map((run) => run.peakMb));
    const idle = median(runs.map((run) => run.idleMb));
    line(
      `${name}: pull ${seconds.toFixed(2)} s, idle ${idle.toFixed(0)} MB, peak ${peak.toFixed(0)} MB, ` +
        `/healthz p99 ${percentile(runs).toFixed(0)} ms`,
    );
  }
  const counts = new Map();
  for (const status of flood.flatMap((run) => run.statuses)) {
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  line(
    `answers to sign-ins: ${[...counts].map(([status, count]) => `${count} × ${status}`).join(', ')}`,
  );
  const peak = (/** @type {Run[]} */ runs) => Math.max(...runs.map((run) => run.peakMb));
  const more = peak(flood) - peak(quiet);
  limit(
    `memory above a quiet pull: ${more.toFixed(0)} of ${MEMORY_LIMIT_MB} MB`,
    more <= MEMORY_LIMIT_MB,
  );
  const p99 = percentile(flood);
  limit(`/healthz p99: ${p99.toFixed(0)} of ${HEALTH_LIMIT_MS} ms`, p99 < HEALTH_LIMIT_MS);
  const slower = median(flood.map((run) => run.seconds)) / median(quiet.map((run) => run.seconds));
  limit(`pull: ${slower.toFixed(2)} of ${SLOWER_LIMIT} times a quiet one`, slower <= SLOWER_LIMIT);
  process.exitCode = isOver ? 1 : 0;
}

/** @param {Run[]} runs */
function percentile(runs) {
  const all = runs.flatMap((run) => run.healthMs).sort((one, other) => one - other);
  return all[Math.floor(all.length * 0.99)] ?? 0;
}
