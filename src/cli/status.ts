import { alertPolicy } from '../app/parts.ts';
import type { Database } from '../base/database/database.ts';
import { InputError } from '../base/runtime/errors.ts';
import { addDays, type CivilDate } from '../base/values/business-day.ts';
import { headlineOf, needsPerson } from '../features/home/headline.ts';
import { type OpenItems, readOpenItems } from '../features/home/open-items.ts';
import {
  type LedgerDay,
  type RejectRow,
  readLedgerDays,
  readOpenRejects,
} from '../features/review/ledger-days.sql.ts';
import {
  type CompleteSweep,
  readCompleteSweep,
  readSweeps,
  type SweepRow,
} from '../features/sweep/sweeps.sql.ts';
import { type CommandResult, EXIT, optional, stagingCommand, toDate } from './command.ts';
import { dayAdvice, MAX_REJECTS } from './output/day-text.ts';
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
    const pulls = await readOpenPulls(database);
    const complete = await readCompleteSweep(database);
    const [newest = null] = await readSweeps(database, 1);
    const rejects = new Map<CivilDate, RejectRow[]>();
    for (const { date, state } of days) {
      if (state === 'attention') rejects.set(date, await readOpenRejects(database, date));
    }
    const sweeps = { newest, complete };
    return statusResult({ items, days, pulls, sweeps, rejects, timeZone: config.timezone });
  },
});

export const COMMANDS = [status];

/** The newest pulls that have not ended: queued, running, or waiting for a person. */
async function readOpenPulls(database: Database) {
  const pulls = await database.prisma.pull.findMany({
    where: { state: { in: ['queued', 'running', 'held'] } },
    orderBy: { id: 'desc' },
    take: 20,
  });
  return pulls.map(({ date, attempts, errorCode, errorMessage, ...pull }) => ({
    id: Number(pull.id),
    origin: pull.origin,
    date,
    state: pull.state,
    attempts,
    errorCode,
    errorMessage,
    startedAt: pull.fetchStartedAt,
  }));
}

type OpenPull = Awaited<ReturnType<typeof readOpenPulls>>[number];

interface Status {
  readonly items: OpenItems;
  readonly days: readonly LedgerDay[];
  readonly pulls: readonly OpenPull[];
  readonly sweeps: { readonly newest: SweepRow | null; readonly complete: CompleteSweep | null };
  readonly rejects: ReadonlyMap<CivilDate, readonly RejectRow[]>;
  /** Of all shown instants. */
  readonly timeZone: string;
}

function statusResult(status: Status): CommandResult {
  const { items } = status;
  const { startDate, lastReconciledDate, lagDays, needs, accountChanges } = items;
  const headline = headlineOf(items, 'en');
  return {
    document: {
      checkpoint: startDate === null ? null : { startDate, lastReconciledDate },
      lagDays: startDate === null ? null : lagDays,
      headline,
      needs,
      accountChanges,
      unmappedCompanies: items.unmappedCompanies,
      days: status.days.map((day) => ({
        ...day,
        rejects: status.rejects.get(day.date)?.slice(0, MAX_REJECTS) ?? [],
      })),
      openPulls: status.pulls,
      sweeps: status.sweeps,
    },
    text: [
      headline.title,
      ...headline.lines.map((line) => `- ${line}`),
      ...sweepText(status),
      '',
      daysTable(status),
      ...needsText(status),
    ].join('\n'),
    exit: needsPerson(items) ? EXIT.needsPerson : EXIT.done,
  };
}

function sweepText({ sweeps: { newest, complete }, timeZone }: Status): string[] {
  const lines: string[] = [];
  if (complete !== null) {
    const { from, startedAt, datesCompared, datesDiffering } = complete;
    lines.push(
      `Sweep: ${formatCount(datesCompared)} date(s) since ${from} were compared on ${formatInstant(startedAt, timeZone)}; ${formatCount(datesDiffering)} differed.`,
    );
  }
  if (newest?.state === 'failed') {
    lines.push(`The newest sweep, since ${newest.from}, failed: ${newest.errorMessage}`);
  }
  return lines;
}

/** `YYYY-MM-DD hh:mm`, which is the Swedish format. */
function formatInstant(at: Date, timeZone: string): string {
  const format = { timeZone, dateStyle: 'short', timeStyle: 'short' } as const;
  return new Intl.DateTimeFormat('sv-SE', format).format(at);
}

function daysTable({ days, timeZone }: Status): string {
  if (days.length === 0) return 'No day of this range is in the ledger.';
  return renderTable(
    [
      'date',
      right('titles'),
      right('original value'),
      right('withdrawn'),
      right('rejected'),
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
      day.verifiedAt === null ? '' : formatInstant(day.verifiedAt, timeZone),
    ]),
  );
}

function needsText({ days, pulls, rejects }: Status): string[] {
  const lines = days.flatMap((day) => dayAdvice(day, rejects.get(day.date) ?? []));
  for (const pull of pulls) {
    if (pull.state === 'held') continue;
    const error = pull.errorMessage === null ? '' : `, last error: ${pull.errorMessage}`;
    lines.push(
      `Pull ${pull.id} (${pull.origin}, ${pull.date}) is ${pull.state}, ${pull.attempts} attempt(s)${error}`,
    );
  }
  return lines.length === 0 ? [] : ['', ...lines];
}
