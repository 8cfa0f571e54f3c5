import type { Database } from '../../base/database/database.ts';
import type { ConciliationError } from '../../base/runtime/errors.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { HoldReason } from '../../core/ledger/day-state.ts';
import type { PullReport } from '../../core/merge/merge.sql.ts';
import { type HoldDetail, implausibleText, isImplausible } from '../../core/merge/plausibility.ts';
import type { AttemptOutcome } from '../../core/work/pull-parts.ts';
import { type CommandResult, EXIT, type ExitStatus } from '../command-run.ts';
import { formatCount, renderTable, right } from './table.ts';

/** The facts about a pull that a person has to review, besides its outcome. */
export interface Concerns {
  /** Whether the day differs from its sign-off. */
  readonly isRestated: boolean;
  /** Bank accounts that titles of the pull changed. */
  readonly accountChanges: number;
  /** Rejected titles of the date that no person has accepted. */
  readonly openRejects: number;
  /** Findings of the checks that a person has to resolve. */
  readonly openFindings: number;
}

/** Reads the concerns after a pull of a date. */
export async function readConcerns(
  { prisma }: Database,
  date: CivilDate,
  pullId: bigint,
): Promise<Concerns> {
  const [day, accountChanges, openRejects, openFindings] = await Promise.all([
    prisma.day.findUnique({ where: { date }, select: { restatedAfterSignOff: true } }),
    prisma.accountChange.count({ where: { pullId, state: 'open' } }),
    prisma.rejectedTitle.count({ where: { date, status: 'open' } }),
    prisma.checkFinding.count({
      where: { acceptedDate: date, severity: 'review', closedAt: null, resolvedAt: null },
    }),
  ]);
  return {
    isRestated: day?.restatedAfterSignOff ?? false,
    accountChanges,
    openRejects,
    openFindings,
  };
}

/** The output of the command `pull`. */
export function pullResult(
  pullId: bigint,
  outcome: Exclude<AttemptOutcome, { kind: 'retry' }>,
  concerns: Concerns,
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
      ...concerns,
    },
    text: [pullsTable([report]), ...advice(report, concerns)].join('\n'),
    exit: exitOf(report, concerns),
  };
}

function concernsText(
  date: CivilDate,
  { isRestated, accountChanges, openFindings }: Concerns,
): string[] {
  return [
    ...(isRestated
      ? [
          `${date} differs from its sign-off: review the changes in the console and sign the day off again.`,
        ]
      : []),
    ...(accountChanges > 0
      ? [
          `${formatCount(accountChanges)} bank account(s) changed: call the party on a known number before anything is paid, then confirm or refuse the account in the console.`,
        ]
      : []),
    ...(openFindings > 0 ? [findingsAdvice(date, openFindings)] : []),
  ];
}

/** Describes the resolution that findings need. */
export function findingsAdvice(date: CivilDate, findings: number): string {
  return `${date} has ${formatCount(findings)} finding(s) of the checks to resolve in the console.`;
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

/** Returns the exit status of a pull: `needsPerson` for a held response and for each concern. */
function exitOf(report: PullReport, concerns: Concerns): ExitStatus {
  const { isRestated, accountChanges, openRejects, openFindings } = concerns;
  const isOpen = isRestated || accountChanges > 0 || openRejects > 0 || openFindings > 0;
  return isOpen || report.state === 'held' ? EXIT.needsPerson : EXIT.done;
}

/** A pull as JSON. `titles` counts the titles that keep the contract. */
function toDocument(report: PullReport) {
  const { pullId: _, state, titles, ...counts } = report;
  return { ...counts, outcome: state, titles: titles - report.rejected };
}

/** A line for each pull. */
function pullsTable(reports: readonly PullReport[]): string {
  return renderTable(
    [
      'date',
      right('titles'),
      right('inserted'),
      right('changed'),
      right('withdrawn'),
      right('restored'),
      right('rejected'),
      'outcome',
    ],
    reports.map((report) => [
      report.date,
      formatCount(report.titles - report.rejected),
      ...[report.inserted, report.changed, report.withdrawn, report.restored].map((count) =>
        // The counts of a held response are those of a release. The lines below the table say so.
        report.state === 'held' ? '–' : formatCount(count),
      ),
      formatCount(report.rejected),
      report.state === 'held' ? 'held, not merged' : report.state,
    ]),
  );
}

/** Describes the decision that a held response needs. */
export function holdAdvice(hold: {
  readonly date: CivilDate;
  readonly pullId: bigint | number;
  readonly reason: HoldReason | null;
  readonly detail: HoldDetail | null;
  readonly titles: number;
  readonly withdrawals: number;
}): string[] {
  const { date, pullId, reason } = hold;
  if (reason === 'unreadable') {
    return [
      `${date} is held: ${formatCount(hold.titles)} title(s) were received, none could be read. Nothing was changed.`,
      `Pull again when the platform has corrected them: conciliation pull ${date}`,
    ];
  }
  const why =
    reason === 'emptied'
      ? 'the platform returned no title for a date that had titles'
      : isImplausible(reason)
        ? implausibleText('en', reason, hold.detail)
        : 'more titles vanished than WITHDRAWAL_LIMIT_PERCENT allows';
  return [
    `${date} is held: ${why} (${formatCount(hold.withdrawals)} would be withdrawn). Nothing was changed.`,
    `Ask the platform first. To merge the response, release pull ${pullId} in the console.`,
  ];
}

export function withheldText(date: CivilDate, withheld: number): string {
  return withheld === 1
    ? `1 title of ${date} is not in the newest response and stays as it was, because a rejected title may be that title.`
    : `${formatCount(withheld)} titles of ${date} are not in the newest response and stay as they were, because a rejected title may be one of them.`;
}

/** Describes the work for a person after a pull. */
function advice(report: PullReport, concerns: Concerns): string[] {
  const { pullId, date, state, holdReason, holdDetail, withdrawn, withheld, titles } = report;
  const { openRejects } = concerns;
  const lines: string[] = [];
  if (state === 'held') {
    const withdrawals = withdrawn;
    lines.push(
      ...holdAdvice({ date, pullId, reason: holdReason, detail: holdDetail, titles, withdrawals }),
    );
  } else if (openRejects > 0) {
    lines.push(
      `${date} has ${formatCount(openRejects)} rejected titles: see "conciliation status --from ${date} --to ${date}"; pull again when they are corrected, or accept them in the console.`,
    );
  }
  if (withheld > 0 && state !== 'held') lines.push(withheldText(date, withheld));
  lines.push(...concernsText(date, concerns));
  return lines.length === 0 ? [] : ['', ...lines];
}
