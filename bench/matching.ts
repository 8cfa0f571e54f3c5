/**
 * npm run bench:matching -- [--sizes 100000,1000000]: the matching of titles with as many payables: time, memory of the
 * process, matches that do not fit.
 *
 * Titles and payables are written by SQL. Of the payables 92 % are those of a title (30 % name the order, and 22 % do
 * not, with a due date within the tolerance; 40 % agree in supplier, value and due date), 2 % are two payables of the
 * order that add up to the title, 2 % have another value, 4 % are decoys: the true payable is missing, and one of
 * another document is near. A decoy is counted apart, because no rule can tell the decoy from the missing payable. The
 * memory is that of the process; PostgreSQL has its own. Exits with 1 where a match joins a title with the payable of
 * another one, where fewer than 98 % of the payables without a decoy are matched, where a second run changes something,
 * or where 100,000 take longer than 60 seconds or 300 MB, or a page of the console about them longer than 200 ms.
 */
import { parseArgs } from 'node:util';
import { type Database, openDatabase } from '#dist/base/database/database.js';
import { runMatching } from '#dist/features/matching/run-matching.sql.js';
import { peakMemoryBytes } from './meter.ts';
import { toCount } from './numbers.ts';
import { measurePages, type Page } from './pages.ts';
import { logger, type Server, withServer } from './server.ts';

const { values } = parseArgs({ options: { sizes: { type: 'string', default: '100000,1000000' } } });
const LIMIT_TITLES = 100_000;
const LIMIT_SECONDS = 60;
const LIMIT_MB = 300;
const ROUNDS = 20;
const PAGES: readonly Page[] = [
  ['Breaks', '/breaks', 200],
  ['… of a kind', '/breaks?kind=value_differs', 200],
  ['Proposals', '/proposals', 200],
];

const VALUE = 'number / 3000 * 13 + 10 + number % 97 / 100.0';
const DUE_DATE = `DATE '2026-07-01' + (number + number / 3000) % 60`;
const FATE = '(hashint4(number) & 2147483647) % 100';
const IS_SUM = 'fate IN (94, 95)';
const IS_SOLVABLE = `(fate < 92 OR ${IS_SUM})`;

const INSERT_TITLES = `
  INSERT INTO conciliation.title
    (order_uid, occurrence, accepted_date, anticipated_due_date, provider_external_id, original_value,
     identity_hash, content_hash, raw_hash, first_pull_id, last_change_pull_id)
  SELECT 't' || number, 1, DATE '2026-01-01' + number / 50000, ${DUE_DATE}, 'F' || number % 3000, ${VALUE},
         md5('i' || number)::uuid, md5('c' || number)::uuid, md5('r' || number)::uuid, 1, 1
  FROM generate_series(0, $1::int - 1) AS number`;

const INSERT_PAYABLES = `
  INSERT INTO conciliation.erp_payable
    (erp_key, supplier_external_id, document, order_uid, due_date, open_value, import_id)
  SELECT 'k' || number || '-' || part, 'F' || number % 3000, 'NF-' || number,
         CASE WHEN fate < 30 OR ${IS_SUM} THEN 't' || number END,
         ${DUE_DATE}
           + CASE WHEN fate < 30 OR fate BETWEEN 70 AND 91 THEN fate % 11 - 5 WHEN fate > 95 THEN 1 ELSE 0 END,
         CASE WHEN ${IS_SUM} AND part = 1 THEN 4.01
              ELSE ${VALUE} + CASE WHEN fate IN (92, 93) THEN 1.01 WHEN ${IS_SUM} THEN -4.01 ELSE 0 END END,
         $2
  FROM generate_series(0, $1::int - 1) AS number
  CROSS JOIN LATERAL (SELECT ${FATE} AS fate) AS drawn
  CROSS JOIN LATERAL generate_series(1, CASE WHEN ${IS_SUM} THEN 2 ELSE 1 END) AS part`;

const COUNT_MATCHES = `
  SELECT count(DISTINCT title_id)::int AS matches,
         count(DISTINCT title_id) FILTER (WHERE 't' || number <> order_uid)::int AS wrong,
         count(DISTINCT title_id) FILTER (WHERE ${IS_SOLVABLE})::int AS true_ones,
         (SELECT count(*)::int FROM generate_series(0, $1::int - 1) AS number
          CROSS JOIN LATERAL (SELECT ${FATE} AS fate) AS drawn WHERE ${IS_SOLVABLE}) AS solvable
  FROM conciliation.title_match JOIN conciliation.title ON title.id = title_id
  CROSS JOIN LATERAL (SELECT split_part(substr(erp_key, 2), '-', 1)::int AS number) AS named
  CROSS JOIN LATERAL (SELECT ${FATE} AS fate) AS drawn
  WHERE ended_at IS NULL`;

const HEAD = [
  ...['titles and payables', 'run s', 'second run s', 'peak MB'],
  ...['matches', 'wrong', 'decoys', 'of the true ones'],
];

const write = (cells: readonly (string | number)[]) =>
  process.stdout.write(`| ${cells.join(' | ')} |\n`);

await withServer(async (server) => {
  write(HEAD);
  write(HEAD.map(() => '---:'));
  for (const size of values.sizes.split(',').map(toCount)) {
    if (!(await measure(server, size))) process.exitCode = 1;
  }
});

async function measure(server: Server, size: number): Promise<boolean> {
  const databaseUrl = await server.createDatabase(`bench_matching_${size}`);
  const database = openDatabase({
    databaseUrl,
    applicationName: 'bench',
    statementTimeoutMs: 900_000,
    logger,
  });
  try {
    await fill(database, size);
    const first = await matchInTime(database);
    const second = await matchInTime(database);
    const { rows } = await database.pool.query(COUNT_MATCHES, [size]);
    const [{ matches, wrong, true_ones: trueOnes, solvable }] = rows;
    const peakMb = peakMemoryBytes() / 1e6;
    const share = trueOnes / solvable;
    write([
      size,
      ...[first, second].map(({ seconds }) => seconds.toFixed(1)),
      peakMb.toFixed(0),
      matches,
      wrong,
      matches - trueOnes - wrong,
      `${(100 * share).toFixed(2)} %`,
    ]);
    if (size <= LIMIT_TITLES) await measurePages(databaseUrl, PAGES, ROUNDS);
    const isFast = size > LIMIT_TITLES || (first.seconds <= LIMIT_SECONDS && peakMb <= LIMIT_MB);
    const isStable = second.result.matched === 0 && second.result.reopened === 0;
    return wrong === 0 && share >= 0.98 && isStable && isFast;
  } finally {
    await database.close();
  }
}

async function matchInTime(database: Database) {
  const startedMs = performance.now();
  const result = await runMatching(database, { by: 'bench' });
  return { result, seconds: (performance.now() - startedMs) / 1000 };
}

async function fill({ pool }: Database, size: number): Promise<void> {
  const { rows } = await pool.query(
    `INSERT INTO conciliation.erp_payable_import (kind, imported_by) VALUES ('delta', 'bench') RETURNING id`,
  );
  await pool.query(INSERT_TITLES, [size]);
  await pool.query(INSERT_PAYABLES, [size, rows[0].id]);
  await pool.query('ANALYZE');
}
