import type { Command } from 'commander';
import { alertPolicy } from '../app/alert-channels.ts';
import { InputError } from '../base/runtime/errors.ts';
import { addDays, type CivilDate } from '../base/values/business-day.ts';
import {
  type DayReject,
  type PullRow,
  readDayRejects,
  readOpenPulls,
} from '../core/ledger/reads.ts';
import { headlineOf, needsPerson } from '../features/home/headline.ts';
import { type OpenItems, readOpenItems } from '../features/home/open-items.ts';
import { type LedgerDay, readLedgerDays } from '../features/review/ledger-days.sql.ts';
import {
  type CompleteSweep,
  readCompleteSweep,
  readSweeps,
  type SweepRow,
} from '../features/sweep/sweeps.sql.ts';
import { dateArgument } from './arguments.ts';
import {
  type CommandResult,
  type CommandRun,
  commandAction,
  EXIT,
  type Exit,
  withStaging,
} from './command-run.ts';
import { findingsAdvice, holdAdvice, withheldText } from './output/pull-text.ts';
import { formatAmount, formatCount, renderTable, right } from './output/table.ts';

/** Days shown by default. */
const DEFAULT_DAYS = 31;
/** Rejected titles listed for each day, also with `--json`. */
const MAX_REJECTS = 20;

export function addStatusCommand(program: Command, exit: Exit): void {
  program
    .command('status')
    .description('show the checkpoint, the lag, and a line for each day')
    .option('--from <date>', 'first date to show', dateArgument)
    .option('--to <date>', 'last date to show', dateArgument)
    .addHelpText(
      'after',
      `
Reads only the ledger and sends no request to the platform. Without a range, the last ${DEFAULT_DAYS} days are shown.

The first lines equal the console's start page: yesterday, and all tasks of a person over the whole ledger, the greatest
risk first.

Exit status: 0 nothing is open, or days only wait for their sign-off; 3 an item needs a person.

Example: conciliation status --from 2026-02-01 --to 2026-02-28`,
    )
    .action(commandAction(exit, { platform: false }, readStatus));
}

async function readStatus(
  run: CommandRun,
  options: { from?: CivilDate; to?: CivilDate },
): Promise<CommandResult> {
  const { config, today } = run;
  const to = options.to ?? today;
  const range = { from: options.from ?? addDays(to, 1 - DEFAULT_DAYS), to };
  if (range.from > range.to) {
    throw new InputError(`--from ${range.from} is after --to ${range.to}`);
  }
  return withStaging(run, async ({ database }) => {
    const policy = alertPolicy(config);
    const items = await readOpenItems(database, { now: new Date(), policy });
    const days = await readLedgerDays(database, range, today);
    const pulls = await readOpenPulls(database);
    const complete = await readCompleteSweep(database);
    const [newest = null] = await readSweeps(database, 1);
    const rejects = new Map<CivilDate, Pick<DayReject, 'date' | 'ordinal' | 'reasons'>[]>();
    for (const { date, state } of days) {
      if (state !== 'attention') continue;
      const found = await readDayRejects(database, date, { withRaw: false, limit: MAX_REJECTS });
      const open = found.filter(({ status }) => status === 'open');
      rejects.set(
        date,
        open.map(({ ordinal, reasons }) => ({ date, ordinal, reasons })),
      );
    }
    return statusResult({
      items,
      days,
      pulls,
      sweeps: { newest, complete },
      rejects,
      timeZone: config.timezone,
    });
  });
}

interface Status {
  readonly items: OpenItems;
  readonly days: readonly LedgerDay[];
  readonly pulls: readonly PullRow[];
  readonly sweeps: { readonly newest: SweepRow | null; readonly complete: CompleteSweep | null };
  readonly rejects: ReadonlyMap<
    CivilDate,
    readonly Pick<DayReject, 'date' | 'ordinal' | 'reasons'>[]
  >;
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
      days: status.days.map((day) => ({ ...day, rejects: status.rejects.get(day.date) ?? [] })),
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
  const lines: string[] = [];
  for (const day of days) {
    if (day.hold !== null && day.heldPullId !== null) {
      lines.push(...holdAdvice(day.date, day.heldPullId, day.hold, day.titles));
      lines.push(...day.hold.faults.map((fault) => `  ${fault}`));
    } else if (day.withheld > 0) {
      lines.push(withheldText(day.date, day.withheld));
    }
    for (const reject of rejects.get(day.date) ?? []) {
      lines.push(
        `${day.date} title ${reject.ordinal + 1} was rejected: ${reject.reasons.join('; ')}`,
      );
    }
    if (day.state === 'failed') {
      lines.push(
        `${day.date} failed: ${day.lastError ?? 'no error was recorded'}; try again with: conciliation pull ${day.date}`,
      );
    }
    if (day.openFindings > 0) lines.push(findingsAdvice(day.date, day.openFindings));
    if ((rejects.get(day.date)?.length ?? 0) > 0) {
      lines.push(
        `${day.date}: pull again after the correction, or accept the rejects in the console.`,
      );
    }
  }
  for (const pull of pulls) {
    if (pull.state === 'held') continue;
    const error = pull.errorMessage === null ? '' : `, last error: ${pull.errorMessage}`;
    lines.push(
      `Pull ${pull.id} (${pull.origin}, ${pull.date}) is ${pull.state}, ${pull.attempts} attempt(s)${error}`,
    );
  }
  return lines.length === 0 ? [] : ['', ...lines];
}
