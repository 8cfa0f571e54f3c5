/**
 * A name or value of the platform's, which may hold anything and be of any length, made fit for a log
 * line, a text column and a person's eyes: at most `maxLength` characters, and neither control
 * characters nor lone surrogates, which PostgreSQL's `text` refuses.
 */
export function toDisplayText(text: string, maxLength: number): string {
  const cut = text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
  return cut.replace(/[\p{Cc}\p{Cs}]/gu, '\u{fffd}');
}
