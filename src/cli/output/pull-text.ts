import type { Database } from '../../base/database/database.ts';
import { textOf } from '../../base/texts/texts.ts';
import type { CivilDate } from '../../base/values/business-day.ts';
import type { PullReport } from '../../core/merge/merge.sql.ts';
import type { AttemptOutcome } from '../../core/work/pull-parts.ts';
import type { Hold } from '../../features/review/ledger-days.sql.ts';
import { holdText } from '../../features/review/pages/release-page.tsx';
import { type CommandResult, EXIT } from '../command-run.ts';
import { formatCount, renderTable, right } from './table.ts';

/** The facts about a pull that a person has to review, besides its outcome. */
interface Concerns {
  readonly currentTitles: number;
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
    prisma.day.findUnique({
      where: { date },
      select: { titleCount: true, restatedAfterSignOff: true },
    }),
    prisma.accountChange.count({ where: { pullId, state: 'open' } }),
    prisma.rejectedTitle.count({ where: { date, status: 'open' } }),
    prisma.checkFinding.count({
      where: { acceptedDate: date, severity: 'review', closedAt: null, resolvedAt: null },
    }),
  ]);
  return {
    currentTitles: day?.titleCount ?? 0,
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
  if (outcome.kind !== 'done') {
    const { code, message } = outcome.error;
    return {
      document: { pullId: Number(pullId), state: 'failed', error: { code, message } },
      text: `Pull ${pullId} failed and changed nothing: ${message}`,
      exit: EXIT.failed,
    };
  }
  const { report } = outcome;
  const { pullId: _, state, titles, ...counts } = report;
  const { currentTitles: __, ...concernsOfDate } = concerns;
  const { isRestated, accountChanges, openRejects, openFindings } = concerns;
  const isOpen = isRestated || accountChanges > 0 || openRejects > 0 || openFindings > 0;
  return {
    document: {
      pullId: Number(pullId),
      state,
      titles,
      rejected: report.rejected,
      // `titles` counts the titles that keep the contract.
      dates: [{ ...counts, outcome: state, titles: titles - report.rejected }],
      ...concernsOfDate,
    },
    text: [pullTable(report), ...advice(report, concerns)].join('\n'),
    exit: isOpen || state === 'held' ? EXIT.needsPerson : EXIT.done,
  };
}

/** Describes the resolution that findings need. */
export function findingsAdvice(date: CivilDate, findings: number): string {
  return `${date} has ${formatCount(findings)} finding(s) of the checks to resolve in the console.`;
}

function pullTable(report: PullReport): string {
  const counts = ['inserted', 'changed', 'withdrawn', 'restored'] as const;
  const isHeld = report.state === 'held';
  return renderTable(
    ['date', right('titles'), ...counts.map(right), right('rejected'), 'outcome'],
    [
      [
        report.date,
        formatCount(report.titles - report.rejected),
        // The counts of a held response are those of a release. The lines below the table say so.
        ...counts.map((name) => (isHeld ? '–' : formatCount(report[name]))),
        formatCount(report.rejected),
        isHeld ? 'held, not merged' : report.state,
      ],
    ],
  );
}

/** Describes the decision that a held response needs. `currentTitles` are those of the date now. */
export function holdAdvice(
  date: CivilDate,
  pullId: bigint | number,
  hold: Pick<Hold, 'reason' | 'detail' | 'titles' | 'withdrawals'>,
  currentTitles: number,
): string[] {
  if (hold.reason === 'unreadable') {
    return [
      `${date} is held: ${formatCount(hold.titles)} title(s) were received, none could be read. Nothing was changed.`,
      `Pull again when the platform has corrected them: conciliation pull ${date}`,
    ];
  }
  const reader = { text: textOf('en'), language: 'en', formats: { count: formatCount } } as const;
  return [
    `${date} is held. ${holdText(reader, hold, currentTitles)} Nothing was changed.`,
    `To merge the response, release pull ${pullId} in the console.`,
  ];
}

export function withheldText(date: CivilDate, withheld: number): string {
  return withheld === 1
    ? `1 title of ${date} is not in the newest response and stays as it was, because a rejected title may be that title.`
    : `${formatCount(withheld)} titles of ${date} are not in the newest response and stay as they were, because a rejected title may be one of them.`;
}

/** Describes the work for a person after a pull. */
function advice(report: PullReport, concerns: Concerns): string[] {
  const { pullId, date, state, titles, withheld, withdrawn: withdrawals } = report;
  const { currentTitles, isRestated, accountChanges, openRejects, openFindings } = concerns;
  const lines: string[] = [];
  if (state === 'held') {
    const hold = { reason: report.holdReason, detail: report.holdDetail, titles, withdrawals };
    lines.push(...holdAdvice(date, pullId, hold, currentTitles));
  } else {
    if (openRejects > 0) {
      lines.push(
        `${date} has ${formatCount(openRejects)} rejected titles: see "conciliation status --from ${date} --to ${date}"; pull again when they are corrected, or accept them in the console.`,
      );
    }
    if (withheld > 0) lines.push(withheldText(date, withheld));
  }
  if (isRestated) {
    lines.push(
      `${date} differs from its sign-off: review the changes in the console and sign the day off again.`,
    );
  }
  if (accountChanges > 0) {
    lines.push(
      `${formatCount(accountChanges)} bank account(s) changed: call the party on a known number before anything is paid, then confirm or refuse the account in the console.`,
    );
  }
  if (openFindings > 0) lines.push(findingsAdvice(date, openFindings));
  return lines.length === 0 ? [] : ['', ...lines];
}
