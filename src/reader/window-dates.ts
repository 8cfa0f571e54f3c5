import { type CivilDate, parseCivilDate } from '../domain/business-day.ts';
import { isInWindow, type PullWindow } from '../domain/pull-plan.ts';

/** The due dates of a day's titles are those of a few months. */
const MAX_KNOWN_DATES = 4096;

/**
 * The dates of one answer's titles, each looked at once: they are few, and asking the calendar takes
 * longer than reading the digits. A day is its eight digits as one number, 20260302.
 */
export class WindowDates {
  readonly #window: PullWindow;
  readonly #known = new Map<number, CivilDate | null>();
  #acceptedDay = -1;
  #acceptedDate: CivilDate | null = null;

  constructor(window: PullWindow) {
    this.#window = window;
  }

  /** The day that was accepted last; null: none was. */
  get acceptedDate(): CivilDate | null {
    return this.#acceptedDate;
  }

  /** Whether there is such a day. */
  has(day: number): boolean {
    return this.#find(day) !== null;
  }

  /** Whether there is such a day, and the window holds it. */
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
