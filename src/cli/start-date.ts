import type { Command } from 'commander';
import { readClock } from '../base/database/clock.ts';
import { InputError } from '../base/runtime/errors.ts';
import {
  addDays,
  type CivilDate,
  daysBetween,
  lastClosedDate,
} from '../base/values/business-day.ts';
import { type CorrectedStartDate, correctStartDate } from '../core/ledger/start-date.sql.ts';
import { MAX_BACKFILL_DAYS } from '../features/backfills/backfill-plan.ts';
import { dateArgument } from './arguments.ts';
import {
  type CommandResult,
  type CommandRun,
  commandAction,
  type Exit,
  withStaging,
} from './command-run.ts';
import { formatCount } from './output/table.ts';

export function addStartDateCommand(program: Command, exit: Exit): void {
  const startDate = program
    .command('start-date')
    .description('the first date of the ledger, see "status"');
  startDate
    .command('set')
    .description('correct the first date of the ledger')
    .argument('<date>', 'the first accepted date to reconcile, YYYY-MM-DD, over', dateArgument)
    .requiredOption('--reason <text>', 'why the stored date is wrong; kept in the audit log')
    .option('--yes', 'plan the pulls of an earlier date')
    .addHelpText(
      'after',
      `
The first start sets the first date of the ledger to START_DATE, or to the day before if START_DATE is not set.
Later values of START_DATE are ignored. This command corrects the stored date and recomputes the checkpoint, so
the checkpoint may move back. No title and no day is changed. The service pulls the missing dates at its next run:
an earlier date, at most ten years ago, needs --yes, and without --yes the command names the number of dates.

Exit status: 0 done, or the date was the start date already; 1 failed; 2 wrong usage.

Example: conciliation start-date set 2026-01-01 --reason "typing error in START_DATE"`,
    )
    .action(commandAction(exit, { platform: false }, set));
}

async function set(
  run: CommandRun,
  date: CivilDate,
  { reason, yes }: { reason: string; yes?: boolean },
): Promise<CommandResult> {
  if (reason.trim() === '') throw new InputError('--reason: expected a text that is not empty');
  const { timezone: timeZone } = run.config;
  return withStaging(run, async ({ database }) => {
    const yesterday = lastClosedDate(timeZone, await readClock(database));
    if (date > yesterday) {
      throw new InputError(
        `${date} is not over: in ${timeZone} the last date that is, is ${yesterday}`,
      );
    }
    const earliest = addDays(yesterday, 1 - MAX_BACKFILL_DAYS);
    if (date < earliest) {
      throw new InputError(`${date} is more than ten years ago: the earliest date is ${earliest}`);
    }
    const before = await database.prisma.checkpoint.findFirst({ select: { startDate: true } });
    if (before !== null && date < before.startDate && yes !== true) {
      const dates = formatCount(daysBetween(date, before.startDate));
      throw new InputError(
        `${date} adds ${dates} date(s) to the ledger, each of which is pulled unless it was: is that intended? Then repeat the command with --yes`,
      );
    }
    const corrected = await correctStartDate(database, date, { by: run.by, reason });
    return { document: corrected, text: textOf(corrected) };
  });
}

function textOf({ from, to, lastReconciledDate }: CorrectedStartDate): string {
  if (from === to) return `The ledger begins on ${to} already; nothing was changed.`;
  const reached =
    lastReconciledDate === null
      ? `${to} is not reconciled yet`
      : `every date from ${to} to ${lastReconciledDate} is reconciled`;
  return `The ledger begins on ${to} instead of ${from}; ${reached}.`;
}
