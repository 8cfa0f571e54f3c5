import fc from 'fast-check';
import ICAL from 'ical.js';
import { expect, test } from 'vitest';
import { addDays, toCivilDate } from '../../../src/domain/business-day.ts';
import { type CalendarEvent, encodeCalendar } from '../../../src/schedule/calendar-file.ts';

const AT = new Date('2026-11-23T12:34:56.789Z');
const FIRST = toCivilDate('2024-02-28');

const text = fc.string({ unit: 'grapheme', maxLength: 120 }).map((value) =>
  // A line break is the only control character of a text.
  value.replace(/\p{Cc}/gu, '\n'),
);
const event: fc.Arbitrary<CalendarEvent> = fc.record({
  uid: fc.uuid(),
  date: fc.integer({ min: 0, max: 2_000 }).map((days) => addDays(FIRST, days)),
  summary: text,
  description: text,
});

test('an independent reader finds every event as it was written', () => {
  fc.assert(
    fc.property(text, fc.array(event, { maxLength: 5 }), (name, events) => {
      const bytes = encodeCalendar(name, events, AT);
      const calendar = new ICAL.Component(ICAL.parse(bytes.toString('utf8')));
      expect(calendar.getFirstPropertyValue('version')).toBe('2.0');
      expect(calendar.getFirstPropertyValue('prodid')).not.toBe('');
      const read = calendar.getAllSubcomponents('vevent').map((component) => {
        const { uid, startDate, endDate, summary, description } = new ICAL.Event(component);
        expect(startDate.isDate).toBe(true);
        expect(component.getFirstPropertyValue('dtstamp')?.toString()).toBe('2026-11-23T12:34:56Z');
        return { uid, date: startDate.toString(), end: endDate.toString(), summary, description };
      });
      expect(read).toEqual(events.map((wanted) => ({ ...wanted, end: addDays(wanted.date, 1) })));
    }),
  );
});

test('every line ends with CRLF and has at most 75 bytes, and no character is cut', () => {
  fc.assert(
    fc.property(fc.array(event, { minLength: 1, maxLength: 3 }), (events) => {
      const bytes = encodeCalendar('Agenda', events, AT).toString('latin1');
      expect(bytes.endsWith('\r\n')).toBe(true);
      const lines = bytes.slice(0, -2).split('\r\n');
      for (const line of lines) {
        expect(line).not.toMatch(/[\r\n]/);
        expect(line.length).toBeLessThanOrEqual(75);
        // Each line alone is UTF-8.
        expect(() =>
          new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(line, 'latin1')),
        ).not.toThrow();
      }
    }),
  );
});
