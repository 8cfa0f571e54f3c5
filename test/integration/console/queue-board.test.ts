import {
  createPostgresBackend,
  type PostgresConnectionOptions,
  type Queue,
  withBackend,
} from 'bullmq';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { createTestLog, startConsole, type TestConsole } from './console-world.ts';
import { type DatabaseProxy, startDatabaseProxy } from './database-proxy.ts';

let testDatabase: TestDatabase;
let proxy: DatabaseProxy;
let queue: Queue;
let console: TestConsole;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  proxy = await startDatabaseProxy(testDatabase.url);
  const connection: PostgresConnectionOptions = { connectionString: proxy.url, migrate: true };
  const classes = withBackend(createPostgresBackend);
  // Bull Board's types know the Redis backend only.
  queue = new classes.Queue('pulls', { connection }) as unknown as Queue;
  queue.on('error', () => {});
  await queue.waitUntilReady();
  await queue.add('pull', { pullId: '12' }, { jobId: 'pull-12', delay: 3_600_000 });
  console = await startConsole({ queues: [queue] });
});
afterAll(async () => {
  await console.close();
  await queue.close();
  await proxy.close();
  await testDatabase.drop();
});

test('on loopback the queue is shown, with its files and its jobs', async () => {
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

test('nothing can be changed through it', async () => {
  const changes = [
    ['PUT', '/queue/api/queues/pulls/pull-12/promote'],
    ['PUT', '/queue/api/queues/pulls/pull-12/clean'],
    ['PUT', '/queue/api/queues/pulls/pause'],
    ['PUT', '/queue/api/queues/pause'],
    ['POST', '/queue/api/queues/pulls/add'],
    ['DELETE', '/queue/api/queues/pulls'],
  ] as const;
  for (const [method, path] of changes) {
    expect((await console.send(method, path)).status, path).toBeGreaterThanOrEqual(404);
  }
  expect(await queue.isPaused()).toBe(false);
  expect(await queue.getJobCounts('delayed', 'waiting')).toMatchObject({ delayed: 1, waiting: 0 });
});

test('a page that had its own name resolve to loopback is kept out', async () => {
  const answer = await console.get('/queue/api/queues', { host: 'attacker.example' });
  expect([answer.status, answer.json()]).toEqual([
    403,
    { code: 'FORBIDDEN', message: 'ask for localhost' },
  ]);
  expect((await console.get('/queue/api/queues', { host: 'localhost:8080' })).status).toBe(200);
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

test('on any other address it is not served, and the log says so', async () => {
  const { logger, lines } = createTestLog();
  const open = await startConsole({ host: '0.0.0.0', queues: [queue], logger });
  try {
    expect((await open.get('/queue/')).status).toBe(404);
    expect((await open.get('/queue/api/queues')).status).toBe(404);
    expect((await open.get('/healthz')).status).toBe(200);
    expect(lines().map(({ msg }) => msg)).toContain(
      '/queue is not served: CONSOLE_HOST is not a loopback address',
    );
  } finally {
    await open.close();
  }
});
