/**
 * npm run bench:console -- [--days 1000] [--titles-per-day 10000] [--large-day 100000] [--rounds 40] [--verify]: the
 * time of the console's pages over ten million titles, and of `verify`.
 *
 * Pulls the titles into an embedded PostgreSQL (minutes, about 10 GB). Exits with 1 where a median is over its limit.
 * `bench:matching` has the pages about payables.
 */
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { openDatabase } from '#dist/base/database/database.js';
import { addDays, type CivilDate, dateIn, datesBetween } from '#dist/base/values/business-day.js';
import { readDates, verifyDate } from '#dist/features/verify/verify.sql.js';
import { runChild } from './child.ts';
import type { EngineProgram } from './engine-process.ts';
import { itemAt, toCount } from './numbers.ts';
import { measurePages, type Page } from './pages.ts';
import { startPlatform } from './platform.ts';
import { logger, type Server, withServer } from './server.ts';

const PAGE_LIMIT_MS = 100;
const LIST_LIMIT_MS = 200;
const DATABASE = 'bench_console';

const { values } = parseArgs({
  options: {
    days: { type: 'string', default: '1000' },
    'titles-per-day': { type: 'string', default: '10000' },
    'large-day': { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '40' },
    verify: { type: 'boolean', default: false },
  },
});
const days = toCount(values.days);
const titlesPerDay = toCount(values['titles-per-day']);
const largeDay = toCount(values['large-day']);
const rounds = toCount(values.rounds);

await withServer(async (server) => {
  const today = dateIn('America/Sao_Paulo', new Date());
  const dates = datesBetween(addDays(today, -days), addDays(today, -1));
  const databaseUrl = await pullLedger(server, dates, today);
  const pages = await server.inDatabase(DATABASE, planPages);
  await measurePages(databaseUrl, pages, rounds);
  if (values.verify) await verifyAll(databaseUrl);
});

async function pullLedger(server: Server, dates: readonly CivilDate[], today: CivilDate) {
  const platform = await startPlatform();
  const lastDate = itemAt(dates, -1);
  for (const date of dates) platform.answers.set(date, date === lastDate ? largeDay : titlesPerDay);
  const databaseUrl = await server.createDatabase(DATABASE);
  const engine = { baseUrl: platform.baseUrl, databaseUrl, startDate: itemAt(dates, 0), today };
  const pull = (of: readonly CivilDate[], pullsAtOnce: number) =>
    runChild<EngineProgram>('engine-process', { ...engine, dates: of, pullsAtOnce });
  // The last date first: a day of many times the usual number of titles would be held.
  await pull([lastDate], 1);
  await pull(dates.slice(0, -1), 4);
  await platform.close();
  await server.inDatabase(DATABASE, (client) => client.query('VACUUM (ANALYZE)'));
  return databaseUrl;
}

/** Makes the daily check of every date, which has no finding. */
async function verifyAll(databaseUrl: string): Promise<void> {
  const database = openDatabase({ databaseUrl, applicationName: 'bench', logger });
  const startedMs = performance.now();
  let titles = 0;
  for (const date of await readDates(database)) {
    const verified = await verifyDate(database, date, new AbortController().signal);
    if (verified.alterations.length > 0) throw new Error(`${date} differs`);
    titles += verified.titles;
  }
  const seconds = (performance.now() - startedMs) / 1000;
  process.stdout.write(`verify of ${titles} titles: ${seconds.toFixed(1)} s\n`);
  await database.close();
}

async function planPages(client: pg.Client): Promise<Page[]> {
  const { rows: dates } = await client.query<Record<'large' | 'usual' | 'from', string>>(
    `SELECT max(date)::text AS large, (max(date) - 10)::text AS usual, (max(date) - 40)::text AS from
     FROM conciliation.day`,
  );
  const { large, usual, from } = itemAt(dates, 0);
  const { rows: titles } = await client.query<Record<'provider' | 'order' | 'agent', string>>(`
    SELECT provider_external_id AS provider, order_uid AS order, financial_agent_name AS agent
    FROM conciliation.title WHERE accepted_date = '${usual}' LIMIT 1`);
  const { provider, order, agent } = itemAt(titles, 0);
  const dayOf = (date: string) => `/titles?from=${date}&to=${date}`;
  const searchFor = (search: string) => new URLSearchParams({ search });
  const many = `/titles?from=${from}&to=${usual}`;
  const all = `/titles?from=2020-01-01&to=${large}`;
  return [
    ['Days', '/', PAGE_LIMIT_MS],
    ['Days, two years back', `/?to=${Number(usual.slice(0, 4)) - 2}-06`, PAGE_LIMIT_MS],
    ['Day', `/days/${usual}`, PAGE_LIMIT_MS],
    ['Titles of a day', dayOf(usual), LIST_LIMIT_MS],
    ['… by value', `${dayOf(usual)}&sort=-value`, LIST_LIMIT_MS],
    ['… of an agent', `${dayOf(usual)}&${searchFor(agent)}`, LIST_LIMIT_MS],
    [`Titles of a day of ${largeDay}`, dayOf(large), LIST_LIMIT_MS],
    ['… page 1,000', `${dayOf(large)}&page=1000`, LIST_LIMIT_MS],
    ['… by value', `${dayOf(large)}&sort=value`, LIST_LIMIT_MS],
    ['… by value, page 1,000', `${dayOf(large)}&sort=value&page=1000`, LIST_LIMIT_MS],
    ['… filtered', `${dayOf(large)}&status=current&minValue=50000`, LIST_LIMIT_MS],
    ['Titles of 31 days', many, LIST_LIMIT_MS],
    ['… page 1,000', `${many}&page=600`, LIST_LIMIT_MS],
    ['… filtered', `${many}&${searchFor(agent)}`, LIST_LIMIT_MS],
    ['Titles of a provider, all dates', `${all}&${searchFor(provider)}`, LIST_LIMIT_MS],
    ['Schedule of a month', `/schedule?dueFrom=${usual.slice(0, 7)}-01`, LIST_LIMIT_MS],
    ['Titles of an order, all dates', `${all}&${searchFor(order)}`, LIST_LIMIT_MS],
  ];
}
