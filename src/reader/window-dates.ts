import { type CivilDate, parseCivilDate } from '../domain/business-day.ts';
import { isInWindow, type PullWindow } from '../domain/plan/pull-plan.ts';
import { toDateValue } from './binary-row.ts';

/** The titles of a date have due dates within a few months. */
const MAX_KNOWN_DATES = 4096;

interface KnownDate {
  readonly date: CivilDate;
  readonly value: number;
}

/**
 * Checks the dates of a response's titles and gives their values in rows. Each date is parsed once, because a
 * response has few dates and parsing one takes longer than reading its digits. A day is given by its eight
 * digits as a number: 20260302.
 */
export class WindowDates {
  readonly #window: PullWindow;
  /** Null: the day does not exist. */
  readonly #known = new Map<number, KnownDate | null>();
  #acceptedDay = -1;
  #accepted: KnownDate | null = null;

  constructor(window: PullWindow) {
    this.#window = window;
  }

  /** The date of the last successful `accept`; null: there was none. */
  get acceptedDate(): CivilDate | null {
    return this.#accepted?.date ?? null;
  }

  /** Returns the value of the day; null: the day does not exist in the calendar. */
  valueOf(day: number): number | null {
    return this.#find(day)?.value ?? null;
  }

  /** Like `valueOf`; null also for a day outside the window. */
  accept(day: number): number | null {
    if (day !== this.#acceptedDay) {
      const known = this.#find(day);
      if (known === null || !isInWindow(this.#window, known.date)) return null;
      this.#acceptedDay = day;
      this.#accepted = known;
    }
    return this.#accepted?.value ?? null;
  }

  #find(day: number): KnownDate | null {
    let known = this.#known.get(day);
    if (known === undefined) {
      if (this.#known.size >= MAX_KNOWN_DATES) this.#known.clear();
      const date = parseCivilDate(
        String(day)
          .padStart(8, '0')
          .replace(/(\d\d)(\d\d)$/, '-$1-$2'),
      );
      known = date === null ? null : { date, value: toDateValue(date) };
      this.#known.set(day, known);
    }
    return known;
  }
}
