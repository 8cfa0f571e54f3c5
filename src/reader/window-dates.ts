import { type CivilDate, parseCivilDate } from '../domain/business-day.ts';
import { isInWindow, type PullWindow } from '../domain/plan/pull-plan.ts';

/** The titles of a date have due dates within a few months. */
const MAX_KNOWN_DATES = 4096;

/**
 * Checks the dates of a response's titles. Each date is parsed once, because a response has few dates and
 * parsing one takes longer than reading its digits. A day is given by its eight digits as a number: 20260302.
 */
export class WindowDates {
  readonly #window: PullWindow;
  readonly #known = new Map<number, CivilDate | null>();
  #acceptedDay = -1;
  #acceptedDate: CivilDate | null = null;

  constructor(window: PullWindow) {
    this.#window = window;
  }

  /** The date of the last successful `accept`; null: there was none. */
  get acceptedDate(): CivilDate | null {
    return this.#acceptedDate;
  }

  /** Whether the day exists in the calendar. */
  has(day: number): boolean {
    return this.#find(day) !== null;
  }

  /** Whether the day exists in the calendar and lies within the window. */
  accept(day: number): boolean {
    if (day === this.#acceptedDay) return true;
    const date = this.#find(day);
    if (date === null || !isInWindow(this.#window, date)) return false;
    this.#acceptedDay = day;
    this.#acceptedDate = date;
    return true;
  }

  #find(day: number): CivilDate | null {
    let date = this.#known.get(day);
    if (date === undefined) {
      if (this.#known.size >= MAX_KNOWN_DATES) this.#known.clear();
      date = parseCivilDate(
        String(day)
          .padStart(8, '0')
          .replace(/(\d\d)(\d\d)$/, '-$1-$2'),
      );
      this.#known.set(day, date);
    }
    return date;
  }
}
