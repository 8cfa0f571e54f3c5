import { join } from 'node:path';
import type { CivilDate } from '../../src/base/values/business-day.ts';
import type { SeededRandom } from '../../src/demo/synthetic-titles.ts';
import { ANY_DAY_ENVIRONMENT } from '../support/check-rules.ts';
import { startRedisServer } from '../support/redis.ts';
import { startSandbox } from '../support/sandbox/sandbox.ts';
import { FaultyPostgres } from './faulty-postgres.ts';
import type { RunCase } from './inject-fault.ts';
import { DATABASES, type DatabaseTemplate, openRunFolder } from './run-folder.ts';
import { startTcpProxy } from './tcp-proxy.ts';

/** Nothing that the sandbox makes up lies after this, so every title is one that the run has made. */
const SANDBOX_NOW = new Date('2020-01-01T12:00:00Z');

/** Times that let a service do in seconds what takes minutes, and that a busy machine can keep. */
export const OVERRIDES = {
  tickMs: 1_000,
  gate: { pollIntervalMs: 300 },
  everyMs: { alerts: 2_000 },
  planner: { grace: { runningMs: 4_000, requestedQueuedMs: 0, requestedRunningMs: 4_000 } },
  worker: { lockMs: 2_000, stagingRetryMs: 300 },
} as const;

/** Real servers around one run of the service, each behind a proxy. */
export type FaultWorld = Awaited<ReturnType<typeof openFaultWorld>>;

export async function openFaultWorld(
  template: DatabaseTemplate,
  { seed, point, fault, queue }: Pick<RunCase, 'seed' | 'point' | 'fault' | 'queue'>,
  random: SeededRandom,
  settings: { readonly startDate: CivilDate; readonly environment?: Record<string, string> },
) {
  const name = `${seed}-${point}-${fault}-${queue}-${process.hrtime.bigint()}`;
  const folder = await openRunFolder(template, name, fault === 'disk');
  const [postgres, redis, sandbox] = await Promise.all([
    FaultyPostgres.start(folder.cluster),
    queue === 'redis' ? startRedisServer() : null,
    startSandbox({ now: () => SANDBOX_NOW }),
  ]);
  // In small pieces and so slowly that a process which is halted in mid-body has not got all of it.
  sandbox.faults.add({
    kind: 'drip',
    bytes: 250 + random(750),
    everyMs: 4 + random(10),
    times: 'forever',
  });
  const platformPort = Number(new URL(sandbox.baseUrl).port);
  const links = {
    database: await startTcpProxy(postgres.port),
    queue: await startTcpProxy(redis?.port ?? postgres.port),
    platform: await startTcpProxy(platformPort),
  };
  const database = point === 'migration' ? DATABASES.empty : DATABASES.migrated;
  return {
    postgres,
    database,
    /** Past the proxy, for the observer. */
    databaseUrl: postgres.url(database),
    redis,
    sandbox,
    links,
    folder,
    environment: {
      DATABASE_URL: postgres.url(database, links.database.port),
      PLATFORM_BASE_URL: `http://127.0.0.1:${links.platform.port}`,
      PLATFORM_TOKEN: sandbox.issueToken(),
      ...(redis !== null && { REDIS_URL: `redis://127.0.0.1:${links.queue.port}` }),
      CONSOLE_PORT: '0',
      TIMEZONE: 'UTC',
      START_DATE: settings.startDate,
      PULL_CRON: '0 0 * * *',
      LOOKBACK_DAYS: '10',
      PULL_BACKOFF_SECONDS: '1',
      PLATFORM_TIMEOUT_SECONDS: '5',
      WITHDRAWAL_LIMIT_PERCENT: '100',
      ...ANY_DAY_ENVIRONMENT,
      LOG_LEVEL: 'debug',
      // On a Node with a compile cache, a process reads the compiled code of the previous process.
      NODE_COMPILE_CACHE: join(template.folder, 'compiled'),
      ...settings.environment,
    },
    /** @param evidence a folder that the files are moved to; null: they go */
    async close(evidence: string | null) {
      await Promise.all([...Object.values(links), sandbox].map((part) => part.close()));
      await redis?.stop();
      await postgres.stop();
      if (evidence === null) await folder.remove();
      else await folder.keep(evidence);
    },
  };
}
