// How fast the console answers over ten million titles, and how much memory an export of a million takes.
//
//   npm run bench:console -- [--days 1000] [--titles-per-day 10000] [--large-day 100000] [--rounds 40] [--data-dir <folder>]
//
// Makes the ledger in an embedded PostgreSQL (minutes, about 10 GB; with --data-dir it is kept and used
// again), serves the console from a process of its own and asks it over HTTP, one request after another. Exits
// with 1 where a median is over its limit.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { request } from 'undici';
import { openDatabase } from '#dist/database/database.js';
import { migrate } from '#dist/database/migrate.js';
import { openEmbeddedPostgres } from '#dist/embedded/embedded-postgres.js';
import { CONTAINER_ENVIRONMENT, CONTAINER_FLAGS } from './container.mjs';

/** @typedef {Awaited<ReturnType<typeof serve>>} Web */

const tell = (/** @type {string} */ line) => process.stdout.write(`${line}\n`);

const PAGE_LIMIT_MS = 100;
const LIST_LIMIT_MS = 200;
const EXPORT_LIMIT_MB = 200;
const PAGE_SIZE = 50;
const { values } = parseArgs({
  options: {
    days: { type: 'string', default: '1000' },
    'titles-per-day': { type: 'string', default: '10000' },
    'large-day': { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '40' },
    'data-dir': { type: 'string' },
  },
});
const days = Number(values.days);
const titlesPerDay = Number(values['titles-per-day']);
const largeDay = Number(values['large-day']);
const rounds = Number(values.rounds);

const logger = pino({ level: 'silent' });
const dataDir = values['data-dir'] ?? (await mkdtemp(join(tmpdir(), 'conciliation-bench-')));
const postgres = await openEmbeddedPostgres({ dataDir, logger });
await migrate({ databaseUrl: postgres.url, logger });
const database = openDatabase({
  databaseUrl: postgres.url,
  applicationName: 'bench',
  statementTimeoutMs: 3_600_000,
  logger,
});
const { prisma } = database;
let isOver = false;
try {
  await makeLedger();
  const web = await serve();
  try {
    isOver = await measure(web);
  } finally {
    await web.close();
  }
  isOver = (await measureExports()) || isOver;
} finally {
  await database.close();
  await postgres.close();
  if (values['data-dir'] === undefined) await rm(dataDir, { recursive: true, force: true });
}
process.exitCode = isOver ? 1 : 0;

/** The last date is the large one, the rest have the same number; every tenth title was restated. */
async function makeLedger() {
  const [{ titles }] = /** @type {[{ titles: number }]} */ (
    await prisma.$queryRaw`
      SELECT coalesce(sum(title_count), 0)::float8 AS titles FROM conciliation.day`
  );
  if (titles > 0) {
    tell(`the ledger is there: ${titles} titles`);
    return;
  }
  const startedMs = performance.now();
  // Built at once when all rows are there, which is what takes the time otherwise.
  await prisma.$executeRaw`DROP INDEX conciliation.title_order_uid_idx`;
  await prisma.$executeRaw`DROP INDEX conciliation.title_provider_idx`;
  await prisma.$executeRaw`
    INSERT INTO conciliation.checkpoint (start_date, last_reconciled_date)
    VALUES (current_date - ${days}::int, current_date - 1)`;
  for (let back = days; back >= 1; back -= 1) {
    await makeDay(back, back === 1 ? largeDay : titlesPerDay);
    if (back % 100 === 0) tell(`${back} days to make`);
  }
  await prisma.$executeRaw`CREATE INDEX title_order_uid_idx ON conciliation.title (order_uid)`;
  await prisma.$executeRaw`
    CREATE INDEX title_provider_idx ON conciliation.title (provider_external_id, accepted_date)`;
  await prisma.$executeRawUnsafe('VACUUM ANALYZE conciliation.title');
  await prisma.$executeRawUnsafe('ANALYZE');
  tell(`made in ${Math.round((performance.now() - startedMs) / 1000)} s`);
}

/**
 * @param {number} back how many days before today
 * @param {number} count of titles
 */
async function makeDay(back, count) {
  const [{ pullId }] = /** @type {[{ pullId: bigint }]} */ (
    await prisma.$queryRaw`
    INSERT INTO conciliation.pull (origin, date, state, requested_by, fence, fetch_started_at,
                                   finished_at, titles, inserted, changed, withdrawn, restored,
                                   unchanged, withheld, rejected)
    VALUES ('daily', current_date - ${back}::int, 'merged', 'bench',
            nextval('conciliation.pull_fence_seq'), now(), now(), ${count}::int, ${count}::int, 0, 0, 0,
            0, 0, 0)
    RETURNING id AS "pullId"`
  );
  await prisma.$executeRaw`
    INSERT INTO conciliation.title
      (order_uid, occurrence, accepted_date, anticipated_due_date, buyer_identification,
       provider_external_id, provider_identification, provider_bank, provider_agency, provider_account,
       financial_agent_type, financial_agent_identification, financial_agent_name, payment_type,
       payment_bank, payment_account, original_value, platform_discounted_value,
       financial_discounted_value, buyer_discounted_value, billing_fee, money_transfer_fee,
       identity_hash, content_hash, raw_hash, first_pull_id, last_change_pull_id)
    SELECT gen_random_uuid()::text, 1, current_date - ${back}::int,
           current_date - ${back}::int + 30 + (number % 90), '90021382000122',
           'F' || lpad((hashint4(number) & 2047)::text, 6, '0'), '52998224725', '341', '1234', '7654321',
           'INDIVIDUAL', '11222333000181', 'Agente Financeiro ' || (hashint4(number + 7) & 255),
           'BANK_TRANSFER', '001', '1234567',
           ((hashint8(number + ${back}::bigint) & 16777215)::numeric / 100), 12.34, 23.45, 0, 0, 3.90,
           gen_random_uuid(), gen_random_uuid(), gen_random_uuid(),
           ${pullId}, ${pullId}
    FROM generate_series(1, ${count}::int) AS number`;
  await prisma.$executeRaw`
    INSERT INTO conciliation.day
      (date, state, title_count, original_value_sum, content_digest, last_pull_id, verified_at, changed_at)
    SELECT current_date - ${back}::int, 'reconciled', count(*), sum(original_value), md5(${back}::text),
           ${pullId}, now(), now()
    FROM conciliation.title WHERE accepted_date = current_date - ${back}::int`;
}

/** The console in a process of its own, so that the measured memory is that of the console alone. */
async function serve() {
  const child = fork(new URL('console-process.mjs', import.meta.url), [postgres.url], {
    execArgv: CONTAINER_FLAGS,
    env: { ...process.env, ...CONTAINER_ENVIRONMENT },
  });
  /** @type {{ url: string, cookie: string }[]} */
  const [session] = await once(child, 'message');
  if (session === undefined) throw new Error('the console told no address');
  return {
    ...session,
    pid: child.pid ?? 0,
    async close() {
      const ended = once(child, 'exit');
      child.send('stop');
      await ended;
    },
  };
}

/** @param {Web} web */
async function measure({ url, cookie }) {
  const [{ large, usual, from }] = /** @type {[{ large: string, usual: string, from: string }]} */ (
    await prisma.$queryRaw`
      SELECT max(date)::text AS large, (max(date) - 10)::text AS usual, (max(date) - 40)::text AS from
      FROM conciliation.day`
  );
  const [{ provider, order }] = /** @type {[{ provider: string, order: string }]} */ (
    await prisma.$queryRaw`
      SELECT provider_external_id AS provider, order_uid AS order FROM conciliation.title
      WHERE accepted_date = ${usual}::date LIMIT 1`
  );
  /** @type {[name: string, path: string, limitMs: number][]} */
  const pages = [
    ['Days', '/', PAGE_LIMIT_MS],
    ['Days, two years back', `/?to=${Number(usual.slice(0, 4)) - 2}-06`, PAGE_LIMIT_MS],
    ['Day', `/days/${usual}`, PAGE_LIMIT_MS],
    ['Titles of a day', `/days/${usual}/titles`, LIST_LIMIT_MS],
    ['… by value', `/days/${usual}/titles?sort=value&direction=descending`, LIST_LIMIT_MS],
    ['… of an agent', `/days/${usual}/titles?agent=financeiro+42`, LIST_LIMIT_MS],
    [`Titles of a day of ${largeDay}`, `/days/${large}/titles`, LIST_LIMIT_MS],
    ['… page 1,000', `/days/${large}/titles?at=${await cursorAt(large, 'order')}`, LIST_LIMIT_MS],
    ['… by value', `/days/${large}/titles?sort=value`, LIST_LIMIT_MS],
    [
      '… by value, page 1,000',
      `/days/${large}/titles?sort=value&at=${await cursorAt(large, 'value')}`,
      LIST_LIMIT_MS,
    ],
    ['… filtered', `/days/${large}/titles?status=current&minValue=50000`, LIST_LIMIT_MS],
    ['Titles of 31 days', `/titles?from=${from}&to=${usual}`, LIST_LIMIT_MS],
    [
      '… page 1,000',
      `/titles?from=${from}&to=${usual}&at=${await cursorInRange(from, usual)}`,
      LIST_LIMIT_MS,
    ],
    ['… filtered', `/titles?from=${from}&to=${usual}&agent=financeiro+42`, LIST_LIMIT_MS],
    [
      'Titles of a provider, all dates',
      `/titles?from=2020-01-01&to=${large}&provider=${provider}`,
      LIST_LIMIT_MS,
    ],
    [
      'Titles of an order, all dates',
      `/titles?from=2020-01-01&to=${large}&order=${order}`,
      LIST_LIMIT_MS,
    ],
  ];
  let over = false;
  tell(`${'page'.padEnd(36)} median ms   p95 ms   limit`);
  for (const [name, path, limitMs] of pages) {
    /** @type {number[]} */
    const times = [];
    for (let round = -3; round < rounds; round += 1) {
      const startedMs = performance.now();
      const answer = await request(url + path, { headers: { cookie, accept: 'text/html' } });
      await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}`);
      if (round >= 0) times.push(performance.now() - startedMs);
    }
    times.sort((a, b) => a - b);
    const median = times[Math.floor(times.length / 2)] ?? 0;
    const p95 = times[Math.floor(times.length * 0.95)] ?? 0;
    if (median > limitMs) over = true;
    tell(
      `${name.padEnd(36)} ${median.toFixed(1).padStart(9)} ${p95.toFixed(1).padStart(8)} ${String(limitMs).padStart(7)}${median > limitMs ? '  OVER' : ''}`,
    );
  }
  return over;
}

/**
 * @param {string} date
 * @param {'order' | 'value'} sort
 */
async function cursorAt(date, sort) {
  const key = sort === 'value' ? 'original_value' : 'order_uid COLLATE "C"';
  return cursorOfRow(
    `SELECT (${key})::text AS key, id::text AS id FROM conciliation.title
     WHERE accepted_date = '${date}' ORDER BY ${key}, id OFFSET ${Math.min(999 * PAGE_SIZE, largeDay - 60) - 1} LIMIT 1`,
  );
}

/**
 * @param {string} from
 * @param {string} to
 */
async function cursorInRange(from, to) {
  return cursorOfRow(
    `SELECT accepted_date::text AS key, id::text AS id FROM conciliation.title
     WHERE accepted_date BETWEEN '${from}' AND '${to}'
     ORDER BY accepted_date, identity_hash, occurrence
     OFFSET ${Math.min(999 * PAGE_SIZE, titlesPerDay * 30) - 1} LIMIT 1`,
  );
}

/** @param {string} query whose only row has the key and the id before the page */
async function cursorOfRow(query) {
  const [row] = /** @type {[{ key: string, id: string }]} */ (await prisma.$queryRawUnsafe(query));
  return Buffer.from(JSON.stringify(['after', row.key, row.id])).toString('base64url');
}

/** About a million titles of the latest days, each format from a console that has just started. */
async function measureExports() {
  const [{ from, to }] = /** @type {[{ from: string, to: string }]} */ (
    await prisma.$queryRaw`
      SELECT (max(date) - 90)::text AS from, max(date)::text AS to FROM conciliation.day`
  );
  let over = false;
  for (const format of ['csv', 'jsonl', 'xlsx']) {
    const web = await serve();
    try {
      over = (await measureExport(web, { from, to, format })) || over;
    } finally {
      await web.close();
    }
  }
  return over;
}

/**
 * @param {Web} web
 * @param {{ from: string, to: string, format: string }} fields
 */
async function measureExport({ url, cookie, pid }, fields) {
  const page = await request(`${url}/exports`, { headers: { cookie, accept: 'text/html' } });
  const csrf = /name="_csrf" value="([^"]+)"/.exec(await page.body.text())?.[1] ?? '';
  const idleMb = await peakMegabytes(pid);
  const startedMs = performance.now();
  const answer = await request(`${url}/exports`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ _csrf: csrf, ...fields }).toString(),
    bodyTimeout: 0,
    headersTimeout: 0,
  });
  let bytes = 0;
  for await (const chunk of answer.body) bytes += chunk.length;
  const seconds = (performance.now() - startedMs) / 1000;
  const peakMb = await peakMegabytes(pid);
  tell(
    `export ${fields.format.padEnd(5)} ${(bytes / 1e6).toFixed(0)} MB in ${seconds.toFixed(0)} s, peak ${peakMb.toFixed(0)} MB resident, ${idleMb.toFixed(0)} before (limit ${EXPORT_LIMIT_MB})`,
  );
  return peakMb > EXPORT_LIMIT_MB;
}

/**
 * The greatest resident size of a process, by the kernel; 0 on a system other than Linux.
 *
 * @param {number} pid
 */
async function peakMegabytes(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}
