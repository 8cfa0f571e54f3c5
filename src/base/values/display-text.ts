/**
 * Makes a name or value of the platform fit for a log line and a text column: at most `maxLength` characters,
 * without control characters and without lone surrogates, which PostgreSQL's `text` refuses.
 */
export function toDisplayText(text: string, maxLength: number): string {
  const cut = text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
  return cut.replace(/[\p{Cc}\p{Cs}]/gu, '\u{fffd}');
}
