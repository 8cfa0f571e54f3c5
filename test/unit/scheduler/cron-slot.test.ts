import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cronFault, latestSlot, slotBefore } from '../../../src/base/config/cron-schedule.ts';

/** Zones whose clocks change at midnight, by half an hour, during Ramadan, or never. */
const TIME_ZONES = [
  ...'America/Sao_Paulo America/Santiago America/New_York America/St_Johns America/Nuuk'.split(' '),
  ...'Europe/Lisbon Africa/Cairo Africa/Casablanca Asia/Beirut Asia/Kolkata'.split(' '),
  ...'Australia/Lord_Howe Pacific/Auckland'.split(' '),
];

const formats = new Map<string, Intl.DateTimeFormat>();

/** The time of the wall clock, such as `2018-11-04 01:00`: text order is the order of readings. */
function wallClock(timeZone: string, atMs: number): string {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  formats.set(timeZone, format);
  return format.format(atMs);
}

const slot = (expression: string, timeZone: string, now: string) =>
  latestSlot(expression, timeZone, new Date(now)).toISOString();

describe('latestSlot', () => {
  test('is the instant itself when the slot is now, and the one before a millisecond earlier', () => {
    const zone = 'America/Sao_Paulo';
    expect(slot('0 6 * * *', zone, '2026-03-02T09:00:00.000Z')).toBe('2026-03-02T09:00:00.000Z');
    expect(slot('0 6 * * *', zone, '2026-03-02T08:59:59.999Z')).toBe('2026-03-01T09:00:00.000Z');
  });

  test('is the first instant at which the wall clock has reached the time, in twelve zones', () => {
    const changes = TIME_ZONES.flatMap((timeZone) =>
      daysOfChange(timeZone, 2010, 2024).map((dayMs) => ({ timeZone, dayMs })),
    );
    expect(changes.length).toBeGreaterThan(250);
    fc.assert(
      fc.property(
        fc.constantFrom(...changes),
        fc.integer({ min: 0, max: 23 }),
        fc.constantFrom(0, 1, 15, 30, 59),
        ({ timeZone, dayMs }, hour, minute) => {
          const time = `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
          // Minute by minute, from the day before the change to the day after it.
          const fromMs = dayMs - DAY_MS;
          let furthest = wallClock(timeZone, fromMs);
          let expectedMs: number | null = null;
          for (let atMs = fromMs; atMs < dayMs + 2 * DAY_MS; atMs += 60_000) {
            const shown = wallClock(timeZone, atMs);
            const isDue = [furthest, shown]
              .map((reading) => `${reading.slice(0, 10)} ${time}`)
              .some((slot) => furthest < slot && slot <= shown);
            if (shown > furthest) furthest = shown;
            if (isDue) expectedMs = atMs;
            if (expectedMs === null || !(isDue || atMs % (97 * 60_000) === 0)) continue;
            const latest = latestSlot(`${minute} ${hour} * * *`, timeZone, new Date(atMs));
            expect(latest.toISOString()).toBe(new Date(expectedMs).toISOString());
          }
        },
      ),
      {
        numRuns: 30,
        examples: [
          // Times that the clock jumps over, and one that it shows twice.
          [{ timeZone: 'America/Sao_Paulo', dayMs: Date.UTC(2018, 10, 4) }, 0, 0],
          [{ timeZone: 'America/Sao_Paulo', dayMs: Date.UTC(2018, 10, 4) }, 0, 59],
          [{ timeZone: 'America/Santiago', dayMs: Date.UTC(2024, 8, 8) }, 0, 0],
          [{ timeZone: 'America/New_York', dayMs: Date.UTC(2024, 10, 3) }, 1, 30],
        ],
      },
    );
  });
});

const DAY_MS = 86_400_000;

/** UTC midnights of the days within which the clock of a zone was changed. */
function daysOfChange(timeZone: string, fromYear: number, toYear: number): number[] {
  const days: number[] = [];
  for (let dayMs = Date.UTC(fromYear, 0, 1); dayMs < Date.UTC(toYear, 0, 1); dayMs += DAY_MS) {
    const [before, after] = [dayMs, dayMs + DAY_MS].map((at) => wallClock(timeZone, at));
    if (Date.parse(`${after}Z`) - Date.parse(`${before}Z`) !== DAY_MS) days.push(dayMs);
  }
  return days;
}

describe('cronFault', () => {
  test.each(['0 6 * * *', '0 3 * * 0', '*/15 8-18 1,15 jan-jun mon', '5/10 * * * *'])(
    'accepts %s',
    (expression) => {
      expect(cronFault(expression)).toBeNull();
    },
  );

  test.each([
    '',
    '0 6 * *',
    '0 0 6 * * *',
    '0 24 * * *',
    '0 6 * * 8',
    '*/0 6 * * *',
    '0 6 30 2 *',
    '0 6 31 2,4 *',
  ])('objects to %j', (expression) => {
    expect(cronFault(expression)).toContain('a cron expression of five fields');
  });
});

test('the slot before the latest is the one that came due before it', () => {
  const before = (expression: string, now: string) =>
    slotBefore(expression, 'America/Sao_Paulo', new Date(now)).toISOString();
  expect(before('0 3 * * 0', '2026-03-11T09:00:00Z')).toBe('2026-03-01T06:00:00.000Z');
  // At the very instant of a slot, that slot is the latest.
  expect(before('0 3 * * 0', '2026-03-08T06:00:00Z')).toBe('2026-03-01T06:00:00.000Z');
  expect(before('0 3 * * 0', '2026-03-08T05:59:59Z')).toBe('2026-02-22T06:00:00.000Z');
});
