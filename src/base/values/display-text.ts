/**
 * Makes a name or value of the platform fit for a log line and a text column: at most `maxLength` characters,
 * without control characters and without lone surrogates, which PostgreSQL's `text` refuses.
 */
export function toDisplayText(text: string, maxLength: number): string {
  const cut = text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
  return cut.replace(/[\p{Cc}\p{Cs}]/gu, '\u{fffd}');
}

/** Every digit of an exact decimal, and at least two decimal places: `1.234.567,50` or `1,234,567.50`. */
export function amountText(decimal: string, language: 'en' | 'pt-BR'): string {
  const [group, point] = language === 'en' ? [',', '.'] : ['.', ','];
  const [whole = '', fraction = ''] = decimal.replace('-', '').split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, group);
  const sign = decimal.startsWith('-') ? '−' : '';
  return `${sign}${grouped}${point}${fraction.replace(/0+$/, '').padEnd(2, '0')}`;
}

/** The text with a capital first letter, as the beginning of a sentence or a heading. */
export function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
