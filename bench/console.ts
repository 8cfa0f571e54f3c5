/**
 * npm run bench:console -- [--days 1000] [--titles-per-day 10000] [--large-day 100000] [--rounds 40]: the time of the
 * console's pages over ten million titles.
 *
 * Pulls the titles into an embedded PostgreSQL (minutes, about 10 GB), serves the console from a process of its own and
 * asks it over HTTP, one request after another. Exits with 1 where a median is over its limit.
 */
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { request } from 'undici';
import { addDays, dateIn, datesBetween } from '#dist/base/values/business-day.js';
import { startChild } from './child.ts';
import type { ConsoleProgram } from './console-process.ts';
import { pullLedger } from './ledger.ts';
import { itemAt, median, toCount } from './numbers.ts';
import { withServer } from './server.ts';

const PAGE_LIMIT_MS = 100;
const LIST_LIMIT_MS = 200;
const WARM_UP_ROUNDS = 3;
const PAGE_SIZE = 50;
const DATABASE = 'bench_console';

type Page = [name: string, path: string, limitMs: number];

const { values } = parseArgs({
  options: {
    days: { type: 'string', default: '1000' },
    'titles-per-day': { type: 'string', default: '10000' },
    'large-day': { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '40' },
  },
});
const days = toCount(values.days);
const titlesPerDay = toCount(values['titles-per-day']);
const largeDay = toCount(values['large-day']);
const rounds = toCount(values.rounds);

const tell = (line: string) => process.stdout.write(`${line}\n`);

await withServer(async (server) => {
  const today = dateIn('America/Sao_Paulo', new Date());
  const dates = datesBetween(addDays(today, -days), addDays(today, -1));
  const { databaseUrl } = await pullLedger(server, DATABASE, dates, titlesPerDay, largeDay);
  const pages = await server.inDatabase(DATABASE, planPages);
  const web = startChild<ConsoleProgram>('console-process');
  const { url, cookie } = await web.call('open', { databaseUrl });
  tell(`${'page'.padEnd(36)} median ms   p95 ms   limit`);
  for (const [name, path, limitMs] of pages) {
    const times: number[] = [];
    for (let round = -WARM_UP_ROUNDS; round < rounds; round += 1) {
      const startedMs = performance.now();
      const answer = await request(url + path, { headers: { cookie, accept: 'text/html' } });
      await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}`);
      if (round >= 0) times.push(performance.now() - startedMs);
    }
    times.sort((a, b) => a - b);
    const p95 = itemAt(times, Math.floor(times.length * 0.95));
    const isOver = median(times) > limitMs;
    if (isOver) process.exitCode = 1;
    const cells = [median(times).toFixed(1).padStart(9), p95.toFixed(1).padStart(8)];
    const end = `${String(limitMs).padStart(7)}${isOver ? '  OVER' : ''}`;
    tell(`${name.padEnd(36)} ${cells.join(' ')} ${end}`);
  }
  await web.stop();
});

async function planPages(client: pg.Client): Promise<Page[]> {
  const { rows: dates } = await client.query<Record<'large' | 'usual' | 'from', string>>(
    `SELECT max(date)::text AS large, (max(date) - 10)::text AS usual, (max(date) - 40)::text AS from
     FROM conciliation.day`,
  );
  const { large, usual, from } = itemAt(dates, 0);
  const { rows: titles } = await client.query<Record<'provider' | 'order' | 'agent', string>>(
    `SELECT provider_external_id AS provider, order_uid AS order, financial_agent_name AS agent
     FROM conciliation.title WHERE accepted_date = $1 LIMIT 1`,
    [usual],
  );
  const { provider, order, agent } = itemAt(titles, 0);
  /** Where page 1,000 begins, or the last page that the dates have. */
  const cursorAt = async (first: string, last: string, key: string, count: number) => {
    const { rows } = await client.query<{ key: string; id: string }>(
      `SELECT (${key})::text AS key, id::text AS id FROM conciliation.title
       WHERE accepted_date BETWEEN $1 AND $2 ORDER BY ${key}, id OFFSET $3 LIMIT 1`,
      [first, last, Math.min(999 * PAGE_SIZE, count) - 1],
    );
    const before = itemAt(rows, 0);
    return Buffer.from(JSON.stringify(['after', before.key, before.id])).toString('base64url');
  };
  const byOrder = await cursorAt(large, large, 'order_uid COLLATE "C"', largeDay - 60);
  const byValue = await cursorAt(large, large, 'original_value', largeDay - 60);
  const byDate = await cursorAt(from, usual, 'accepted_date', titlesPerDay * 30);
  const ofAgent = new URLSearchParams({ agent });
  const many = `/titles?from=${from}&to=${usual}`;
  const all = `/titles?from=2020-01-01&to=${large}`;
  return [
    ['Days', '/', PAGE_LIMIT_MS],
    ['Days, two years back', `/?to=${Number(usual.slice(0, 4)) - 2}-06`, PAGE_LIMIT_MS],
    ['Day', `/days/${usual}`, PAGE_LIMIT_MS],
    ['Titles of a day', `/days/${usual}/titles`, LIST_LIMIT_MS],
    ['… by value', `/days/${usual}/titles?sort=value&direction=descending`, LIST_LIMIT_MS],
    ['… of an agent', `/days/${usual}/titles?${ofAgent}`, LIST_LIMIT_MS],
    [`Titles of a day of ${largeDay}`, `/days/${large}/titles`, LIST_LIMIT_MS],
    ['… page 1,000', `/days/${large}/titles?at=${byOrder}`, LIST_LIMIT_MS],
    ['… by value', `/days/${large}/titles?sort=value`, LIST_LIMIT_MS],
    ['… by value, page 1,000', `/days/${large}/titles?sort=value&at=${byValue}`, LIST_LIMIT_MS],
    ['… filtered', `/days/${large}/titles?status=current&minValue=50000`, LIST_LIMIT_MS],
    ['Titles of 31 days', many, LIST_LIMIT_MS],
    ['… page 1,000', `${many}&at=${byDate}`, LIST_LIMIT_MS],
    ['… filtered', `${many}&${ofAgent}`, LIST_LIMIT_MS],
    ['Titles of a provider, all dates', `${all}&provider=${provider}`, LIST_LIMIT_MS],
    ['Titles of an order, all dates', `${all}&order=${order}`, LIST_LIMIT_MS],
  ];
}
