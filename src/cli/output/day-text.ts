import { textOf } from '../../base/texts/texts.ts';
import type { LedgerDay, RejectRow } from '../../features/review/ledger-days.sql.ts';
import { holdText } from '../../features/review/pages/release-page.tsx';
import { formatCount } from './table.ts';

/** Rejected titles listed for each day, also with `--json`. */
export const MAX_REJECTS = 20;

/**
 * Describes the work that a day has for a person.
 * @param rejects those that no person has accepted
 */
export function dayAdvice(day: LedgerDay, rejects: readonly RejectRow[]): string[] {
  const { date, withheld } = day;
  const lines: string[] = [];
  if (day.hold !== null && day.heldPullId !== null) {
    lines.push(...holdAdvice(day, day.hold, day.heldPullId));
  } else if (withheld > 0) {
    lines.push(
      withheld === 1
        ? `1 title of ${date} is not in the newest response and stays as it was, because a rejected title may be that title.`
        : `${formatCount(withheld)} titles of ${date} are not in the newest response and stay as they were, because a rejected title may be one of them.`,
    );
  }
  for (const { ordinal, reasons } of rejects.slice(0, MAX_REJECTS)) {
    lines.push(`${date} title ${ordinal + 1} was rejected: ${reasons.join('; ')}`);
  }
  if (rejects.length > 0) {
    lines.push(
      `${date} has ${formatCount(rejects.length)} rejected title(s): pull again when they are corrected, or accept them in the console.`,
    );
  }
  if (day.state === 'failed') {
    lines.push(
      `${date} failed: ${day.lastError ?? 'no error was recorded'}; try again with: conciliation pull ${date}`,
    );
  }
  if (day.openFindings > 0) {
    lines.push(
      `${date} has ${formatCount(day.openFindings)} finding(s) of the checks to resolve in the console.`,
    );
  }
  if (day.isRestated) {
    lines.push(
      `${date} differs from its sign-off: review the changes in the console and sign the day off again.`,
    );
  }
  return lines;
}

/** Describes the decision that a held response needs. */
function holdAdvice(
  { date, titles }: LedgerDay,
  hold: NonNullable<LedgerDay['hold']>,
  pullId: number,
): string[] {
  if (hold.reason === 'unreadable') {
    return [
      `${date} is held: ${formatCount(hold.titles)} title(s) were received, none could be read. Nothing was changed.`,
      `Pull again when the platform has corrected them: conciliation pull ${date}`,
      ...hold.faults.map((fault) => `  ${fault}`),
    ];
  }
  const reader = { text: textOf('en'), language: 'en', formats: { count: formatCount } } as const;
  return [
    `${date} is held. ${holdText(reader, hold, titles)} Nothing was changed.`,
    `To merge the response, release pull ${pullId} in the console.`,
  ];
}
