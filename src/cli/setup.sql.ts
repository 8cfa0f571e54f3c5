import { statfs } from 'node:fs/promises';
import {
  type OpenStaging,
  openPlatform,
  openStaging,
  openToken,
  startDateOf,
} from '../app/parts.ts';
import { recordAudit } from '../base/audit/audit.ts';
import type { Config } from '../base/config/config.ts';
import {
  type Database,
  readClock,
  requireSameClock,
  type Transaction,
} from '../base/database/database.ts';
import { migrate } from '../base/database/migrate.ts';
import { takeLock } from '../base/database/program-lock.sql.ts';
import { openEmbeddedPostgres } from '../base/embedded/embedded-postgres.ts';
import { ConciliationError, ConfigError } from '../base/runtime/errors.ts';
import { describeError } from '../base/runtime/logger.ts';
import { OverdueError, within } from '../base/runtime/timing.ts';
import { openQueues, type QueueOptions } from '../core/work/job-queue.ts';
import { migrateQueue } from '../core/work/postgres-backend.ts';
import { databaseCheck } from '../features/alerts/health.sql.ts';
import { type CommandRun, command, EXIT, renderTable, stagingCommand, toWords } from './command.ts';

/** The first part waits for the server of the database, and the second for the others. */
const [DATABASE_MS, OTHERS_MS] = [6_000, 3_000];
const LEAST_FREE_BYTES = 1024 ** 3;

/** The next step after a fault of a server. A fault of the configuration names what is to be corrected. */
const NEXT_STEPS: Readonly<Record<string, string>> = {
  database: 'start its server, or correct DATABASE_URL',
  platform:
    'correct PLATFORM_BASE_URL or the token, let this machine reach the platform, or ask its operator',
  queue: 'start its server, or correct REDIS_URL',
};

const doctor = command({
  name: 'doctor',
  does: 'check what the service needs, in ten seconds',
  help: `Checks the configuration, the database with its schema, the clock, the platform with one request of
which the titles are not read, the queue, and the disk of an embedded database. Nothing is pulled. A wrong
configuration ends with status 2 and names each variable. An embedded database may take longer at first.

Exit status: 0 all are in order, 1 a check failed, 2 wrong usage or configuration.

Example: conciliation doctor`,
  needs: { platform: true },
  async run(run) {
    const { config, logger } = run;
    const platform = check('platform', DATABASE_MS + OTHERS_MS, (signal) =>
      askPlatform(run, signal),
    );
    const opening = openStaging(config, logger);
    // The files of an embedded server may have to be made.
    const limitMs = config.databaseUrl === null ? 120_000 : DATABASE_MS;
    const checks = [await check('database', limitMs, async () => readVersion(await opening))];
    if (checks[0]?.ok) {
      const { database, databaseUrl } = await opening;
      const { redisUrl, dataDir } = config;
      const others = [
        check('clock', OTHERS_MS, () => compareClocks(config, database)),
        check('queue', OTHERS_MS, () => askQueue({ redisUrl, databaseUrl, logger })),
      ];
      if (config.databaseUrl === null) {
        others.push(check('disk', OTHERS_MS, () => findSpace(dataDir)));
      }
      checks.push(...(await Promise.all(others)));
    }
    opening.then((staging) => staging.close()).catch(() => undefined);
    checks.push(await platform);
    const isInOrder = checks.every(({ ok }) => ok);
    return {
      document: { ok: isInOrder, checks },
      text: renderTable(
        ['check', 'state', 'found', 'next step'],
        checks.map((each) => [
          ...[each.name, each.ok ? 'ok' : 'fault', each.found, each.nextStep ?? ''],
        ]),
      ),
      exit: isInOrder ? EXIT.done : EXIT.failed,
    };
  },
});

/** @param find returns what it found, and throws what is wrong; its signal aborts when the time is over */
async function check(
  name: string,
  timeoutMs: number,
  find: (signal: AbortSignal) => Promise<string>,
) {
  const stop = new AbortController();
  try {
    return { name, ok: true, found: await within(timeoutMs, find(stop.signal)), nextStep: null };
  } catch (error) {
    stop.abort();
    const step = error instanceof ConfigError ? null : NEXT_STEPS[name];
    const nextStep = step ?? 'correct what the fault names';
    return { name, ok: false, found: faultOf(error), nextStep };
  }
}

/** On one line, as a cell of the table. */
function faultOf(error: unknown): string {
  if (error instanceof ConfigError) return error.problems.join('; ').replace(/\s*\n\s*/g, ' ');
  const isKnown = error instanceof ConciliationError || error instanceof OverdueError;
  return isKnown ? error.message : JSON.stringify(describeError(error));
}

async function readVersion({ database, newer }: OpenStaging): Promise<string> {
  const [{ version }] = await database.prisma.$queryRaw<[{ version: string }]>`
    SELECT current_setting('server_version') AS version`;
  const fault = await databaseCheck(database).run();
  if (fault !== null) throw new ConfigError([`DATABASE_URL: the database ${fault}`]);
  return `PostgreSQL ${version}, ${newer ?? 'no migration is missing'}`;
}

async function compareClocks(config: Config, database: Database): Promise<string> {
  await requireSameClock(database);
  startDateOf(config, await readClock(database));
  return 'as that of the database';
}

/** Leaves the answer after its first bytes: status and type show that the token is accepted. */
async function askPlatform({ config, today }: CommandRun, signal: AbortSignal): Promise<string> {
  const token = openToken(config);
  await token.current();
  const platform = openPlatform(config, token);
  try {
    const { chunks, httpStatus } = await platform.fetchTitles({ from: today, to: today }, signal);
    for await (const _ of chunks) break;
    return `accepts the token, answered ${httpStatus}`;
  } finally {
    await platform.close();
  }
}

async function askQueue(options: QueueOptions): Promise<string> {
  const queues = await openQueues({ ...options, patienceMs: 0 });
  await queues.pull.counts();
  await queues.close();
  return options.redisUrl === null ? 'on the database' : 'on Redis';
}

async function findSpace(dataDir: Config['dataDir']): Promise<string> {
  const { bavail, bsize } = await statfs(dataDir);
  const found = `${((bavail * bsize) / 1024 ** 3).toFixed(1)} GiB are free on the disk of DATA_DIR`;
  if (bavail * bsize < LEAST_FREE_BYTES) throw new ConfigError([`${found}: free space there`]);
  return found;
}

const ADVISORY_LOCKS_ADVICE = `
Every login of this database may take advisory locks, and can stop the queue with them. Only a superuser can take
this right away: run prisma/advisory-locks.sql in this database as a superuser, or set REDIS_URL.`;

const migrateSchema = command({
  name: 'migrate',
  does: 'bring the staging schema up to date',
  words: (line) => line.option('--roles', 'also set up the database roles of prisma/roles.sql'),
  help: `Applies the missing migrations of prisma/migrations to DATABASE_URL (or the embedded database) under a lock,
so that several processes may run it at the same time. No data is dropped.

With --roles, DATABASE_URL names the owner of the schema. The service then runs with another DATABASE_URL,
with a user who is a member of conciliation_worker. Run the command again after every upgrade: it also
brings the queue's schema up to date, unless REDIS_URL is set.`,
  needs: { platform: false },
  async run({ config, logger }, { roles: withRoles }) {
    const { dataDir, redisUrl } = config;
    const embedded =
      config.databaseUrl === null ? await openEmbeddedPostgres({ dataDir, logger }) : null;
    try {
      const databaseUrl = embedded?.url ?? config.databaseUrl ?? '';
      const { applied, newer } = await migrate({ databaseUrl, logger });
      const found =
        newer.length > 0
          ? `The schema has migrations of a newer version: ${newer.join(', ')}.`
          : 'The schema is up to date.';
      const lines =
        applied.length === 0
          ? [found]
          : [`Applied ${applied.length} migration(s):`, ...applied.map((name) => `  ${name}`)];
      if (withRoles) {
        // After the migrations, so that a refused database stays unchanged; before the
        // rights, which include those on the tables of the queue.
        if (redisUrl === null) await migrateQueue(databaseUrl, logger);
        const { advisoryLocksArePublic } = await migrate({ databaseUrl, logger, roles: true });
        lines.push('The roles have their rights.');
        if (advisoryLocksArePublic && redisUrl === null) lines.push(ADVISORY_LOCKS_ADVICE);
      }
      return { document: { applied }, text: lines.join('\n') };
    } finally {
      await embedded?.close();
    }
  },
});

/** The step after a restore of the database: positions that the restore has lost are found from then on. */
const restored = stagingCommand({
  name: 'restored',
  does: 'state that the database was restored from a backup',
  words: (line) =>
    line.requiredOption('--reason <text>', 'the reason; kept in the audit log', toWords),
  help: `Run this command after each restore of the database, before the service starts. The positions of the feeds and the
ids of titles go on above every number that was given before. A reader whose position the restore has lost is told
from which position to read again. Suppliers are pushed again, because the platform may have a later content.

Example: conciliation restored --reason "disk failure, backup of 3 March 02:00"`,
  run: (database, { reason }, { by }) =>
    database.prisma.$transaction(async (tx) => {
      const next = (await skipLostNumbers(tx)).toString();
      const suppliers = await pushSuppliersAgain(tx);
      const details = { next, suppliers };
      await recordAudit(tx, { actor: by, action: 'database.restored', reason, details });
      const text = `the numbers of the feeds and of titles go on at ${next}; suppliers to be pushed again: ${suppliers}`;
      return { document: details, text };
    }),
});

export const COMMANDS = [doctor, migrateSchema, restored];

/**
 * After a restore of the database: makes the positions of the feeds and the ids of titles go on above every number that
 * was ever given.
 * @returns the next number
 */
export async function skipLostNumbers(tx: Transaction): Promise<bigint> {
  // Offers and changes are numbered under this lock.
  await takeLock(tx, 'closing');
  const [{ next }] = await tx.$queryRaw<[{ next: bigint }]>`
    SELECT conciliation.skip_numbers() AS next`;
  return next;
}

/**
 * After a restore of the database: the platform may have a later content of a supplier than the restored row says.
 * @returns the number of suppliers
 */
export function pushSuppliersAgain(tx: Transaction): Promise<number> {
  return tx.$executeRaw`
    UPDATE conciliation.provider
    SET synced_hash = NULL, sync_state = CASE sync_state WHEN 'synced' THEN 'pending' ELSE sync_state END
    WHERE synced_hash IS NOT NULL`;
}
