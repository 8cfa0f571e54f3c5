import type { Command } from 'commander';
import type { CivilDate } from '../domain/business-day.ts';
import { releaseRun } from '../pull/decide-runs.sql.ts';
import { acceptRejects, releasePull } from '../pull/decisions.sql.ts';
import { dateArgument, idArgument, reasonArgument } from './arguments.ts';
import type { Exit } from './command-run.ts';
import { operatorName } from './operator-name.ts';
import { pullsTable, toDocument } from './output/pull-text.ts';
import { stagingAction } from './staging-run.ts';

interface DecisionOptions {
  readonly reason: string;
}

interface ReleaseOptions extends DecisionOptions {
  readonly run?: boolean;
}

/** `release` and `accept-rejects` are decisions of a person. `audit_entry` keeps each with name and reason. */
export function addReleaseCommand(program: Command, exit: Exit): void {
  program
    .command('release')
    .description('merge the changes of a held pull')
    .argument('<pull-id>', 'the pull that holds, see "status"', idArgument('pull'))
    .requiredOption('--reason <text>', 'the reason; kept in the audit log', reasonArgument)
    .option('--run', 'also the other held pulls of its run that withdraw titles')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
A pull is held if its response would withdraw more titles than WITHDRAWAL_LIMIT_PERCENT allows, would withdraw all
titles of a date, or is not plausible, or if the responses of its run together withdraw too many. A run is what one
instant of the schedule, one sweep or one backfill asked for. Titles are never deleted: they become "withdrawn" and can return. A newer
pull of the date replaces the held pull. If every title of the response breaks the contract, pull the date again
when the platform has corrected the titles: a release would merge no title.

Example: conciliation release 412 --reason "cancelled batch, confirmed by the platform on 2 March"`,
    )
    .action(
      stagingAction(exit, async (database, _, pullId: bigint, { reason, run }: ReleaseOptions) => {
        const decision = { by: operatorName(), reason };
        const reports =
          run === true
            ? await releaseRun(database, pullId, decision)
            : [await releasePull(database, pullId, decision)];
        return {
          document: { pullId: Number(pullId), dates: reports.map(toDocument) },
          text: `${pullsTable(reports)}\n\nReleased by ${operatorName()}.`,
        };
      }),
    );
}

export function addAcceptRejectsCommand(program: Command, exit: Exit): void {
  program
    .command('accept-rejects')
    .description('let a date be reconciled without its rejected titles')
    .argument('<date>', 'the date whose rejects are accepted', dateArgument)
    .requiredOption('--reason <text>', 'the reason; kept in the audit log', reasonArgument)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
A title that breaks the platform's contract is quarantined with its text and the reasons. Its day is
"attention" until a later pull has no such title or a person accepts the rejects. Accepted rejects stay accepted
while later responses have the same rejects. They are open again if a later response has other titles, and a title
stays current because of a reject.

A title that the newest response lacks stays current if a rejected title may be that title. The acceptance
of the rejects does not withdraw that title. The next response that has the title, or that lacks both the title and
such a reject, decides.

Example: conciliation accept-rejects 2026-03-02 --reason "test title of the platform, without a payment"`,
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
