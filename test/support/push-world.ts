import type { Logger } from '../../src/base/runtime/logger.ts';
import {
  type PushCounts,
  type PushParts,
  pushOnce,
} from '../../src/features/providers/push-providers.ts';
import { createMigratedDatabase } from './database.ts';
import { forFile } from './for-tests.ts';
import { logger as silent } from './logger.ts';
import { openPlatform } from './platform-client.ts';
import { clearProviders } from './provider-rows.ts';
import { startSandbox } from './sandbox/sandbox.ts';

interface PushWorldOptions {
  readonly timeoutMs?: number;
  readonly logger?: Logger;
}

export type PushWorld = ReturnType<typeof pushWorldOfFile>;

/** A separate migrated database and a platform, of all tests of a file. */
export const pushWorldOfFile = (options?: PushWorldOptions) =>
  forFile(() => openPushWorld(options));

async function openPushWorld({ timeoutMs = 10_000, logger = silent }: PushWorldOptions = {}) {
  const { url, database, close } = await createMigratedDatabase();
  const sandbox = await startSandbox();
  const platform = openPlatform(sandbox.baseUrl, sandbox.issueToken(), { timeoutMs });
  const parts: PushParts = {
    ...{ database, platform, logger },
    retry: { attempts: 3, backoffSeconds: 1 },
    random: () => 0,
  };
  const push = (
    changed: Partial<PushParts> = {},
    signal = new AbortController().signal,
    stopping = signal,
  ) => pushOnce({ ...parts, ...changed }, signal, stopping);
  return {
    ...{ database, prisma: database.prisma, databaseUrl: url, sandbox, parts, push },
    /** Empties the tables and the platform. */
    async begin() {
      sandbox.reset();
      await clearProviders(database);
    },
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
    requests: () => sandbox.requests.filter(({ path }) => path === '/api/providers').length,
    async close() {
      await platform.close();
      await sandbox.close();
      await close();
    },
  };
}
