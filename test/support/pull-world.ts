import { Client } from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { FEATURES } from '../../src/app/features.ts';
import { migrate } from '../../src/base/database/migrate.ts';
import {
  addDays,
  type CivilDate,
  dateIn,
  toCivilDate,
} from '../../src/base/values/business-day.ts';
import { createPull, ensureCheckpoint } from '../../src/core/ledger/pull-requests.sql.ts';
import { type PullParts, runPull } from '../../src/core/work/run-pull.ts';
import { setConsumer } from '../../src/features/bookings/consumers.ts';
import { createMigratedDatabase } from './database.ts';
import { createRoleUsers, type RoleUsers } from './database-roles.ts';
import { forFile, forTest } from './for-tests.ts';
import { logger } from './logger.ts';
import { openPlatform } from './platform-client.ts';
import { startSandbox } from './sandbox/sandbox.ts';

const TIME_ZONE = 'America/Sao_Paulo';

/** A date long over, far from any daylight saving change. */
export const DAY = toCivilDate('2026-03-02');
export const TODAY = dateIn(TIME_ZONE, new Date());
export const daysFrom = (days: number, from: CivilDate = DAY) => addDays(from, days);

/** Returns a later date at each call. */
export function freshDays(last: CivilDate = DAY): () => CivilDate {
  let date = last;
  return () => {
    date = addDays(date, 1);
    return date;
  };
}

/** What a stalled answer waits for, and what lets it go on. */
export function pause(): [until: Promise<void>, release: () => void] {
  let release = () => {};
  const until = new Promise<void>((resolve) => {
    release = resolve;
  });
  return [until, () => release()];
}

/** A sandbox, a separate migrated database, and an engine between them. All parts are real. */
export type PullWorld = Awaited<ReturnType<typeof openPullWorld>>;

export interface PullWorldOptions {
  readonly startDate?: CivilDate;
  /** The clock of the platform and of the engine. */
  readonly now?: () => Date;
}

async function openPullWorld(options: PullWorldOptions = {}) {
  const clock = options.now === undefined ? {} : { now: options.now };
  const { url, database, close } = await createMigratedDatabase();
  const sandbox = await startSandbox(clock);
  const platform = openPlatform(sandbox.baseUrl, sandbox.issueToken());
  await ensureCheckpoint(database.prisma, options.startDate ?? DAY);
  const parts: PullParts = {
    database,
    features: FEATURES,
    platform,
    logger,
    timeZone: TIME_ZONE,
    withdrawalLimitPercent: 20,
    // Most tests have few titles and no usual days. test/integration/pull/plausibility.test.ts has the limits.
    checksPlausibility: false,
    retry: { attempts: 3, backoffSeconds: 1 },
    random: () => 0,
    ...clock,
  };
  /** A pull that was not attempted yet. */
  const newPull = (date: CivilDate) =>
    createPull(database, { origin: 'manual', date, requestedBy: 'test' });
  /** One attempt at a pull. */
  const run = (pullId: bigint, overrides: Partial<PullParts> = {}) =>
    runPull({ ...parts, ...overrides }, pullId, new AbortController().signal);
  /** One attempt at a date, with any outcome. */
  const attempt = async (date: CivilDate, overrides?: Partial<PullParts>) => {
    const pullId = await newPull(date);
    return { ...(await run(pullId, overrides)), pullId };
  };
  /** One attempt that has to end well. */
  const pull = async (date: CivilDate = DAY, overrides?: Partial<PullParts>) => {
    const outcome = await attempt(date, overrides);
    if (outcome.kind !== 'done') throw outcome.error;
    return outcome.report;
  };
  return {
    ...{ sandbox, database, prisma: database.prisma, databaseUrl: url, platform, parts },
    ...{ newPull, run, attempt, pull },
    /** The platform. `work` is done when an answer has begun, and before any of it is read. */
    meanwhile: (work: () => Promise<unknown>): Pick<PullParts, 'platform'> => ({
      platform: {
        ...platform,
        async fetchTitles(window, signal) {
          const response = await platform.fetchTitles(window, signal);
          await work();
          return response;
        },
      },
    }),
    /** A pull that has to end well, with these titles as the answer of the platform from now on. */
    serve(date: CivilDate, texts: readonly string[], overrides?: Partial<PullParts>) {
      sandbox.setDayTexts(date, texts);
      return pull(date, overrides);
    },
    async close() {
      await platform.close();
      await sandbox.close();
      await close();
    },
  };
}

/** The world of the tests of a file. */
export const worldOfFile = (options?: PullWorldOptions): PullWorld =>
  forFile(() => openPullWorld(options));

/** The same, with a new world for each test. */
export const worldOfEachTest = (): PullWorld => forTest(() => openPullWorld());

/** A world of the file with the roles of the database, and a login for each. */
export function worldWithUsers(): PullWorld & { readonly users: RoleUsers } {
  const users = {} as RoleUsers;
  // After the database is gone, in which the logins have rights.
  afterAll(() => users.close());
  const world = worldOfFile();
  beforeAll(async () => {
    const { databaseUrl } = world;
    await migrate({ databaseUrl, logger: world.parts.logger, roles: true });
    Object.assign(users, await createRoleUsers(databaseUrl));
  });
  return Object.assign(world, { users });
}

export type FileClient = Pick<Client, 'query'>;

/** A connection of the file, to a database that exists when the tests begin. */
export const clientOfFile = (urlOf: () => string): FileClient =>
  forFile(async () => {
    const client = new Client({ connectionString: urlOf() });
    await client.connect();
    return { query: client.query.bind(client) as Client['query'], close: () => client.end() };
  });

/** A consumer of bookings in SQL: a user with the role of the ERP, connected for all tests of a file. */
export const erpOfFile = (world: PullWorld, name = 'erp', buyers: readonly string[] = []) =>
  forFile(async () => {
    const { database, databaseUrl } = world;
    await migrate({ databaseUrl, logger: world.parts.logger, roles: true });
    const users = await createRoleUsers(databaseUrl);
    const client = new Client({ connectionString: users.urlOf('erp') });
    await client.connect();
    const databaseRole = users.nameOf('erp');
    await setConsumer(database, { name, databaseRole, apiKeyId: null, buyers }, 'test');
    return {
      users,
      client,
      async close() {
        await client.end();
        await users.close();
      },
    };
  });

export type ErpUser = ReturnType<typeof erpOfFile>;
