import { readClock } from '../base/database/clock.ts';
import { InputError } from '../base/runtime/errors.ts';
import { addDays, daysBetween, lastClosedDate } from '../base/values/business-day.ts';
import { type CorrectedStartDate, correctStartDate } from '../core/ledger/start-date.sql.ts';
import { MAX_BACKFILL_DAYS } from '../features/backfills/backfill-plan.ts';
import { argument, flag, required, stagingCommand, toDate, toWords } from './command.ts';
import { formatCount } from './output/table.ts';

const set = stagingCommand({
  name: 'start-date set',
  does: 'correct the first date of the ledger',
  words: {
    date: argument('the first accepted date to reconcile, YYYY-MM-DD, over', toDate),
    reason: required('<text>', 'why the stored date is wrong; kept in the audit log', toWords),
    yes: flag('plan the pulls of an earlier date'),
  },
  help: `The first start sets the first date of the ledger to START_DATE, or to the day before if START_DATE is not set.
Later values of START_DATE are ignored. This command corrects the stored date and recomputes the checkpoint, so
the checkpoint may move back. No title and no day is changed. The service pulls the missing dates at its next run:
an earlier date, at most ten years ago, needs --yes, and without --yes the command names the number of dates.

Exit status: 0 done, or the date was the start date already; 1 failed; 2 wrong usage.

Example: conciliation start-date set 2026-01-01 --reason "typing error in START_DATE"`,
  async run(database, { date, reason, yes }, { by, config: { timezone: timeZone } }) {
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
    if (before !== null && date < before.startDate && !yes) {
      const dates = formatCount(daysBetween(date, before.startDate));
      throw new InputError(
        `${date} adds ${dates} date(s) to the ledger, each of which is pulled unless it was: is that intended? Then repeat the command with --yes`,
      );
    }
    const corrected = await correctStartDate(database, date, { by: by, reason });
    return { document: corrected, text: textOf(corrected) };
  },
});

export const COMMANDS = [set];

function textOf({ from, to, lastReconciledDate }: CorrectedStartDate): string {
  if (from === to) return `The ledger begins on ${to} already; nothing was changed.`;
  const reached =
    lastReconciledDate === null
      ? `${to} is not reconciled yet`
      : `every date from ${to} to ${lastReconciledDate} is reconciled`;
  return `The ledger begins on ${to} instead of ${from}; ${reached}.`;
}
