import type { Command } from 'commander';
import type { CivilDate } from '../domain/business-day.ts';
import { acceptRejects, releasePull } from '../pull/decisions.sql.ts';
import { dateArgument, idArgument, reasonArgument } from './arguments.ts';
import type { Exit } from './command-run.ts';
import { operatorName } from './operator-name.ts';
import { pullsTable, toDocument } from './output/pull-text.ts';
import { stagingAction } from './staging-run.ts';

interface DecisionOptions {
  readonly reason: string;
}

/** `release` and `accept-rejects` are decisions of a person. `audit_entry` keeps each with name and reason. */
export function addReleaseCommand(program: Command, exit: Exit): void {
  program
    .command('release')
    .description('merge the changes of a held pull')
    .argument('<pull-id>', 'the pull that holds, see "status"', idArgument('pull'))
    .requiredOption('--reason <text>', 'why this is right; kept in the audit log', reasonArgument)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
A pull is held when its response would withdraw more titles than WITHDRAWAL_LIMIT_PERCENT allows, or all
titles of a date. Titles are never deleted: they become "withdrawn" and can come back. A newer pull of the
date voids the hold. If every title of the response breaks the contract, pull again when the platform has
corrected the titles: a release would merge none of them.

Example: conciliation release 412 --reason "cancelled batch, confirmed by the platform on 2 March"`,
    )
    .action(
      stagingAction(exit, async (database, _, pullId: bigint, { reason }: DecisionOptions) => {
        const report = await releasePull(database, pullId, { by: operatorName(), reason });
        return {
          document: { pullId: Number(pullId), dates: [toDocument(report)] },
          text: `${pullsTable([report])}\n\nReleased by ${operatorName()}.`,
        };
      }),
    );
}

export function addAcceptRejectsCommand(program: Command, exit: Exit): void {
  program
    .command('accept-rejects')
    .description('let a date be reconciled without its rejected titles')
    .argument('<date>', 'the date whose rejects are accepted', dateArgument)
    .requiredOption('--reason <text>', 'why this is right; kept in the audit log', reasonArgument)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
A title that breaks the platform's contract is quarantined with its text and the reasons. Its day is
"attention" until a later pull has no such title or a person accepts the rejects. Accepted rejects stay accepted
when the same titles come again.

A title that the newest response lacks stays current if a rejected title may be that title. Accepting the
rejects does not withdraw it. The title is settled by the next response that has it, or that lacks it and
has no such reject.

Example: conciliation accept-rejects 2026-03-02 --reason "test title of the platform, no money behind it"`,
    )
    .action(
      stagingAction(exit, async (database, _, date: CivilDate, { reason }: DecisionOptions) => {
        const accepted = await acceptRejects(database, date, { by: operatorName(), reason });
        return {
          document: { date, accepted },
          text: `${accepted} rejected title(s) of ${date} accepted by ${operatorName()}.`,
        };
      }),
    );
}
