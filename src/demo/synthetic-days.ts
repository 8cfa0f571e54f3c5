import {
  addDays,
  type CivilDate,
  dateIn,
  daysBetween,
  toCivilDate,
} from '../base/values/business-day.ts';
import type { SyntheticTitles } from './synthetic-titles.ts';

/** The platform's time zone, for "today" and the age of a day. */
const PLATFORM_TIME_ZONE = 'America/Sao_Paulo';

/** No titles exist before this date, so that a sweep from the year 1 ends. */
export const FIRST_SYNTHETIC_DATE = toCivilDate('2020-01-01');

/** Titles by accepted date, as JSON texts. */
export interface Days {
  /** Returns the titles accepted on the date. */
  titlesOn(date: CivilDate): Iterable<string>;
  /** Returns the titles accepted on the date or later, date by date. */
  titlesSince(date: CivilDate): Iterable<string>;
}

/** Synthetic titles from `FIRST_SYNTHETIC_DATE` to today. */
export class SyntheticDays implements Days {
  readonly #titles: SyntheticTitles;
  readonly #now: () => Date;

  constructor(titles: SyntheticTitles, now: () => Date) {
    this.#titles = titles;
    this.#now = now;
  }

  get today(): CivilDate {
    return dateIn(PLATFORM_TIME_ZONE, this.#now());
  }

  titlesOn(date: CivilDate): Iterable<string> {
    const ageDays = daysBetween(date, this.today);
    const isCovered = ageDays >= 0 && date >= FIRST_SYNTHETIC_DATE;
    return isCovered ? this.#titles.titlesOn(date, ageDays) : [];
  }

  *titlesSince(date: CivilDate): Generator<string, void> {
    const { today } = this;
    let next = date > FIRST_SYNTHETIC_DATE ? date : FIRST_SYNTHETIC_DATE;
    for (; next <= today; next = addDays(next, 1)) yield* this.titlesOn(next);
  }
}
