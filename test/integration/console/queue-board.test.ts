import {
  createPostgresBackend,
  type PostgresConnectionOptions,
  type Queue,
  withBackend,
} from 'bullmq';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/database/database.ts';
import {
  type ConsoleClient,
  type ConsoleWorld,
  openConsole,
} from '../../support/console-client.ts';
import { createMigratedDatabase, type TestDatabase } from '../../support/database.ts';
import { type DatabaseProxy, startDatabaseProxy } from './database-proxy.ts';

let testDatabase: TestDatabase;
let proxy: DatabaseProxy;
let queue: Queue;
let world: ConsoleWorld;
let console: ConsoleClient;
let database: Database;
beforeAll(async () => {
  testDatabase = await createMigratedDatabase();
  proxy = await startDatabaseProxy(testDatabase.url);
  const connection: PostgresConnectionOptions = { connectionString: proxy.url, migrate: true };
  const classes = withBackend(createPostgresBackend);
  // Bull Board's types know the Redis backend only.
  queue = new classes.Queue('pulls', { connection }) as unknown as Queue;
  queue.on('error', () => {});
  await queue.waitUntilReady();
  await queue.add('pull', { pullId: '12' }, { jobId: 'pull-12', delay: 3_600_000 });
  const logger = pino({ level: 'silent' });
  database = openDatabase({ databaseUrl: testDatabase.url, applicationName: 'test', logger });
  world = await openConsole(database, { queues: [queue] });
  console = await world.as('operator');
});
afterAll(async () => {
  await world.close();
  await database.close();
  await queue.close();
  await proxy.close();
  await testDatabase.drop();
});

test('an operator is shown the queue, with its files and its jobs', async () => {
  const page = await console.get('/queue/');
  expect(page.status).toBe(200);
  expect(page.headers['content-type']).toContain('text/html');
  const script = /src="(static\/js\/main[^"]+)"/.exec(page.text)?.[1];
  expect((await console.get(`/queue/${script}`)).headers['content-type']).toContain('javascript');

  const listed = await console.get('/queue/api/queues?activeQueue=pulls&status=delayed');
  expect(listed.status).toBe(200);
  expect(listed.json()).toMatchObject({
    queues: [
      { name: 'pulls', readOnlyMode: true, counts: { delayed: 1 }, jobs: [{ id: 'pull-12' }] },
    ],
  });
});

test('its page may load nothing from elsewhere', async () => {
  const { headers } = await console.get('/queue/');
  expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
  expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
  expect(headers['x-content-type-options']).toBe('nosniff');
});

test('its page names no other host, and leads back to the console', async () => {
  const { text } = await console.get('/queue/');
  expect(text).not.toMatch(/(href|src)="(https?:)?\/\//);
  expect(text).toMatch(/<a href="\/">← Conciliation<\/a>/);
  const style = /href="(\/assets\/board[^"]+)"/.exec(text)?.[1] ?? '';
  expect((await console.get(style)).headers['content-type']).toContain('text/css');
});

test.each([
  ['en-US', 'auto', 'en', 'en-GB', 'Queue', '#f6f7f6', '#101513'],
  ['pt-BR', 'auto', 'pt-BR', 'pt-BR', 'Fila', '#f6f7f6', '#101513'],
  ['pt-BR', 'dark', 'pt-BR', 'pt-BR', 'Fila', '#101513', '#101513'],
  ['en-US', 'light', 'en', 'en-GB', 'Queue', '#f6f7f6', '#f6f7f6'],
])('its page has the language and the colours of the reader: %s, %s', async (...row) => {
  const [accepted, theme, language, lng, title, light, dark] = row;
  const reader = await world.as('operator');
  reader.cookies.set('conciliation-theme', theme);
  const { text } = await reader.get('/queue/', { 'accept-language': accepted });
  expect(text).toContain(`<html lang="${language}"`);
  expect(text).toContain(`<title>${title} · `);
  const config = /__UI_CONFIG__"[^>]*>([^<]*)</.exec(text)?.[1] ?? '';
  expect(JSON.parse(config)).toMatchObject({
    boardTitle: title,
    locale: { lng },
    theme: { light: { background: light }, dark: { background: dark } },
    hideDocsLink: true,
  });
  const texts = await reader.get(`/queue/static/locales/${lng}/messages.json`);
  expect(Object.keys(texts.json() as object).length).toBeGreaterThan(10);
});

test('the board changes nothing', async () => {
  const changes = [
    ['PUT', '/queue/api/queues/pulls/pull-12/promote'],
    ['PUT', '/queue/api/queues/pulls/pull-12/clean'],
    ['PUT', '/queue/api/queues/pulls/pause'],
    ['PUT', '/queue/api/queues/pause'],
    ['POST', '/queue/api/queues/pulls/add'],
    ['DELETE', '/queue/api/queues/pulls'],
  ] as const;
  for (const [method, path] of changes) {
    expect((await console.post(path, {}, { method })).status, path).toBeGreaterThanOrEqual(403);
  }
  expect(await queue.isPaused()).toBe(false);
  expect(await queue.getJobCounts('delayed', 'waiting')).toMatchObject({ delayed: 1, waiting: 0 });
});

test('roles without the right to operate see neither the board nor its data', async () => {
  const viewer = await world.as('viewer');
  for (const path of ['/queue/', '/queue/api/queues', '/queue/api/redis/stats']) {
    expect((await viewer.get(path)).status, path).toBe(403);
    expect((await world.visitor().get(path)).status, path).toBe(303);
  }
});

test('a queue that cannot be read answers nothing of why', async () => {
  proxy.set('refuse');
  try {
    const answer = await console.get('/queue/api/queues');
    expect([answer.status, answer.json()]).toEqual([
      500,
      { code: 'QUEUE_UNAVAILABLE', message: 'the queue cannot be shown' },
    ]);
  } finally {
    proxy.set('pass');
  }
});
