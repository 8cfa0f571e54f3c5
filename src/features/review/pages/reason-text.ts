import { MESSAGES, namesIn, type Text } from '../../../base/texts/texts.ts';

/**
 * The reasons that checks of titles and providers write in English, such as
 * `originalValue: expected a number, got a string`. Their English messages recognise them; the first that fits counts.
 */
const PATTERNS = namesIn('reasons').map((name) => {
  const message = MESSAGES.en.get(`reasons.${name}`) ?? '';
  const literal = message.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
  return { name, pattern: new RegExp(`^${literal.replace(/\{(\w+)\}/g, '(?<$1>.+)')}$`) };
});

/** Returns the reason in the language of the reader, with its path and figures. A reason that is not known stays as it is. */
function reasonText(text: Text, reason: string): string {
  const [, path = '', fault = ''] = /^([^\s:]+: )?([\s\S]*)$/.exec(reason) ?? [];
  for (const { name, pattern } of PATTERNS) {
    const match = pattern.exec(fault);
    if (match === null) continue;
    const values = Object.entries(match.groups ?? {}).map(([part, word]) => [
      part,
      text.find(`reasonWords.${word}`) ?? word,
    ]);
    const place = path.replace(
      /\((\w+)\)/,
      (all, word) => `(${text.find(`reasonPlaces.${word}`) ?? all.slice(1, -1)})`,
    );
    return place + text.find(`reasons.${name}`, Object.fromEntries(values));
  }
  return reason;
}

/** Several reasons in one text, as `describeFaults` joins them. */
export function reasonsText(text: Text, reasons: string): string {
  return reasons
    .split('; ')
    .map((reason) => reasonText(text, reason))
    .join('; ');
}
