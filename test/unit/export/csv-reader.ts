import { parse } from 'csv-parse/sync';

/** Reads CSV as RFC 4180 has it, strictly: a stray quote or a bare line break is an error. */
export function readCsv(text: string, separator: string): string[][] {
  if (!text.endsWith('\r\n')) throw new Error('the last line has no end');
  return parse(text, {
    delimiter: separator,
    record_delimiter: '\r\n',
    cast(cell, { quoting }) {
      if (!quoting && /[\r\n]/.test(cell)) throw new Error('a line break without quotes');
      return cell;
    },
  });
}
