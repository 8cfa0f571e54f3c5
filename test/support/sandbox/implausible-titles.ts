/** Titles that keep the contract and must not be booked. */
export const IMPLAUSIBLE_KINDS = [
  'double',
  'lost-buyer',
  'divided-by-100',
  'restated-due-date',
  'changed-account',
] as const;
export type ImplausibleKind = (typeof IMPLAUSIBLE_KINDS)[number];

/** Returns the titles, JSON texts, with the fault. */
export function* implausibleTitles(
  titles: Iterable<string>,
  kind: ImplausibleKind,
): Generator<string, void> {
  if (kind === 'double') {
    const all = [...titles];
    yield* all;
    yield* all;
    return;
  }
  let lost: string | undefined;
  let position = 0;
  for (const text of titles) {
    position += 1;
    const buyer = /"buyerIdentification":"([^"]*)"/.exec(text)?.[1];
    lost ??= buyer;
    if (kind === 'lost-buyer') {
      if (buyer !== lost) yield text;
    } else if (kind === 'divided-by-100') {
      yield text.replace(/("originalValue":)(\d+)(?:\.(\d+))?/, (_, name, whole, fraction = '') => {
        const digits = whole.padStart(3, '0');
        return `${name}${digits.slice(0, -2)}.${digits.slice(-2)}${fraction}`;
      });
    } else if (kind === 'restated-due-date') {
      // One title, so that the limits of the whole response do not see the restatement.
      yield position === 1
        ? text.replace(/("anticipatedDueDate":")\d{4}/, (_, name) => `${name}2031`)
        : text;
    } else {
      yield text.replace(/("payment":\{[^}]*"account":")[^"]*/, (_, name) => `${name}99887766`);
    }
  }
}
