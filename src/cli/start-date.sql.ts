import { type Decision, recordAudit } from '../base/audit/audit.ts';
import { type Database, readClock, takeLock } from '../base/database/database.ts';
import { InputError } from '../base/runtime/errors.ts';
import {
  addDays,
  type CivilDate,
  daysBetween,
  lastClosedDate,
} from '../base/values/business-day.ts';
import { checkpointAdvance } from '../core/ledger/day-ledger.sql.ts';
import { MAX_BACKFILL_DAYS } from '../features/backfills/backfill-ledger.sql.ts';
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
    const corrected = await correctStartDate(database, date, { by, reason });
    const { from, to, lastReconciledDate } = corrected;
    const reached =
      lastReconciledDate === null
        ? `${to} is not reconciled yet`
        : `every date from ${to} to ${lastReconciledDate} is reconciled`;
    return {
      document: corrected,
      text:
        from === to
          ? `The ledger begins on ${to} already; nothing was changed.`
          : `The ledger begins on ${to} instead of ${from}; ${reached}.`,
    };
  },
});

export const COMMANDS = [set];

/**
 * Corrects the first date of the ledger and recomputes the checkpoint, which may move it back. No day is changed. The
 * same date again changes nothing.
 * @returns with the recomputed checkpoint; null: not even the start date is reconciled
 * @throws InputError when the ledger has not begun
 */
export function correctStartDate(
  database: Database,
  startDate: CivilDate,
  { by, reason }: Decision,
) {
  return database.prisma.$transaction(async (tx) => {
    // A running merge waits here and then advances the corrected checkpoint.
    await takeLock(tx, 'closing');
    const before = await tx.checkpoint.findFirst({ select: { startDate: true } });
    if (before === null) {
      throw new InputError('the ledger has not begun: set START_DATE before the first start');
    }
    if (before.startDate !== startDate) {
      await tx.$executeRaw`
        UPDATE conciliation.checkpoint
        SET start_date = ${startDate}::date, last_reconciled_date = NULL, pull_id = NULL,
            updated_at = now()`;
      await tx.$executeRaw(checkpointAdvance(null));
      await recordAudit(tx, {
        ...{ actor: by, action: 'start_date.set', date: startDate, reason },
        details: { from: before.startDate, to: startDate },
      });
    }
    const { lastReconciledDate } = await tx.checkpoint.findFirstOrThrow({
      select: { lastReconciledDate: true },
    });
    return { from: before.startDate, to: startDate, lastReconciledDate };
  });
}
