import type { HoldDetail, ImplausibleReason } from '../../domain/checks/plausibility.ts';
import { maskTaxId } from '../shell/masking.ts';
import type { PageContext } from '../shell/page-context.ts';

/** Why an implausible response is held, with its numbers and, masked, the buyer that they are about. */
export function holdText(
  { text }: PageContext,
  reason: ImplausibleReason,
  detail: HoldDetail | null,
): string {
  const buyer = detail?.buyer ?? '';
  const sentence = text.release.implausible(reason, detail);
  return buyer === '' ? sentence : `${sentence} ${text.release.ofBuyer(maskTaxId(buyer))}`;
}
