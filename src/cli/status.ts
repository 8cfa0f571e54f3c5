import type { Command } from 'commander';
import { openStaging } from '../app/parts.ts';
import { addDays, type CivilDate, daysBetween, lastClosedDate } from '../domain/business-day.ts';
import {
  type CheckpointRow,
  type DayRow,
  type PullRow,
  type RejectRow,
  readCheckpoint,
  readDays,
  readOpenPulls,
  readOpenRejects,
} from '../ledger/reads.sql.ts';
import { InputError } from '../runtime/errors.ts';
import {
  type CompleteSweep,
  readCompleteSweep,
  readSweeps,
  type SweepRow,
} from '../sweep/sweep-reads.sql.ts';
import { dateArgument } from './arguments.ts';
import { type CommandResult, EXIT, type ExitStatus, runCommand } from './command-run.ts';
import { holdAdvice, withheldText } from './output/pull-text.ts';
import { formatAmount, formatCount, renderTable } from './output/table.ts';

/** Days shown by default. */
const DEFAULT_DAYS = 31;
/** Rejected titles listed for each day, also with `--json`. */
const MAX_REJECTS = 20;

export function addStatusCommand(program: Command, exit: (status: ExitStatus) => void): void {
  program
    .command('status')
    .description('show the checkpoint, the lag, and a line a day')
    .option('--from <date>', 'first date to show', dateArgument)
    .option('--to <date>', 'last date to show', dateArgument)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Reads the ledger only; the platform is not asked. Without a range the last ${DEFAULT_DAYS} days are shown.

Exit status: 0 all is well, 3 some day needs a person (held, attention, failed).

Example: conciliation status --from 2026-02-01 --to 2026-02-28`,
    )
    .action(async (options: { from?: CivilDate; to?: CivilDate; json?: boolean }) => {
      exit(
        await runCommand({ json: options.json, platform: false }, async (run) => {
          const closed = lastClosedDate(run.config.timeZone, new Date());
          const today = addDays(closed, 1);
          const to = options.to ?? today;
          const range = { from: options.from ?? addDays(to, 1 - DEFAULT_DAYS), to };
          if (range.from > range.to)
            throw new InputError(`--from ${range.from} is after --to ${range.to}`);
          const staging = await openStaging(run.config, run.logger);
          try {
            const checkpoint = await readCheckpoint(staging.database);
            const days = await readDays(staging.database, range, today);
            const pulls = await readOpenPulls(staging.database);
            const completeSweep = await readCompleteSweep(staging.database);
            const [newestSweep = null] = await readSweeps(staging.database, 1);
            const rejects = new Map<CivilDate, RejectRow[]>();
            for (const day of days) {
              if (day.state !== 'attention') continue;
              rejects.set(
                day.date,
                (await readOpenRejects(staging.database, day.date)).slice(0, MAX_REJECTS),
              );
            }
            const sweeps = { newest: newestSweep, complete: completeSweep };
            return statusResult({ checkpoint, days, pulls, sweeps, rejects, closed });
          } finally {
            await staging.close();
          }
        }),
      );
    });
}

interface Status {
  readonly checkpoint: CheckpointRow | null;
  readonly days: readonly DayRow[];
  readonly pulls: readonly PullRow[];
  readonly sweeps: { readonly newest: SweepRow | null; readonly complete: CompleteSweep | null };
  readonly rejects: ReadonlyMap<CivilDate, readonly RejectRow[]>;
  readonly closed: CivilDate;
}

function statusResult(status: Status): CommandResult {
  const lagDays = lagOf(status);
  const needsPerson = status.days.some(({ state }) =>
    ['held', 'attention', 'failed'].includes(state),
  );
  return {
    document: {
      checkpoint: status.checkpoint,
      lagDays,
      days: status.days.map((day) => ({ ...day, rejects: status.rejects.get(day.date) ?? [] })),
      openPulls: status.pulls,
      sweeps: status.sweeps,
    },
    text: [
      ...checkpointText(status, lagDays),
      ...sweepText(status),
      '',
      daysTable(status.days),
      ...needsText(status),
    ].join('\n'),
    exit: needsPerson ? EXIT.needsPerson : EXIT.done,
  };
}

/** Number of closed days after the checkpoint; null before the first start. */
function lagOf({ checkpoint, closed }: Status): number | null {
  if (checkpoint === null) return null;
  const reached = checkpoint.lastReconciledDate ?? addDays(checkpoint.startDate, -1);
  return Math.max(0, daysBetween(reached, closed));
}

function checkpointText({ checkpoint }: Status, lagDays: number | null): string[] {
  if (checkpoint === null)
    return ['Nothing was pulled yet: start with "conciliation pull <date>".'];
  const reached =
    checkpoint.lastReconciledDate === null
      ? `no date is reconciled yet (the ledger begins on ${checkpoint.startDate})`
      : `every date from ${checkpoint.startDate} to ${checkpoint.lastReconciledDate} is reconciled`;
  return [`Checkpoint: ${reached}; ${formatCount(lagDays ?? 0)} closed day(s) behind.`];
}

function sweepText({ sweeps: { newest, complete } }: Status): string[] {
  const lines: string[] = [];
  if (complete !== null) {
    const { from, startedAt, datesCompared, datesDiffering } = complete;
    lines.push(
      `Sweep: ${formatCount(datesCompared)} date(s) since ${from} were compared on ${formatInstant(startedAt)} (UTC); ${formatCount(datesDiffering)} differed.`,
    );
  }
  if (newest !== null && newest.state !== 'complete') {
    const error = newest.errorMessage === null ? '' : `, last error: ${newest.errorMessage}`;
    lines.push(
      `Sweep ${newest.id} (since ${newest.from}) is ${newest.state}, ${newest.attempts} attempt(s)${error}`,
    );
  }
  return lines;
}

function formatInstant(at: Date): string {
  return at.toISOString().slice(0, 16).replace('T', ' ');
}

function daysTable(days: readonly DayRow[]): string {
  if (days.length === 0) return 'No day of this range is in the ledger.';
  return renderTable(
    [
      { title: 'date' },
      { title: 'titles', align: 'right' },
      { title: 'original value', align: 'right' },
      { title: 'withdrawn', align: 'right' },
      { title: 'rejected', align: 'right' },
      { title: 'state' },
      { title: 'verified (UTC)' },
    ],
    days.map((day) => [
      day.date,
      formatCount(day.titles),
      formatAmount(day.originalValueSum),
      formatCount(day.withdrawn),
      formatCount(day.rejected),
      day.state,
      day.verifiedAt === null ? '' : formatInstant(day.verifiedAt),
    ]),
  );
}

function needsText({ days, pulls, rejects }: Status): string[] {
  const lines: string[] = [];
  for (const day of days) {
    if (day.hold !== null && day.heldPullId !== null) {
      lines.push(...holdAdvice({ date: day.date, pullId: day.heldPullId, ...day.hold }));
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
    if (day.state === 'attention') {
      lines.push(
        `${day.date}: pull again after the correction, or: conciliation accept-rejects ${day.date} --reason "…"`,
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
