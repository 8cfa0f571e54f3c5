import {
  type HoldDetail,
  type ImplausibleReason,
  implausibleText,
} from '../../domain/checks/plausibility.ts';
import { capitalised } from '../../domain/display-text.ts';
import { maskTaxId } from '../shell/masking.ts';
import type { PageContext } from '../shell/page-context.ts';

/** Why an implausible response is held, with its numbers and, masked, the buyer that they are about. */
export function holdText(
  { text, language }: PageContext,
  reason: ImplausibleReason,
  detail: HoldDetail | null,
): string {
  const words = implausibleText(language, reason, detail);
  const sentence = `${capitalised(words)}.`;
  const buyer = detail?.buyer ?? '';
  return buyer === ''
    ? sentence
    : `${sentence} ${text('release.ofBuyer', { buyer: maskTaxId(buyer) })}`;
}
