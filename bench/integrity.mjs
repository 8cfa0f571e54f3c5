// `conciliation verify` over a million titles, against the first load of the same titles.
//
//   npm run bench:verify -- [--dates 10] [--titles 100000] [--rounds 1]
//
// Each round pulls the dates into an empty database and verifies them, then alters four rows with SQL and
// verifies again. Exits with 1 where the first check finds a difference, the second one misses an
// alteration, the checked titles a second are less than half of the loaded ones, or the process takes more
// than 150 MB.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { addDays, dateIn, datesBetween } from '#dist/domain/business-day.js';
import { killChildren, startChild } from './child.mjs';
import { CONTAINER_ENVIRONMENT, CONTAINER_FLAGS } from './container.mjs';
import { median } from './report.mjs';
import { MIGRATED, startServer } from './server.mjs';

const { values } = parseArgs({
  options: {
    dates: { type: 'string', default: '10' },
    titles: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '1' },
  },
});
const [dateCount, titles, rounds] = [
  Number(values.dates),
  Number(values.titles),
  Number(values.rounds),
];

const COMMAND = new URL('../bin/conciliation.js', import.meta.url).pathname;
const MEMORY_LIMIT_MB = 150;
const SPEED_LIMIT = 0.5;
const FIRST = addDays(dateIn('America/Sao_Paulo', new Date()), -30);
const DATES = Array.from({ length: dateCount }, (_, index) => addDays(FIRST, index));
const LAST = DATES.at(-1) ?? FIRST;

/** What a user of the database does, each to a title of another date. */
const ALTERATIONS = [
  `UPDATE conciliation.title SET original_value = original_value + 0.01 WHERE id = $1`,
  `UPDATE conciliation.title SET content_hash = md5('other')::uuid WHERE id = $1`,
  `DELETE FROM conciliation.title WHERE id = $1`,
  `INSERT INTO conciliation.title SELECT (jsonb_populate_record(title, jsonb_build_object(
     'id', (SELECT max(id) + 1 FROM conciliation.title), 'occurrence', 99))).*
   FROM conciliation.title WHERE id = $1`,
];

const folder = await mkdtemp(join(tmpdir(), 'conciliation-bench-verify-'));
const server = await startServer(join(folder, 'postgres'));
/** @type {{ load: number, check: number, peakMb: number, missed: string[] }[]} */
const results = [];
try {
  const sandbox = startChild('sandbox-process.mjs');
  const { baseUrl, token } = await sandbox.call('address');
  await sandbox.call('setDays', { dates: DATES, titles });
  for (let round = 0; round < rounds; round += 1) results.push(await measure(baseUrl, token));
  await sandbox.stop();
} finally {
  await killChildren();
  await server.close();
  await rm(folder, { recursive: true, force: true });
}
report();

/**
 * @param {string} baseUrl
 * @param {string} token
 */
async function measure(baseUrl, token) {
  const databaseUrl = await server.createDatabase('bench_verify', MIGRATED);
  const env = {
    PATH: process.env['PATH'],
    DATABASE_URL: databaseUrl,
    PLATFORM_BASE_URL: baseUrl,
    PLATFORM_TOKEN: token,
    LOG_LEVEL: 'error',
    ...CONTAINER_ENVIRONMENT,
  };
  let loadSeconds = 0;
  for (const date of datesBetween(FIRST, LAST)) {
    const load = await run(env, ['pull', date]);
    if (load.status !== 0) throw new Error(`the first load of ${date} ended with ${load.status}`);
    loadSeconds += load.seconds;
  }
  const range = ['verify', '--from', FIRST, '--to', LAST, '--json'];
  const clean = await run(env, range);
  const missed = clean.status === 0 ? [] : [`the clean ledger gave status ${clean.status}`];

  const altered = await alter(databaseUrl);
  const found = await run(env, range);
  if (found.status !== 3) missed.push(`the altered ledger gave status ${found.status}`);
  const dates = await readDatesOfFindings(databaseUrl);
  for (const [index, date] of altered.entries()) {
    if (!dates.has(date)) missed.push(`no finding on ${date}: ${ALTERATIONS[index]}`);
  }
  const perSecond = (/** @type {number} */ seconds) => (dateCount * titles) / seconds;
  return {
    load: perSecond(loadSeconds),
    check: perSecond(clean.seconds),
    peakMb: Math.max(clean.peakMb, found.peakMb),
    missed,
  };
}

/**
 * Makes each alteration to the first title of another date. Returns the dates.
 *
 * @param {string} databaseUrl
 * @returns {Promise<string[]>}
 */
async function alter(databaseUrl) {
  const dates = [];
  for (const [index, alteration] of ALTERATIONS.entries()) {
    const date = DATES[index] ?? FIRST;
    await query(
      databaseUrl,
      alteration.replace('$1', '(SELECT min(id) FROM conciliation.title WHERE accepted_date = $1)'),
      [date],
    );
    dates.push(date);
  }
  return dates;
}

/** @param {string} databaseUrl */
async function readDatesOfFindings(databaseUrl) {
  const rows = await query(
    databaseUrl,
    'SELECT DISTINCT date::text FROM conciliation.title_finding',
  );
  return new Set(rows.map(({ date }) => date));
}

/**
 * @param {string} databaseUrl
 * @param {string} sql
 * @param {string[]} [values]
 */
async function query(databaseUrl, sql, values = []) {
  // Without triggers, as an owner of the database deletes titles.
  const options = '-c session_replication_role=replica';
  const client = new pg.Client({ connectionString: databaseUrl, options });
  await client.connect();
  try {
    return (await client.query(sql, values)).rows;
  } finally {
    await client.end();
  }
}

/**
 * One command of the program: its exit status, its seconds from start to end, its peak memory.
 *
 * @param {Record<string, string | undefined>} env
 * @param {string[]} args
 * @returns {Promise<{ status: number | null, seconds: number, peakMb: number }>}
 */
function run(env, args) {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [...CONTAINER_FLAGS, COMMAND, ...args], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let peakMb = 0;
  const timer = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      const kilobytes = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0);
      peakMb = Math.max(peakMb, (kilobytes * 1024) / 1e6);
    } catch {
      // The process has ended.
    }
  }, 50);
  return new Promise((resolve) => {
    child.once('exit', (status) => {
      clearInterval(timer);
      resolve({ status, seconds: (performance.now() - startedMs) / 1000, peakMb });
    });
  });
}

function report() {
  const line = (/** @type {string} */ text) => process.stdout.write(`${text}\n`);
  const ratio = median(results.map(({ load, check }) => check / load));
  const peakMb = Math.max(...results.map((result) => result.peakMb));
  const missed = results.flatMap((result) => result.missed);
  for (const { load, check } of results) {
    line(`first load ${Math.round(load)} titles/s, verify ${Math.round(check)} titles/s`);
  }
  line(`ratio ${ratio.toFixed(2)}, at least ${SPEED_LIMIT}`);
  line(`peak ${peakMb.toFixed(0)} MB, at most ${MEMORY_LIMIT_MB}`);
  for (const text of missed) line(text);
  const isWithin = ratio >= SPEED_LIMIT && peakMb <= MEMORY_LIMIT_MB && missed.length === 0;
  process.exitCode = isWithin ? 0 : 1;
}
