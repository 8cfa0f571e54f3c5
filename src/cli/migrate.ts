import { recordAudit } from '../base/audit/audit.ts';
import { skipLostNumbers } from '../base/database/database.ts';
import { migrate } from '../base/database/migrate.ts';
import { openEmbeddedPostgres } from '../base/embedded/embedded-postgres.ts';
import { migrateQueue } from '../core/work/postgres-backend.ts';
import { command, flag, required, stagingCommand, toWords } from './command.ts';

const ADVISORY_LOCKS_ADVICE = `
Every login of this database may take advisory locks, and can stop the queue with them. Only a superuser can take
this right away: run prisma/advisory-locks.sql in this database as a superuser, or set REDIS_URL.`;

const migrateSchema = command({
  name: 'migrate',
  does: 'bring the staging schema up to date',
  words: { roles: flag('also set up the database roles of prisma/roles.sql') },
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
      const lines =
        applied.length === 0
          ? ['The schema is up to date.']
          : [`Applied ${applied.length} migration(s):`, ...applied.map((name) => `  ${name}`)];
      if (newer.length > 0) {
        lines.push(`The database has migrations of a newer version: ${newer.join(', ')}.`);
      }
      if (withRoles) {
        // After the migrations, so that a refused database stays unchanged; before the
        // rights, which include those on the tables of the queue.
        if (redisUrl === null) await migrateQueue(databaseUrl, logger);
        const { advisoryLocksArePublic } = await migrate({ databaseUrl, logger, roles: true });
        lines.push('The roles have their rights.');
        if (advisoryLocksArePublic && redisUrl === null) lines.push(ADVISORY_LOCKS_ADVICE);
      }
      return { document: { applied, newer }, text: lines.join('\n') };
    } finally {
      await embedded?.close();
    }
  },
});

/** The step after a restore of the database: positions that the restore has lost are found from then on. */
const restored = stagingCommand({
  name: 'restored',
  does: 'state that the database was restored from a backup',
  words: { reason: required('<text>', 'the reason; kept in the audit log', toWords) },
  help: `Run this command after each restore of the database, before the service starts. The positions of the feeds and the
ids of titles go on above every number that was given before. A reader whose position the restore has lost is told
from which position to read again.

Example: conciliation restored --reason "disk failure, backup of 3 March 02:00"`,
  run: (database, { reason }, { by }) =>
    database.prisma.$transaction(async (tx) => {
      const next = (await skipLostNumbers(tx)).toString();
      const details = { next };
      await recordAudit(tx, { actor: by, action: 'database.restored', reason, details });
      return { document: details, text: `the numbers of the feeds and of titles go on at ${next}` };
    }),
});

export const COMMANDS = [migrateSchema, restored];
