import { capitalised } from '../../../base/values/display-text.ts';
import { maskTaxId } from '../../../console/shell/masking.ts';
import type { PageContext } from '../../../console/shell/page-context.ts';
import type { Hold } from '../../../core/ledger/day-note.sql.ts';
import { implausibleText, isImplausible } from '../../../core/merge/plausibility.ts';

/** The next steps, by what a response would do. */
const NEXT_STEPS: Readonly<Record<string, 'changed' | 'added'>> = {
  changed_share: 'changed',
  value_jump: 'changed',
  duplicates: 'added',
  growth: 'added',
};

/** Why a response is held, with its numbers and, masked, the buyer that they are about, and what a person does next. */
export function holdText(
  { text, language, formats }: PageContext,
  hold: Pick<Hold, 'reason' | 'detail' | 'titles' | 'withdrawals'>,
  currentTitles: number,
): string {
  const { reason, detail } = hold;
  const titles = formats.count(currentTitles);
  if (reason === 'unreadable') return text('release.reasons.unreadable');
  const buyer = detail?.buyer ?? '';
  return [
    isImplausible(reason)
      ? `${capitalised(implausibleText(language, reason, detail))}.`
      : reason === 'emptied'
        ? text('release.reasons.emptied', { titles })
        : text('release.reasons.withdrawal_limit', {
            withdrawals: formats.count(hold.withdrawals),
            titles,
          }),
    ...(buyer === '' ? [] : [text('release.ofBuyer', { buyer: maskTaxId(buyer) })]),
    text(`release.next.${NEXT_STEPS[reason ?? ''] ?? 'withdrawn'}`),
  ].join(' ');
}
