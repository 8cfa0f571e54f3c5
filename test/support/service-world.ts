import { vi } from 'vitest';
import type { CivilDate } from '../../src/base/values/business-day.ts';
import { startWebhook } from '../integration/alerts/webhook.ts';
import { ANY_DAY_ENVIRONMENT } from './check-rules.ts';
import { createMigratedDatabase } from './database.ts';
import { openFolder, replaceFile } from './for-tests.ts';
import { PATIENCE_MS } from './patience.ts';
import { daysFrom, TODAY } from './pull-world.ts';
import { startSandbox } from './sandbox/sandbox.ts';
import { type ServiceProcess, type ServiceStart, spawnService } from './service-process.ts';

/** Synthetic titles that never change, few enough for many days. */
export const SANDBOX = { seed: 'service', titlesPerDay: 20, restate: false } as const;

/** The due work at any time of day: the dates from `startDate` to yesterday, each once, and no sweep. */
export function dueSince(startDate: CivilDate): Record<string, string> {
  const [, month, day] = daysFrom(-1, startDate).split('-').map(Number);
  return {
    START_DATE: startDate,
    PULL_CRON: '0 0 * * *',
    LOOKBACK_DAYS: '0',
    // Last on the day before the ledger begins, so that there is nothing for it to sweep.
    SWEEP_CRON: `0 3 ${day} ${month} *`,
  };
}

/** Nothing is due: the ledger begins yesterday, which was not over at the last slot. */
export function nothingDue(): Record<string, string> {
  const yesterday = daysFrom(-1, TODAY);
  const [, month, day] = yesterday.split('-').map(Number);
  return { ...dueSince(yesterday), PULL_CRON: `0 0 ${day} ${month} *` };
}

/** Times that let a test see in seconds what takes a service minutes. */
export const FAST = {
  tickMs: 1_000,
  worker: { stagingRetryMs: 1_000 },
  gate: { pollIntervalMs: 300 },
  everyMs: { alerts: 400, bookings: 400 },
  reports: { intervalMs: 300 },
} satisfies ServiceStart['overrides'];

/** A sandbox, a migrated database, which has the queue, and as many processes of the service as a test starts. */
type ServiceWorld = Awaited<ReturnType<typeof openServiceWorld>>;

interface ServiceWorldOptions {
  /** The current time of the sandbox and of every process; the real time by default. */
  readonly now?: Date;
  readonly environment?: Readonly<Record<string, string>>;
}

/** With a receiver of the alerts. */
export async function openAlertingWorld(options: ServiceWorldOptions) {
  const webhook = await startWebhook();
  const environment = { ALERT_WEBHOOK_URL: webhook.url.href, ...options.environment };
  const world = await openServiceWorld({ ...options, environment });
  const close = async () => {
    await world.close();
    await webhook.close();
  };
  return { ...world, webhook, close };
}

export async function openServiceWorld(options: ServiceWorldOptions) {
  const { url, database, close } = await createMigratedDatabase();
  const folder = await openFolder();
  const write = (name: string, text: string) => replaceFile(folder.path, name, text);
  const { now } = options;
  const clockFile = now && (await write('clock', now.toISOString()));
  const sandbox = await startSandbox({ ...SANDBOX, now: () => now ?? new Date() });
  const environment = {
    DATABASE_URL: url,
    PLATFORM_BASE_URL: sandbox.baseUrl,
    PULL_BACKOFF_SECONDS: '1',
    CONSOLE_PORT: '0',
    ...ANY_DAY_ENVIRONMENT,
    ...options.environment,
  };

  const processes: ServiceProcess[] = [];
  /** Does not wait for the start, which may be expected to fail. */
  const spawn = (start: Partial<ServiceStart> = {}) => {
    const withToken = 'PLATFORM_TOKEN_FILE' in { ...environment, ...start.environment };
    const process = spawnService({
      overrides: FAST,
      ...(clockFile !== undefined && { clockFile }),
      ...start,
      environment: {
        ...environment,
        ...(!withToken && { PLATFORM_TOKEN: sandbox.issueToken() }),
        ...start.environment,
      },
    });
    processes.push(process);
    return process;
  };
  return {
    sandbox,
    database,
    prisma: database.prisma,
    databaseUrl: url,
    spawn,
    async start(start?: Partial<ServiceStart>) {
      const process = spawn(start);
      await process.started;
      return process;
    },
    writeFile: write,
    async close() {
      await Promise.all(processes.map((process) => process.kill()));
      await sandbox.close();
      await close();
      await folder.close();
    },
  };
}

export function readPulls(world: ServiceWorld) {
  return world.prisma.$queryRaw<{ date: string; state: string; attempts: number }[]>`
    SELECT date::text AS date, state, attempts FROM conciliation.pull ORDER BY pull.date`;
}

export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: PATIENCE_MS, interval: 50 });
}
