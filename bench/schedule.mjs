// The month's page of the payment schedule over ten million titles, against the plain aggregate of the same titles.
//
//   npm run bench:schedule -- [--titles 10000000] [--rounds 9]
//
// The titles are written by SQL. 80 % are paid to 24 accounts of financial agents, 20 % to 3,000 providers.
// Exits with 1 where a sum of the schedule is not that of the plain aggregate, also right after a change, or the
// page takes more than a fifth of the plain aggregate.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readTitlePage } from '#dist/console/titles/title-list.sql.js';
import { openDatabase } from '#dist/database/database.js';
import { addDays, toCivilDate } from '#dist/domain/business-day.js';
import { createLogger } from '#dist/runtime/logger.js';
import { readGroupTotals, readSchedule } from '#dist/schedule/read-schedule.sql.js';
import { readStaleDate, refreshTotals } from '#dist/schedule/schedule-totals.sql.js';
import { median } from './report.mjs';
import { startServer } from './server.mjs';

/** @import { Database } from '#dist/database/database.js' */

const { values } = parseArgs({
  options: {
    titles: { type: 'string', default: '10000000' },
    rounds: { type: 'string', default: '9' },
  },
});
const [titles, rounds] = [Number(values.titles), Number(values.rounds)];
const DAYS = 365;
const RATIO_LIMIT = 0.2;
const FIRST = toCivilDate('2025-01-01');
/** A month in the middle, with a twelfth of the titles. */
const MONTH = { from: toCivilDate('2025-09-01'), to: toCivilDate('2025-09-30') };
const DAY = { from: toCivilDate('2025-09-10'), to: toCivilDate('2025-09-10') };

const INSERT_TITLES = `
  INSERT INTO conciliation.title
    (order_uid, occurrence, accepted_date, anticipated_due_date, buyer_identification,
     provider_external_id, provider_identification, provider_bank, provider_agency,
     provider_account, provider_account_digit, financial_agent_type,
     financial_agent_identification, financial_agent_name, buyer_is_financial, payment_type,
     payment_bank, payment_agency, payment_account, payment_account_digit, original_value,
     platform_discounted_value, financial_discounted_value, buyer_discounted_value, billing_fee,
     money_transfer_fee, platform_commission, identity_hash, content_hash, raw_hash,
     first_pull_id, last_change_pull_id)
  SELECT md5(number::text)::uuid::text, 1, day, CASE WHEN number % 5000 = 17 THEN NULL ELSE day + 15 + term END,
         '00000000000000', 'F' || lpad(provider::text, 6, '0'), lpad((provider * 7919)::text, 14, '0'),
         '001', lpad(provider::text, 4, '0'), lpad((provider * 31)::text, 7, '0'), '0', 'INDIVIDUAL',
         lpad((agent * 977)::text, 14, '0'), 'Fomento Mercantil ' || agent, number % 5 = 0,
         'BANK_TRANSFER', '341', '4321', lpad((agent * 100 + number % 2)::text, 7, '0'), '1',
         number % 100000 + 0.25, number % 1000 + 0.5, number % 500 + 0.75, number % 100 + 0.1, 1.5,
         4.35, '0.5', md5('i' || number)::uuid, md5('c' || number)::uuid, md5('r' || number)::uuid,
         1, 1
  FROM generate_series(0, $2::int - 1) AS number
  CROSS JOIN LATERAL (
    SELECT $1::date + number / $3::int AS day, (hashint4(number) & 2147483647) % 90 AS term,
           (hashint4(number + 1) & 2147483647) % 3000 AS provider,
           (hashint4(number + 2) & 2147483647) % 12 AS agent
  ) AS drawn`;

const INSERT_DAYS = `
  INSERT INTO conciliation.day (date, state, title_count, verified_at, changed_at)
  SELECT accepted_date, 'reconciled', count(*), now(), now()
  FROM conciliation.title GROUP BY accepted_date`;

const line = (/** @type {string} */ text) => process.stdout.write(`${text}\n`);

const folder = await mkdtemp(join(tmpdir(), 'conciliation-bench-schedule-'));
const server = await startServer(join(folder, 'postgres'));
try {
  const url = await server.createDatabase('bench_schedule');
  await fill();
  const database = openDatabase({
    databaseUrl: url,
    applicationName: 'bench',
    statementTimeoutMs: 600_000,
    logger: createLogger({ logLevel: 'error' }),
  });
  try {
    await measure(database);
  } finally {
    await database.close();
  }
} finally {
  await server.close();
  await rm(folder, { recursive: true, force: true });
}

/** Writes the titles. An index that is built at the end takes a fraction of the time. */
async function fill() {
  const startedMs = performance.now();
  await server.inDatabase('bench_schedule', async (client) => {
    const { rows: indexes } = await client.query(
      `SELECT indexname AS name, indexdef AS definition FROM pg_indexes
       WHERE schemaname = 'conciliation' AND tablename = 'title' AND indexname <> 'title_pkey'`,
    );
    await client.query("SET maintenance_work_mem = '512MB'");
    for (const { name } of indexes) await client.query(`DROP INDEX conciliation.${name}`);
    await client.query(INSERT_TITLES, [FIRST, titles, Math.ceil(titles / DAYS)]);
    for (const { definition } of indexes) await client.query(definition);
    await client.query(INSERT_DAYS);
    await client.query('VACUUM (ANALYZE)');
  });
  line(`${titles} titles of ${DAYS} accepted dates written in ${seconds(startedMs)} s`);
}

/** @param {Database} database */
async function measure(database) {
  const request = { range: MONTH, hasAllAmounts: false, offset: 0, limit: 50 };
  const computeMs = await computeTotals(database);
  const {
    rows: [size],
  } = await database.pool.query(
    `SELECT count(*)::int AS rows, pg_total_relation_size('conciliation.schedule_total')::float8 AS bytes
     FROM conciliation.schedule_total`,
  );
  line(
    `totals: ${size.rows} rows, ${(size.bytes / 1e6).toFixed(0)} MB, computed in ${(computeMs / 1000).toFixed(0)} s, ${(computeMs / DAYS).toFixed(0)} ms a date`,
  );

  const [page, plain] = [[], []];
  /** @type {string[]} */
  const wrong = [];
  for (let round = 0; round < rounds; round += 1) {
    const schedule = await timed(page, () => readSchedule(database, request));
    const sums = await timed(plain, () => plainSums(database, MONTH));
    compare(wrong, schedule, sums);
  }
  const schedule = await readSchedule(database, request);
  line(
    `month: ${schedule.overall.titles} titles, ${schedule.dates.length} due dates, ${schedule.groupCount} groups`,
  );
  const ratio = median(page) / median(plain);
  line(`page ${ms(page)}, plain aggregate ${ms(plain)}, ratio ${ratio.toFixed(3)}`);

  const [day, total, list] = [[], [], []];
  for (let round = 0; round < rounds; round += 1) {
    const { groups } = await timed(day, () =>
      readSchedule(database, { ...request, range: DAY, hasAllAmounts: true }),
    );
    const payeeOf = groups[0]?.payee.titleId ?? 0;
    await timed(total, () => readGroupTotals(database, { range: DAY, payeeOf }));
    await timed(list, () => readTitlePage(database, listOf(payeeOf)));
  }
  line(`one due date ${ms(day)}; a group's totals ${ms(total)}; its list of titles ${ms(list)}`);

  // An accepted date that a merge has just changed: its totals are not current.
  const date = addDays(FIRST, 200);
  await database.prisma.$executeRaw`
    UPDATE conciliation.day SET changed_at = now() WHERE date = ${date}::date`;
  /** @type {number[]} */
  const stale = [];
  for (let round = 0; round < rounds; round += 1) {
    compare(
      wrong,
      await timed(stale, () => readSchedule(database, request)),
      await plainSums(database, MONTH),
    );
  }
  line(`page right after a merge of one date ${ms(stale)}`);

  for (const text of wrong) line(text);
  if (wrong.length > 0 || ratio > RATIO_LIMIT) process.exitCode = 1;
}

/**
 * @param {Database} database
 * @returns {Promise<number>} milliseconds
 */
async function computeTotals(database) {
  const startedMs = performance.now();
  for (
    let date = await readStaleDate(database);
    date !== null;
    date = await readStaleDate(database)
  ) {
    await refreshTotals(database, date);
  }
  const computeMs = performance.now() - startedMs;
  await database.pool.query('VACUUM (ANALYZE) conciliation.schedule_total');
  return computeMs;
}

/**
 * @param {Database} database
 * @param {typeof MONTH} range
 */
async function plainSums(database, { from, to }) {
  const {
    rows: [row],
  } = await database.pool.query(
    `
    SELECT sum(titles)::float8 AS titles, sum(value)::text AS value FROM (
      SELECT anticipated_due_date, buyer_is_financial,
             CASE WHEN buyer_is_financial THEN provider_external_id
                  ELSE financial_agent_identification END AS party,
             CASE WHEN buyer_is_financial THEN provider_account ELSE payment_account END AS account,
             count(*) AS titles, sum(original_value) AS value
      FROM conciliation.title
      WHERE status = 'current' AND anticipated_due_date BETWEEN $1::date AND $2::date
      GROUP BY 1, 2, 3, 4) AS party`,
    [from, to],
  );
  return row;
}

/** @param {number} payeeOf */
function listOf(payeeOf) {
  return {
    filter: {
      from: null,
      to: null,
      status: /** @type {const} */ ('current'),
      order: null,
      provider: null,
      providerId: null,
      agent: null,
      dueFrom: DAY.from,
      dueTo: DAY.to,
      isUndated: null,
      payeeOf,
      minValue: null,
      maxValue: null,
    },
    sort: /** @type {const} */ ('accepted'),
    isDescending: true,
    cursor: null,
    limit: 50,
  };
}

/**
 * @param {string[]} wrong
 * @param {Awaited<ReturnType<typeof readSchedule>>} schedule
 * @param {{ titles: number, value: string }} plain
 */
function compare(wrong, { overall }, plain) {
  const [ours, theirs] = [
    `${overall.titles} ${overall.sums.original_value}`,
    `${plain.titles} ${plain.value}`,
  ];
  if (ours !== theirs) wrong.push(`the schedule has ${ours}, the plain aggregate ${theirs}`);
}

/**
 * @template T
 * @param {number[]} times
 * @param {() => Promise<T>} work
 */
async function timed(times, work) {
  const startedMs = performance.now();
  const result = await work();
  times.push(performance.now() - startedMs);
  return result;
}

/** @param {number[]} times */
function ms(times) {
  return `${median(times).toFixed(0)} ms (${Math.min(...times).toFixed(0)}-${Math.max(...times).toFixed(0)})`;
}

/** @param {number} startedMs */
function seconds(startedMs) {
  return ((performance.now() - startedMs) / 1000).toFixed(0);
}
