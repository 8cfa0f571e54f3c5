import { pino } from 'pino';
import {
  type PushCounts,
  type PushParts,
  pushOnce,
} from '../../src/features/providers/push-providers.ts';
import { createMigratedDatabase } from './database.ts';
import { logger as silent } from './logger.ts';
import { openPlatform } from './platform-client.ts';
import { clearProviders } from './provider-rows.ts';
import { startSandbox } from './sandbox/sandbox.ts';

/** A separate migrated database, and for each test an empty table and a new platform. */
export type PushWorld = Awaited<ReturnType<typeof openPushWorld>>;

export interface PushWorldOptions {
  readonly timeoutMs?: number;
  readonly log?: (line: string) => void;
}

export async function openPushWorld(options: PushWorldOptions = {}) {
  const { log } = options;
  const logger = log === undefined ? silent : pino({ level: 'trace' }, { write: log });
  const { url, database, drop } = await createMigratedDatabase();
  const start = async () => {
    const sandbox = await startSandbox();
    const { timeoutMs = 10_000 } = options;
    const platform = openPlatform(sandbox.baseUrl, sandbox.issueToken(), { timeoutMs });
    return { sandbox, platform };
  };
  let running = await start();
  const stop = async () => {
    await running.platform.close();
    await running.sandbox.close();
  };
  const partsNow = (): PushParts => ({
    database,
    platform: running.platform,
    logger,
    retry: { attempts: 3, backoffSeconds: 1 },
    random: () => 0,
  });
  const push = (
    parts: Partial<PushParts> = {},
    signal = new AbortController().signal,
    stopping = signal,
  ) => pushOnce({ ...partsNow(), ...parts }, signal, stopping);
  return {
    database,
    databaseUrl: url,
    get sandbox() {
      return running.sandbox;
    },
    get parts() {
      return partsNow();
    },
    /** Ends the platform and starts one without providers; empties the tables. */
    async begin() {
      await stop();
      running = await start();
      await clearProviders(database);
    },
    push,
    /** As if a minute had passed since the last sign of the process with the newest request. */
    forgetRequest: () => database.prisma.$executeRaw`
      UPDATE conciliation.provider_batch SET next_attempt_at = clock_timestamp()
      WHERE finished_at IS NULL`,
    /** Pushes until a batch does nothing more, as the service does, and returns the sums. */
    async pushAll(): Promise<PushCounts> {
      const total = { requests: 0, synced: 0, rejected: 0, invalid: 0, unchanged: 0, relieved: 0 };
      const counts = Object.keys(total) as (keyof PushCounts)[];
      for (;;) {
        const report = await push();
        if (report.kind !== 'done') throw new Error(`the push ended with ${report.kind}`);
        if (counts.every((count) => report[count] === 0)) return total;
        for (const count of counts) total[count] += report[count];
      }
    },
    /** How many requests for providers the platform has received. */
    requests: () => running.sandbox.requests.filter(({ path }) => path === '/api/providers').length,
    async close() {
      await stop();
      await drop();
    },
  };
}
