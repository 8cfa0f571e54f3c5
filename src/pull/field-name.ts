/**
 * A field name of the platform's answer, made fit for a log line, a text column and a person's eyes:
 * at most `maxLength` characters, and neither control characters nor lone surrogates, which
 * PostgreSQL's `text` refuses.
 */
export function toDisplayName(name: string, maxLength: number): string {
  const cut = name.length <= maxLength ? name : `${name.slice(0, maxLength - 1)}…`;
  return cut.replace(/[\p{Cc}\p{Cs}]/gu, '\u{fffd}');
}
