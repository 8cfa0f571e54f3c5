import { type Decision, recordAudit } from '../base/audit/audit.ts';
import { type Database, readClock } from '../base/database/database.ts';
import { takeLock } from '../base/database/program-lock.sql.ts';
import { InputError } from '../base/runtime/errors.ts';
import {
  addDays,
  type CivilDate,
  daysBetween,
  lastClosedDate,
} from '../base/values/business-day.ts';
import { wordsOf } from '../console/shell/page-context.ts';
import { checkpointAdvance } from '../core/ledger/day-ledger.sql.ts';
import { alertPolicy } from '../features/alerts/deliveries.sql.ts';
import { MAX_BACKFILL_DAYS } from '../features/backfills/backfill-ledger.sql.ts';
import { headlineOf, needsPerson, readOpenItems } from '../features/home/open-items.sql.ts';
import { type LedgerDay, readLedgerDays } from '../features/review/ledger-days.sql.ts';
import {
  EXIT,
  formatAmount,
  formatCount,
  renderTable,
  stagingCommand,
  toDate,
  toWords,
} from './command.ts';

/** Days shown by default. */
const DEFAULT_DAYS = 31;

const status = stagingCommand({
  name: 'status',
  does: 'show the checkpoint, the lag, and a line for each day',
  words: (line) =>
    line
      .option('--from <date>', 'first date to show', toDate)
      .option('--to <date>', 'last date to show', toDate),
  help: `Reads only the ledger and sends no request to the platform. Without a range, the last ${DEFAULT_DAYS} days are shown.

The first lines equal the console's start page: yesterday, and all tasks of a person over the whole ledger, the greatest
risk first.

Exit status: 0 nothing is open, or days only wait for their sign-off; 3 an item needs a person.

Example: conciliation status --from 2026-02-01 --to 2026-02-28`,
  async run(database, options, { config, today }) {
    const to = options.to ?? today;
    const range = { from: options.from ?? addDays(to, 1 - DEFAULT_DAYS), to };
    if (range.from > range.to) {
      throw new InputError(`--from ${range.from} is after --to ${range.to}`);
    }
    const policy = alertPolicy(config);
    const items = await readOpenItems(database, { now: new Date(), policy });
    const days = await readLedgerDays(database, range, today);
    const { startDate, lastReconciledDate, lagDays, tasks } = items;
    const headline = headlineOf(items, 'en');
    const failures = days
      .filter(({ state }) => state === 'failed')
      .map(
        ({ date, lastError }) =>
          `${date} failed: ${lastError}; try again with: conciliation pull ${date}`,
      );
    return {
      document: {
        checkpoint: startDate === null ? null : { startDate, lastReconciledDate },
        ...{ lagDays, headline, tasks, days },
      },
      text: [
        headline.title,
        ...headline.lines.map((line) => `- ${line}`),
        ...(startDate === null ? [] : [`The ledger begins on ${startDate}.`]),
        '',
        daysTable(days, config.timezone),
        ...(failures.length === 0 ? [] : ['', ...failures]),
      ].join('\n'),
      exit: needsPerson(items) ? EXIT.needsPerson : EXIT.done,
    };
  },
});

export function daysTable(days: readonly LedgerDay[], timeZone: string): string {
  if (days.length === 0) return 'No day of this range is in the ledger.';
  const { instant } = wordsOf('en', timeZone).formats;
  return renderTable(
    ['date', 'titles', 'original value', 'withdrawn', 'rejected', 'state', 'verified'],
    days.map((day) => [
      day.date,
      formatCount(day.titles),
      formatAmount(day.sums.original_value),
      formatCount(day.withdrawn),
      formatCount(day.rejected),
      day.state,
      day.verifiedAt === null ? '' : instant(day.verifiedAt),
    ]),
  );
}

const setStartDate = stagingCommand({
  name: 'start-date set',
  does: 'correct the first date of the ledger',
  words: (line) =>
    line
      .argument('<date>', 'the first accepted date to reconcile, YYYY-MM-DD, over', toDate)
      .requiredOption(
        '--reason <text>',
        'why the stored date is wrong; kept in the audit log',
        toWords,
      )
      .option('--yes', 'plan the pulls of an earlier date'),
  help: `The first start sets the first date of the ledger to START_DATE, or to the day before if START_DATE is not set.
Later values of START_DATE are ignored. This command corrects the stored date and recomputes the checkpoint, so
the checkpoint may move back. No title and no day is changed. The service pulls the missing dates at its next run:
an earlier date, at most ten years ago, needs --yes, and without --yes the command names the number of dates.

Exit status: 0 done, or the date was the start date already; 1 failed; 2 wrong usage.

Example: conciliation start-date set 2026-01-01 --reason "typing error in START_DATE"`,
  async run(database, { reason, yes }, { by, config: { timezone: timeZone } }, [date]) {
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

export const COMMANDS = [status, setStartDate];
