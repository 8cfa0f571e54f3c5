import type { Command } from 'commander';
import { openPlatform, openPulls, openStaging, requireAbleToPull } from '../app/parts.ts';
import { type CivilDate, dateIn } from '../domain/business-day.ts';
import type { PullReport } from '../pull/merge/merge.sql.ts';
import type { PullParts } from '../pull/pull-parts.ts';
import { attemptToEnd, pullToEnd } from '../pull/pull-to-end.ts';
import type { ConciliationError } from '../runtime/errors.ts';
import { runSweep } from '../sweep/run-sweep.ts';
import {
  cancelSweep,
  createDifferencePull,
  createSweep,
  type SweepDifference,
  type SweepReport,
} from '../sweep/sweep-ledger.sql.ts';
import { dateArgument, requireNotFuture } from './arguments.ts';
import {
  type CommandResult,
  type CommandRun,
  EXIT,
  type Exit,
  type ExitStatus,
  runCommand,
} from './command-run.ts';
import { createProgressLine } from './output/progress-line.ts';
import { advice, type Concerns, exitOf, readConcerns, toDocument } from './output/pull-text.ts';
import { formatCount, renderTable, right } from './output/table.ts';

const REQUESTED_BY = 'command line';

export function addSweepCommand(program: Command, exit: Exit): void {
  program
    .command('sweep')
    .description('compare everything accepted since a date, and pull the dates that differ')
    .requiredOption('--from <date>', 'the first accepted date, YYYY-MM-DD', dateArgument)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Asks the platform in one request for everything accepted since <date> and compares each date that is over
with the ledger. The sweep itself changes no title. Each date that differs is then pulled like any
other date: a date that would lose too many titles is held.

Exit status: 0 done, 1 the sweep or a pull failed, 2 wrong usage, 3 done but a person must look.

Example: conciliation sweep --from 2026-02-01`,
    )
    .action(async (options: { from: CivilDate; json?: boolean }) => {
      exit(
        await runCommand({ json: options.json, platform: true }, (run) => {
          requireNotFuture('--from', options.from, run.config.timeZone);
          return sweepSince(run, options.from);
        }),
      );
    });
}

/**
 * A date that differs, with the outcome or the error of its pull. With neither, the service runs the pull.
 */
interface SweptDate extends SweepDifference {
  /** With what a person has to look at after the pull. */
  readonly pulled: { readonly report: PullReport; readonly concerns: Concerns } | null;
  readonly error: ConciliationError | null;
}

const OF_SERVICE = 'left to the service';

async function sweepSince(run: CommandRun, from: CivilDate): Promise<CommandResult> {
  const { config, logger, signal } = run;
  const staging = await openStaging(config, logger);
  const platform = openPlatform(config);
  const line = createProgressLine();
  try {
    await requireAbleToPull(config, staging.database);
    // Comes first, because it refuses an empty ledger, and the parts of a pull would start one.
    const sweepId = await createSweep(staging.database, {
      from,
      today: dateIn(config.timeZone, new Date()),
      requestedBy: REQUESTED_BY,
    });
    const openParts = await openPulls(config, logger, staging, platform);
    const partsOf = (name: string): PullParts => ({
      ...openParts,
      onProgress: ({ titles, bytes }) =>
        line.update(`${name}: ${formatCount(titles)} titles, ${Math.round(bytes / 1e6)} MB read`),
    });
    const tellRetry = (name: string) => (retry: { error: Error; delayMs: number }) => {
      line.end();
      const seconds = Math.ceil(retry.delayMs / 1000);
      process.stderr.write(`${name}: ${retry.error.message}; next attempt in ${seconds} s\n`);
    };

    const name = `since ${from}`;
    const outcome = await attemptToEnd<SweepReport>(
      {
        attempt: () => runSweep(partsOf(name), sweepId, signal),
        cancel: () => cancelSweep(staging.database, sweepId),
      },
      signal,
      tellRetry(name),
    );
    if (outcome.kind !== 'done') return failedSweep(sweepId, outcome.error);
    const dates: SweptDate[] = [];
    for (const difference of outcome.report.differences) {
      const { date } = difference;
      const pullId = await createDifferencePull(staging.database, sweepId, date, REQUESTED_BY);
      const pulled =
        pullId === null ? null : await pullToEnd(partsOf(date), pullId, signal, tellRetry(date));
      dates.push({
        ...difference,
        pullId,
        pulled:
          pulled?.kind === 'done' && pullId !== null
            ? {
                report: pulled.report,
                concerns: await readConcerns(staging.database, date, pullId),
              }
            : null,
        error: pulled === null || pulled.kind === 'done' ? null : pulled.error,
      });
      if (pulled?.kind === 'unauthorized') break;
    }
    return sweepResult(outcome.report, dates);
  } finally {
    line.end();
    await platform.close();
    await staging.close();
  }
}

function failedSweep(sweepId: bigint, { code, message }: ConciliationError): CommandResult {
  return {
    document: { sweepId: Number(sweepId), state: 'failed', error: { code, message } },
    text: `Sweep ${sweepId} failed and compared nothing: ${message}`,
    exit: EXIT.failed,
  };
}

function sweepResult(report: SweepReport, dates: readonly SweptDate[]): CommandResult {
  const { sweepId, from, titles, datesCompared, undated, future, early, differences } = report;
  return {
    document: {
      sweepId: Number(sweepId),
      state: 'complete',
      from,
      titles,
      datesCompared,
      datesDiffering: differences.length,
      undatedTitles: undated,
      futureTitles: future,
      earlyTitles: early,
      dates: dates.map((date) => ({
        date: date.date,
        sweepTitles: date.titles,
        ledgerTitles: date.ledgerTitles,
        pullId: date.pullId === null ? null : Number(date.pullId),
        ...describePull(date),
      })),
    },
    text: [...summary(report), ...datesText(dates)].join('\n'),
    exit: exitOfSweep(report, dates),
  };
}

function describePull({ pulled, error }: SweptDate): object {
  if (error !== null) {
    return { outcome: 'failed', error: { code: error.code, message: error.message } };
  }
  return pulled === null ? { outcome: OF_SERVICE } : toDocument(pulled.report);
}

function summary(report: SweepReport): string[] {
  const { from, datesCompared, differences } = report;
  const lines = [
    differences.length === 0
      ? `${formatCount(datesCompared)} date(s) since ${from} were compared; all agree.`
      : `${formatCount(differences.length)} of ${formatCount(datesCompared)} date(s) since ${from} differ.`,
  ];
  const unplaced = [
    [report.undated, 'without a readable accepted date'],
    [report.future, 'of a date in the future'],
    [report.early, `of a date before ${from}`],
  ] as const;
  for (const [titles, reason] of unplaced) {
    if (titles > 0) lines.push(`${formatCount(titles)} title(s) ${reason} belong to no date.`);
  }
  return lines;
}

function datesText(dates: readonly SweptDate[]): string[] {
  if (dates.length === 0) return [];
  const table = renderTable(
    [
      'date',
      right('sweep'),
      right('ledger'),
      right('inserted'),
      right('changed'),
      right('withdrawn'),
      right('restored'),
      right('rejected'),
      'outcome',
    ],
    dates.map(({ date, titles, ledgerTitles, pulled, error }) => {
      const report = pulled?.report ?? null;
      const counts =
        report === null
          ? ['', '', '', '', '']
          : [
              report.inserted,
              report.changed,
              report.withdrawn,
              report.restored,
              report.rejected,
            ].map(formatCount);
      return [
        date,
        formatCount(titles),
        ledgerTitles === null ? '–' : formatCount(ledgerTitles),
        ...counts,
        error === null ? (report?.state ?? OF_SERVICE) : 'failed',
      ];
    }),
  );
  const notes = dates.flatMap(({ date, pulled, error }) => [
    ...(error === null ? [] : [`${date} failed: ${error.message}`]),
    ...(pulled === null ? [] : advice(pulled.report, pulled.concerns)),
  ]);
  return [table, ...notes];
}

function exitOfSweep(sweep: SweepReport, dates: readonly SweptDate[]): ExitStatus {
  if (dates.some(({ error }) => error !== null)) return EXIT.failed;
  const isUnplaced = sweep.undated + sweep.future + sweep.early > 0;
  const exits = dates.flatMap(({ pulled }) =>
    pulled === null ? [] : exitOf(pulled.report, pulled.concerns),
  );
  return isUnplaced || exits.includes(EXIT.needsPerson) ? EXIT.needsPerson : EXIT.done;
}
