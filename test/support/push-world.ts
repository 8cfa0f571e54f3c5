import { pino } from 'pino';
import { type Database, openDatabase } from '../../src/base/database/database.ts';
import { createPlatformClient } from '../../src/core/platform/conciliation-client.ts';
import { fixedToken } from '../../src/core/platform/token.ts';
import {
  type PushParts,
  type PushReport,
  pushOnce,
} from '../../src/features/providers/push-providers.ts';
import { createMigratedDatabase } from './database.ts';
import { clearProviders } from './provider-rows.ts';
import { type Sandbox, startSandbox } from './sandbox/sandbox.ts';

/** A separate migrated database, and for each test an empty table and a new platform. */
export interface PushWorld {
  readonly database: Database;
  readonly databaseUrl: string;
  readonly sandbox: Sandbox;
  readonly parts: PushParts;
  /** Ends the platform and starts one without providers; empties the tables. */
  begin(): Promise<void>;
  push(
    parts?: Partial<PushParts>,
    signal?: AbortSignal,
    stopping?: AbortSignal,
  ): Promise<PushReport>;
  /** How many requests for providers the platform has received. */
  requests(): number;
  close(): Promise<void>;
}

export interface PushWorldOptions {
  readonly timeoutMs?: number;
  readonly log?: (line: string) => void;
}

export async function openPushWorld(options: PushWorldOptions = {}): Promise<PushWorld> {
  const { log } = options;
  const logger =
    log === undefined ? pino({ level: 'silent' }) : pino({ level: 'trace' }, { write: log });
  const testDatabase = await createMigratedDatabase();
  const database = openDatabase({
    databaseUrl: testDatabase.url,
    applicationName: 'test',
    logger,
  });
  const start = async () => {
    const sandbox = await startSandbox();
    const platform = createPlatformClient({
      baseUrl: new URL(sandbox.baseUrl),
      token: fixedToken(sandbox.issueToken()),
      concurrency: 4,
      timeoutMs: options.timeoutMs ?? 10_000,
      userAgent: 'test',
    });
    return { sandbox, platform };
  };
  let running = await start();
  const stop = async () => {
    await running.platform.close();
    await running.sandbox.close();
  };
  const world: PushWorld = {
    database,
    databaseUrl: testDatabase.url,
    get sandbox() {
      return running.sandbox;
    },
    get parts() {
      return {
        database,
        platform: running.platform,
        logger,
        retry: { attempts: 3, backoffSeconds: 1 },
        actor: 'test',
        random: () => 0,
      };
    },
    async begin() {
      await stop();
      running = await start();
      await clearProviders(database);
    },
    push: (parts = {}, signal = new AbortController().signal, stopping = signal) =>
      pushOnce({ ...world.parts, ...parts }, signal, stopping),
    requests: () => running.sandbox.requests.filter(({ path }) => path === '/api/providers').length,
    async close() {
      await stop();
      await database.close();
      await testDatabase.drop();
    },
  };
  return world;
}
