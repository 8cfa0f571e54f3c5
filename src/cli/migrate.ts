import type { Command } from 'commander';
import { openEmbeddedPostgres } from '../embedded/embedded-postgres.ts';
import { migrate } from '../staging/migrate.ts';
import { EXIT, type ExitStatus, runCommand } from './command-run.ts';

export function addMigrateCommand(program: Command, exit: (status: ExitStatus) => void): void {
  program
    .command('migrate')
    .description('bring the staging schema up to date')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Applies what is missing of prisma/migrations to DATABASE_URL (or the embedded database) under a lock, so
that it may be started twice at once. Nothing is ever dropped.`,
    )
    .action(async (options: { json?: boolean }) => {
      exit(
        await runCommand({ json: options.json, platform: false }, async ({ config, logger }) => {
          const embedded =
            config.databaseUrl === null
              ? await openEmbeddedPostgres({ dataDir: config.dataDir, logger })
              : null;
          try {
            const databaseUrl = embedded?.url ?? config.databaseUrl ?? '';
            const { applied } = await migrate({ databaseUrl, logger });
            return {
              document: { applied },
              text:
                applied.length === 0
                  ? 'The schema is up to date.'
                  : `Applied ${applied.length} migration(s):\n${applied.map((name) => `  ${name}`).join('\n')}`,
              exit: EXIT.done,
            };
          } finally {
            await embedded?.close();
          }
        }),
      );
    });
}
