import type { Command } from 'commander';
import { migrate } from '../../base/database/migrate.ts';
import { openEmbeddedPostgres } from '../../base/embedded/embedded-postgres.ts';
import { migrateQueue } from '../../core/work/postgres-backend.ts';
import { EXIT, type Exit, runCommand } from '../command-run.ts';

const ADVISORY_LOCKS_ADVICE = `

Every login of this database may take advisory locks, and can stop the queue with them. Only a superuser can take
this right away: run prisma/advisory-locks.sql in this database as a superuser, or set REDIS_URL.`;

export function addMigrateCommand(program: Command, exit: Exit): void {
  program
    .command('migrate')
    .description('bring the staging schema up to date')
    .option('--roles', 'also set up the database roles of prisma/roles.sql')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Applies the missing migrations of prisma/migrations to DATABASE_URL (or the embedded database) under a lock,
so that several processes may run it at the same time. No data is dropped.

With --roles, DATABASE_URL names the owner of the schema. The service then runs with another DATABASE_URL,
with a user who is a member of conciliation_worker. Run the command again after every upgrade: it also
brings the queue's schema up to date, unless REDIS_URL is set.`,
    )
    .action(async (options: { roles?: boolean; json?: boolean }) => {
      exit(
        await runCommand({ json: options.json, platform: false }, async ({ config, logger }) => {
          const embedded =
            config.databaseUrl === null
              ? await openEmbeddedPostgres({ dataDir: config.dataDir, logger })
              : null;
          try {
            const databaseUrl = embedded?.url ?? config.databaseUrl ?? '';
            const withRoles = options.roles === true;
            const { applied } = await migrate({ databaseUrl, logger });
            let advice = '';
            if (withRoles) {
              // After the migrations, so that a refused database stays unchanged; before the
              // rights, which include those on the tables of the queue.
              if (config.redisUrl === null) await migrateQueue(databaseUrl, logger);
              const { advisoryLocksArePublic } = await migrate({
                databaseUrl,
                logger,
                roles: true,
              });
              if (advisoryLocksArePublic && config.redisUrl === null)
                advice = ADVISORY_LOCKS_ADVICE;
            }
            const schema =
              applied.length === 0
                ? 'The schema is up to date.'
                : `Applied ${applied.length} migration(s):\n${applied.map((name) => `  ${name}`).join('\n')}`;
            return {
              document: { applied },
              text: withRoles ? `${schema}\nThe roles have their rights.${advice}` : schema,
              exit: EXIT.done,
            };
          } finally {
            await embedded?.close();
          }
        }),
      );
    });
}
