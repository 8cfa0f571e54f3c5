import type { Database } from '../base/database/database.ts';
import { InputError } from '../base/runtime/errors.ts';
import { addDays } from '../base/values/business-day.ts';
import { wordsOf } from '../console/shell/page-context.ts';
import { alertPolicy } from '../features/alerts/deliveries.sql.ts';
import { headlineOf, needsPerson, readOpenItems } from '../features/home/open-items.ts';
import { type LedgerDay, readLedgerDays } from '../features/review/ledger-days.sql.ts';
import { EXIT, optional, stagingCommand, toDate } from './command.ts';
import { formatAmount, formatCount, renderTable, right } from './output/table.ts';

/** Days shown by default. */
const DEFAULT_DAYS = 31;

const status = stagingCommand({
  name: 'status',
  does: 'show the checkpoint, the lag, and a line for each day',
  words: {
    from: optional('<date>', 'first date to show', toDate),
    to: optional('<date>', 'last date to show', toDate),
  },
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
    const sweeps = await readSweeps(database);
    const { startDate, lastReconciledDate, lagDays, needs, accountChanges } = items;
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
        lagDays: startDate === null ? null : lagDays,
        ...{ headline, needs, accountChanges, unmappedCompanies: items.unmappedCompanies },
        ...{ days, sweeps },
      },
      text: [
        headline.title,
        ...headline.lines.map((line) => `- ${line}`),
        ...sweepText(sweeps, config.timezone),
        '',
        daysTable(days, config.timezone),
        ...(failures.length === 0 ? [] : ['', ...failures]),
      ].join('\n'),
      exit: needsPerson(items) ? EXIT.needsPerson : EXIT.done,
    };
  },
});

export const COMMANDS = [status];

async function readSweeps({ prisma }: Database) {
  const newest = { orderBy: { startedAt: 'desc' } } as const;
  const [last, complete] = await Promise.all([
    prisma.sweep.findFirst(newest),
    prisma.sweep.findFirst({ ...newest, where: { state: 'complete' } }),
  ]);
  return { newest: last && { ...last }, complete: complete && { ...complete } };
}

function sweepText(
  { newest, complete }: Awaited<ReturnType<typeof readSweeps>>,
  timeZone: string,
): string[] {
  const { instant } = wordsOf('en', timeZone).formats;
  const lines: string[] = [];
  if (complete !== null) {
    const { fromDate, startedAt, datesCompared, datesDiffering } = complete;
    lines.push(
      `Sweep: ${formatCount(datesCompared ?? 0)} date(s) since ${fromDate} were compared on ${instant(startedAt)}; ${formatCount(datesDiffering ?? 0)} differed.`,
    );
  }
  if (newest?.state === 'failed') {
    lines.push(`The newest sweep, since ${newest.fromDate}, failed: ${newest.errorMessage}`);
  }
  return lines;
}

export function daysTable(days: readonly LedgerDay[], timeZone: string): string {
  if (days.length === 0) return 'No day of this range is in the ledger.';
  const { instant } = wordsOf('en', timeZone).formats;
  return renderTable(
    [
      'date',
      ...['titles', 'original value', 'withdrawn', 'rejected'].map(right),
      'state',
      'verified',
    ],
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
