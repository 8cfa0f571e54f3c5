import { type Language, textOf } from '../../base/texts/texts.ts';
import {
  type HoldDetail,
  IMPLAUSIBLE_REASONS,
  type ImplausibleReason,
} from '../../core/merge/plausibility.ts';

const NUMBERS_OF: Readonly<Record<ImplausibleReason, 'share' | 'usual' | 'factor'>> = {
  run_withdrawals: 'share',
  buyer_withdrawals: 'share',
  buyer_missing: 'usual',
  duplicates: 'share',
  growth: 'usual',
  changed_share: 'share',
  value_jump: 'factor',
};

/**
 * Returns a reason with its numbers as a part of a sentence, for the command line, alerts and pages. A buyer is not
 * named, because the identification is a tax identifier.
 * @param detail null: the pull was held by a release that did not keep the numbers or, with `run_withdrawals`, the run
 *   has not ended
 */
export function implausibleText(
  language: Language,
  reason: ImplausibleReason,
  detail: HoldDetail | null,
): string {
  const text = textOf(language);
  if (detail === null) {
    return text(reason === 'run_withdrawals' ? 'holds.runUnderWay' : `holds.rules.${reason}`);
  }
  const { buyer, found, limit } = detail;
  const kind = NUMBERS_OF[reason];
  const numbers =
    kind === 'factor'
      ? text('holds.factor', { found, limit })
      : text(`holds.numbers.${kind}`, { found, of: String(detail.of), limit });
  const shown = buyer === null ? numbers : text('holds.ofBuyer', { numbers });
  return `${text(`holds.rules.${reason}`)} (${shown})`;
}

export function isImplausible(reason: string | null): reason is ImplausibleReason {
  return IMPLAUSIBLE_REASONS.some((known) => known === reason);
}
