import type { Command } from 'commander';
import { recordAudit } from '../base/audit/audit.ts';
import { skipLostNumbers } from '../base/database/lost-numbers.sql.ts';
import { reasonArgument } from './arguments.ts';
import { type Exit, stagingAction } from './command-run.ts';

/** Adds the step after a restore of the database: positions that the restore has lost are found from then on. */
export function addRestoredCommand(program: Command, exit: Exit): void {
  program
    .command('restored')
    .description('state that the database was restored from a backup')
    .requiredOption('--reason <text>', 'the reason; kept in the audit log', reasonArgument)
    .addHelpText(
      'after',
      `
Run this command after each restore of the database, before the service starts. The positions of the feeds and the
ids of titles go on above every number that was given before. A reader whose position the restore has lost is told
from which position to read again.

Example: conciliation restored --reason "disk failure, backup of 3 March 02:00"`,
    )
    .action(
      stagingAction(exit, (database, { by }, { reason }: { readonly reason: string }) =>
        database.prisma.$transaction(async (tx) => {
          const next = (await skipLostNumbers(tx)).toString();
          await recordAudit(tx, {
            ...{ actor: by, action: 'database.restored', reason, details: { next } },
          });
          return {
            document: { next },
            text: `the numbers of the feeds and of titles go on at ${next}`,
          };
        }),
      ),
    );
}
