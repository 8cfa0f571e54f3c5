/** Zones whose clocks change at midnight, by half an hour, by a day, during Ramadan, or never. */
export const TIME_ZONES = [
  ...'America/Sao_Paulo America/Santiago America/New_York America/St_Johns America/Nuuk'.split(' '),
  ...'Europe/Lisbon Africa/Cairo Africa/Casablanca Asia/Beirut Asia/Kolkata'.split(' '),
  ...'Australia/Lord_Howe Pacific/Apia'.split(' '),
];

const formats = new Map<string, Intl.DateTimeFormat>();

/** The time of the wall clock, such as `2018-11-04 01:00`: text order is the order of readings. */
export function wallClock(timeZone: string, atMs: number): string {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  formats.set(timeZone, format);
  return format.format(atMs);
}
