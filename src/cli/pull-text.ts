import type { ConciliationError } from '../errors.ts';
import type { AttemptOutcome } from '../pull/pull-parts.ts';
import type { PullReport } from '../staging/merge.ts';
import type { DateReport } from '../staging/pull-outcome.ts';
import { type CommandResult, EXIT, type ExitStatus } from './command-run.ts';
import { formatCount, renderTable } from './table.ts';

/** What a pull or sweep prints when it has ended. */
export function pullResult(
  pullId: bigint,
  outcome: Exclude<AttemptOutcome, { kind: 'retry' }>,
): CommandResult {
  if (outcome.kind !== 'done') return failedResult(pullId, outcome.error);
  const { report } = outcome;
  const dates = report.dates.map((date) => toDocument(date));
  return {
    document: {
      pullId: Number(pullId),
      state: report.state,
      titles: report.titles,
      rejected: report.rejected,
      dates,
    },
    text: [datesTable(report.dates), ...advice(report)].join('\n'),
    exit: exitOf(report),
  };
}

function failedResult(pullId: bigint, error: ConciliationError): CommandResult {
  return {
    document: {
      pullId: Number(pullId),
      state: 'failed',
      error: { code: error.code, message: error.message },
    },
    text: `Pull ${pullId} failed and changed nothing: ${error.message}`,
    exit: EXIT.failed,
  };
}

function exitOf(report: PullReport): ExitStatus {
  const needsPerson = report.rejected > 0 || report.dates.some((date) => date.outcome === 'held');
  return needsPerson ? EXIT.needsPerson : EXIT.done;
}

function toDocument(date: DateReport) {
  const {
    outcome,
    holdReason,
    titles,
    inserted,
    changed,
    withdrawn,
    restored,
    unchanged,
    rejected,
  } = date;
  return {
    date: date.date,
    outcome,
    holdReason,
    titles,
    inserted,
    changed,
    withdrawn,
    restored,
    unchanged,
    rejected,
  };
}

/** The dates a pull spoke about; a sweep's dates on which nothing differs are only counted. */
export function datesTable(dates: readonly DateReport[]): string {
  const shown = dates.length === 1 ? dates : dates.filter((date) => differs(date));
  const table = renderTable(
    [
      { title: 'date' },
      { title: 'titles', align: 'right' },
      { title: 'inserted', align: 'right' },
      { title: 'changed', align: 'right' },
      { title: 'withdrawn', align: 'right' },
      { title: 'restored', align: 'right' },
      { title: 'rejected', align: 'right' },
      { title: 'outcome' },
    ],
    shown.map((date) => [
      date.date,
      ...[
        date.titles,
        date.inserted,
        date.changed,
        date.withdrawn,
        date.restored,
        date.rejected,
      ].map(formatCount),
      date.outcome,
    ]),
  );
  const rest = dates.length - shown.length;
  return rest === 0 ? table : `${table}\n${formatCount(rest)} more date(s) do not differ.`;
}

function differs(date: DateReport): boolean {
  return date.outcome === 'held' || date.outcome === 'merged' || date.rejected > 0;
}

const HOLD_REASONS = {
  emptied: 'the platform returned no title at all for a date that had titles',
  withdrawal_limit: 'more titles vanished than WITHDRAWAL_LIMIT_PERCENT allows',
  undated_rejects: 'titles vanished while the response held unreadable titles without a date',
} as const;

function advice(report: PullReport): string[] {
  const lines: string[] = [];
  for (const date of report.dates) {
    if (date.holdReason === null) continue;
    lines.push(
      `${date.date} is held: ${HOLD_REASONS[date.holdReason]} (${formatCount(date.withdrawn)} would be withdrawn).`,
    );
  }
  if (report.state === 'held') {
    lines.push(
      `Ask the platform first. To merge what it said: conciliation release ${report.pullId} --reason "…"`,
    );
  }
  for (const date of report.dates) {
    if (date.rejected === 0 || date.outcome === 'held') continue;
    lines.push(
      `${date.date} has ${formatCount(date.rejected)} rejected titles: see "conciliation status --from ${date.date} --to ${date.date}"; pull again once they are mended, or: conciliation accept-rejects ${date.date} --reason "…"`,
    );
  }
  return lines.length === 0 ? [] : ['', ...lines];
}
