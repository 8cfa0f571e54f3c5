import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { findFreePort } from '../../../src/base/embedded/embedded-postgres.ts';
import { ConfigError, StagingUnavailableError } from '../../../src/base/runtime/errors.ts';
import { type JobQueue, openQueues } from '../../../src/core/work/job-queue.ts';
import { startJobWorker } from '../../../src/core/work/job-worker.ts';
import { checkRedis } from '../../../src/core/work/redis-backend.ts';
import { recordingLogger } from '../../support/logger.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { findRedisServer, type RedisServer, startRedisServer } from '../../support/redis.ts';

const { log, logger } = recordingLogger('debug');
const databaseUrl = 'postgresql://127.0.0.1:1/none';

afterEach(() => {
  log.length = 0;
});

async function redisWith(...settings: string[]): Promise<RedisServer> {
  const server = await startRedisServer(settings);
  onTestFinished(() => server.stop());
  return server;
}

async function open(redisUrl: string): Promise<JobQueue> {
  const queues = await openQueues({ redisUrl, databaseUrl, logger });
  onTestFinished(() => queues.close());
  return queues.pull;
}

/** Opens the queue and lets a worker handle one pull. */
async function useQueue(redisUrl: string): Promise<void> {
  const queue = await open(redisUrl);
  const handled: bigint[] = [];
  const worker = await startJobWorker({
    queue,
    concurrency: 1,
    logger,
    handle: async (pullId) => void handled.push(pullId),
  });
  await queue.enqueue(7n);
  await vi.waitFor(() => expect(handled).toEqual([7n]), { timeout: PATIENCE_MS });
  await worker.close(1_000);
}

async function refusal(redisUrl: string): Promise<string> {
  const error = await open(redisUrl).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ConfigError);
  return (error as ConfigError).problems.join('\n');
}

const withRedis = findRedisServer() === null ? describe.skip : describe;

withRedis('a Redis for the queue (skipped where no redis-server is on the PATH)', () => {
  test('that refuses the password is refused, without saying it', async () => {
    const { port } = await redisWith('--requirepass', 's3cret');
    const expected = `REDIS_URL: the server at 127.0.0.1:${port} refuses its user or password`;
    expect(await refusal(`redis://:gu3ss@127.0.0.1:${port}`)).toBe(expected);
    expect(await refusal(`redis://127.0.0.1:${port}`)).toBe(expected);
    expect(JSON.stringify(log)).not.toMatch(/s3cret|gu3ss/);
  });

  test('takes a user of an access list', async () => {
    const { port } = await redisWith(
      ...['--user', 'full', 'on', '>p@ss', '~*', '&*', '+@all'],
      ...['--user', 'asks', 'on', '>p@ss', '~bull:*', '&*', '+@all', '-config'],
    );
    await useQueue(`redis://full:p%40ss@127.0.0.1:${port}`);
    await useQueue(`redis://asks:p%40ss@127.0.0.1:${port}`);
    expect(log.filter((line) => line['level'] === 40)).toEqual([]);
  });

  test('that starts a moment later than this process is waited for', async () => {
    const server = await redisWith();
    await server.kill();
    const checked = checkRedis(server.url, 'redis:1', {}, 10_000);
    await sleep(700);
    await server.restart();
    await expect(checked).resolves.toBeUndefined();
  });
});

test('a Redis that is not there is given up after a while', async () => {
  const url = `redis://:s3cret@127.0.0.1:${await findFreePort()}`;
  const error = await checkRedis(url, 'redis:1', {}, 600).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(StagingUnavailableError);
  expect((error as Error).message).toBe(
    "the queue's Redis at redis:1 cannot be reached (ECONNREFUSED)",
  );
});
