import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { ConfigError } from '../../../src/base/runtime/errors.ts';
import { openQueues } from '../../../src/core/work/job-queue.ts';
import { startJobWorker } from '../../../src/core/work/job-worker.ts';
import { queryOnce } from '../../support/client.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { logger } from '../../support/logger.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

const role = `queue_test_${randomBytes(4).toString('hex')}`;
let database: TestDatabase;

const query = (statement: string, url = database.url) => queryOnce(url, statement);

beforeAll(async () => {
  database = await createTestDatabase();
  await query(`CREATE ROLE ${role} LOGIN PASSWORD 'test'`, inject('serverUrl'));
});
afterAll(async () => {
  await database.close();
  await query(`DROP ROLE ${role}`, inject('serverUrl'));
});

const open = (databaseUrl: string) => openQueues({ redisUrl: null, databaseUrl, logger });

function asRole(): string {
  const url = new URL(database.url);
  url.username = role;
  url.password = 'test';
  return url.href;
}

test('a user who may not create the schema is refused, unless the schema exists', async () => {
  const error = await open(asRole()).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ConfigError);
  expect((error as ConfigError).problems).toEqual([
    'DATABASE_URL: its user may not create or use the schema conciliation_queue; run "conciliation migrate --roles" as its owner, grant it the right to, or set REDIS_URL',
  ]);

  await (await open(database.url)).close();
  await query(`
    GRANT USAGE, CREATE ON SCHEMA conciliation_queue TO ${role};
    GRANT ALL ON ALL TABLES IN SCHEMA conciliation_queue TO ${role};
    GRANT ALL ON ALL SEQUENCES IN SCHEMA conciliation_queue TO ${role}`);
  const queue = await open(asRole());
  await queue.pull.enqueue(7n);
  expect(await queue.pull.jobsOf([7n])).toEqual(new Set([7n]));
  await queue.close();
});

test('the three queues and a worker hold eleven connections at the most', async () => {
  const queues = await open(database.url);
  const queue = queues.pull;
  let handled = 0;
  const worker = await startJobWorker({
    queue,
    concurrency: 16,
    logger,
    handle: async () => {
      await sleep(5);
      handled += 1;
    },
  });
  for (let id = 100n; id < 200n; id += 1n) await queue.enqueue(id);
  await vi.waitFor(() => expect(handled).toBeGreaterThanOrEqual(100), { timeout: PATIENCE_MS });
  const [row] = await query(`
    SELECT count(*)::int AS connections FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()`);
  expect(row?.['connections']).toBeLessThanOrEqual(11);
  await worker.close(1_000);
  await queues.close();
});
