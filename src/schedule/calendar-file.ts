import type { CivilDate } from '../domain/business-day.ts';
import { addDays } from '../domain/business-day.ts';

/** An event of a whole day. */
export interface CalendarEvent {
  /** The same in every file that has the event. */
  readonly uid: string;
  readonly date: CivilDate;
  readonly summary: string;
  readonly description: string;
}

/** The longest line in bytes, without its end (RFC 5545, 3.1). */
const LINE_BYTES = 75;
const LAST_DATE = '9999-12-31';

/**
 * Encodes a calendar (RFC 5545). Not with the package `ics`: it folds lines by characters, so that a line with
 * letters outside of ASCII is longer than the standard allows, and it brings seven more packages.
 *
 * @param at when the file is made
 */
export function encodeCalendar(name: string, events: readonly CalendarEvent[], at: Date): Buffer {
  const stamp = `${at.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//erp-conciliation-sync//payment schedule//EN',
    'CALSCALE:GREGORIAN',
    `X-WR-CALNAME:${escapeText(name)}`,
    ...events.flatMap(({ uid, date, summary, description }) => [
      'BEGIN:VEVENT',
      `UID:${uid}`,
      `DTSTAMP:${stamp}`,
      `DTSTART;VALUE=DATE:${date.replaceAll('-', '')}`,
      // Without an end, an event with a date lasts that day.
      ...(date === LAST_DATE ? [] : [`DTEND;VALUE=DATE:${addDays(date, 1).replaceAll('-', '')}`]),
      `SUMMARY:${escapeText(summary)}`,
      `DESCRIPTION:${escapeText(description)}`,
      'TRANSP:TRANSPARENT',
      'END:VEVENT',
    ]),
    'END:VCALENDAR',
  ];
  return Buffer.from(lines.map((line) => `${fold(line)}\r\n`).join(''));
}

function escapeText(text: string): string {
  return text.replace(/[\\;,]/g, '\\$&').replace(/\r?\n/g, '\\n');
}

/** Continues a long line on further ones, which begin with a blank. No character is cut in two. */
function fold(line: string): string {
  let folded = '';
  let bytes = 0;
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (bytes + size > LINE_BYTES) {
      folded += '\r\n ';
      bytes = 1;
    }
    folded += character;
    bytes += size;
  }
  return folded;
}
