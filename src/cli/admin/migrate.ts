import type { Command } from 'commander';
import { migrate } from '../../base/database/migrate.ts';
import { openEmbeddedPostgres } from '../../base/embedded/embedded-postgres.ts';
import { migrateQueue } from '../../core/work/postgres-backend.ts';
import { type CommandResult, type CommandRun, commandAction, type Exit } from '../command-run.ts';

const ADVISORY_LOCKS_ADVICE = `
Every login of this database may take advisory locks, and can stop the queue with them. Only a superuser can take
this right away: run prisma/advisory-locks.sql in this database as a superuser, or set REDIS_URL.`;

export function addMigrateCommand(program: Command, exit: Exit): void {
  program
    .command('migrate')
    .description('bring the staging schema up to date')
    .option('--roles', 'also set up the database roles of prisma/roles.sql')
    .addHelpText(
      'after',
      `
Applies the missing migrations of prisma/migrations to DATABASE_URL (or the embedded database) under a lock,
so that several processes may run it at the same time. No data is dropped.

With --roles, DATABASE_URL names the owner of the schema. The service then runs with another DATABASE_URL,
with a user who is a member of conciliation_worker. Run the command again after every upgrade: it also
brings the queue's schema up to date, unless REDIS_URL is set.`,
    )
    .action(commandAction(exit, { platform: false }, runMigrations));
}

async function runMigrations(
  { config, logger }: CommandRun,
  { roles: withRoles = false }: { readonly roles?: boolean },
): Promise<CommandResult> {
  const { dataDir, redisUrl } = config;
  const embedded =
    config.databaseUrl === null ? await openEmbeddedPostgres({ dataDir, logger }) : null;
  try {
    const databaseUrl = embedded?.url ?? config.databaseUrl ?? '';
    const { applied } = await migrate({ databaseUrl, logger });
    const lines =
      applied.length === 0
        ? ['The schema is up to date.']
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
}
