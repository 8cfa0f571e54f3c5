import type { CivilDate } from '../domain/business-day.ts';

/** A reading of a wall clock: a date and a time of day. */
export interface WallTime {
  readonly date: CivilDate;
  readonly hour: number;
  readonly minute: number;
}

const DAY_MS = 86_400_000;

/**
 * The first instant at which the wall clock in `timeZone` (IANA name) has reached `time`. A time that
 * the clock jumps over is reached at the jump; one that it shows twice is reached the first time. So
 * later times are never reached earlier, and every time is reached exactly once.
 */
export function reachedAt(timeZone: string, time: WallTime): Date {
  const wallMs = toWallMs(time);
  // An offset is at most 14 hours, so these two enclose every instant the reading may stand for, and
  // at most one change of the clock.
  const [beforeMs, afterMs] = [wallMs - DAY_MS, wallMs + DAY_MS];
  const [offsetBefore, offsetAfter] = [offsetMs(timeZone, beforeMs), offsetMs(timeZone, afterMs)];
  if (offsetBefore === offsetAfter) return new Date(wallMs - offsetBefore);

  const changeMs = findChange(timeZone, beforeMs, afterMs);
  const byOldClockMs = wallMs - offsetBefore;
  return new Date(
    byOldClockMs < changeMs ? byOldClockMs : Math.max(changeMs, wallMs - offsetAfter),
  );
}

/** The reading as if the clock were in UTC. */
function toWallMs({ date, hour, minute }: WallTime): number {
  const twoDigits = (value: number) => String(value).padStart(2, '0');
  return Date.parse(`${date}T${twoDigits(hour)}:${twoDigits(minute)}:00Z`);
}

/** The first millisecond after `fromMs` at which the offset is no longer that of `fromMs`. */
function findChange(timeZone: string, fromMs: number, toMs: number): number {
  const oldOffset = offsetMs(timeZone, fromMs);
  let [old, changed] = [fromMs, toMs];
  while (changed - old > 1) {
    const middle = Math.floor((old + changed) / 2);
    if (offsetMs(timeZone, middle) === oldOffset) old = middle;
    else changed = middle;
  }
  return changed;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** How far the wall clock is ahead of UTC. */
function offsetMs(timeZone: string, atMs: number): number {
  const format = formats.get(timeZone) ?? createFormat(timeZone);
  formats.set(timeZone, format);
  const parts = new Map(
    format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)] as const),
  );
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  const wallMs = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  );
  return wallMs - Math.floor(atMs / 1000) * 1000;
}

function createFormat(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
}
