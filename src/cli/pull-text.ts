import type { HoldReason } from '../domain/day-state.ts';
import type { ConciliationError } from '../errors.ts';
import type { AttemptOutcome } from '../pull/pull-parts.ts';
import type { PullReport } from '../staging/merge.ts';
import { type CommandResult, EXIT, type ExitStatus } from './command-run.ts';
import { formatCount, renderTable } from './table.ts';

/** The output of the command `pull`. */
export function pullResult(
  pullId: bigint,
  outcome: Exclude<AttemptOutcome, { kind: 'retry' }>,
): CommandResult {
  if (outcome.kind !== 'done') return failedResult(pullId, outcome.error);
  const { report } = outcome;
  return {
    document: {
      pullId: Number(pullId),
      state: report.state,
      titles: report.titles,
      rejected: report.rejected,
      dates: [toDocument(report)],
    },
    text: [pullsTable([report]), ...advice(report)].join('\n'),
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

export function exitOf(report: PullReport): ExitStatus {
  return report.rejected > 0 || report.state === 'held' ? EXIT.needsPerson : EXIT.done;
}

/** A pull in JSON. `titles` are those that keep the contract. */
export function toDocument(report: PullReport) {
  const { pullId: _, state, titles, ...counts } = report;
  return { ...counts, outcome: state, titles: titles - report.rejected };
}

/** A line for each pull. */
export function pullsTable(reports: readonly PullReport[]): string {
  return renderTable(
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
    reports.map((report) => [
      report.date,
      ...[
        report.titles - report.rejected,
        report.inserted,
        report.changed,
        report.withdrawn,
        report.restored,
        report.rejected,
      ].map(formatCount),
      report.state,
    ]),
  );
}

const HOLD_REASONS: Readonly<Record<HoldReason, string>> = {
  emptied: 'the platform returned no title for a date that had titles',
  unreadable: 'the platform returned titles, and every one of them breaks the contract',
  withdrawal_limit: 'more titles vanished than WITHDRAWAL_LIMIT_PERCENT allows',
};

/** What a person has to do after a pull. */
export function advice(report: PullReport): string[] {
  const { pullId, date, state, holdReason, rejected, withdrawn, withheld } = report;
  const lines: string[] = [];
  if (state === 'held' && holdReason !== null) {
    lines.push(
      `${date} is held: ${HOLD_REASONS[holdReason]} (${formatCount(withdrawn)} would be withdrawn).`,
      `Ask the platform first. To merge the response: conciliation release ${pullId} --reason "…"`,
    );
  } else if (rejected > 0) {
    lines.push(
      `${date} has ${formatCount(rejected)} rejected titles: see "conciliation status --from ${date} --to ${date}"; pull again once they are mended, or: conciliation accept-rejects ${date} --reason "…"`,
    );
  }
  if (withheld > 0) {
    lines.push(
      `${formatCount(withheld)} titles of ${date} are not in the response and stay as they were: a rejected title may be one of them.`,
    );
  }
  return lines.length === 0 ? [] : ['', ...lines];
}
