import {
  addDays,
  type CivilDate,
  dateIn,
  daysBetween,
  toCivilDate,
} from '../domain/business-day.ts';
import type { SyntheticTitles } from './synthetic-titles.ts';

/** The platform's time zone, for "today" and the age of a day. */
const PLATFORM_TIME_ZONE = 'America/Sao_Paulo';

/** No titles exist before this date, so that a sweep from the year 1 ends. */
export const FIRST_SYNTHETIC_DATE = toCivilDate('2020-01-01');

type DayOverride =
  | { readonly kind: 'titles'; readonly texts: readonly string[] }
  | { readonly kind: 'size'; readonly titleCount: number };

/**
 * The titles of each date: synthetic ones, unless the day was set. Synthetic titles exist from
 * `FIRST_SYNTHETIC_DATE` to today. A day that was set may be any date.
 */
export class DayBook {
  readonly #synthetic: SyntheticTitles;
  readonly #now: () => Date;
  readonly #overrides = new Map<CivilDate, DayOverride>();

  constructor(synthetic: SyntheticTitles, now: () => Date) {
    this.#synthetic = synthetic;
    this.#now = now;
  }

  get today(): CivilDate {
    return dateIn(PLATFORM_TIME_ZONE, this.#now());
  }

  /** Sets the titles of the day as JSON texts, which are sent unchanged; null: synthetic titles. */
  setTexts(date: CivilDate, texts: readonly string[] | null): void {
    this.#set(date, texts === null ? null : { kind: 'titles', texts: [...texts] });
  }

  /** Sets the number of synthetic titles of the day, before withdrawals with age; null: the usual number. */
  setSize(date: CivilDate, titleCount: number | null): void {
    this.#set(date, titleCount === null ? null : { kind: 'size', titleCount });
  }

  /** Returns the titles accepted on the date, as JSON texts. */
  titlesOn(date: CivilDate): Iterable<string> {
    const override = this.#overrides.get(date);
    if (override?.kind === 'titles') return override.texts;
    const ageDays = daysBetween(date, this.today);
    if (override?.kind === 'size') {
      return this.#synthetic.titlesOn(date, Math.max(ageDays, 0), override.titleCount);
    }
    const isCovered = ageDays >= 0 && date >= FIRST_SYNTHETIC_DATE;
    return isCovered ? this.#synthetic.titlesOn(date, ageDays) : [];
  }

  /** Returns the titles accepted on the date or later, as JSON texts, date by date. */
  *titlesSince(date: CivilDate): Generator<string, void> {
    const { today } = this;
    const setDates = [...this.#overrides.keys()].filter((set) => set >= date).sort();
    for (const early of setDates) if (early < FIRST_SYNTHETIC_DATE) yield* this.titlesOn(early);
    let next = date > FIRST_SYNTHETIC_DATE ? date : FIRST_SYNTHETIC_DATE;
    for (; next <= today; next = addDays(next, 1)) yield* this.titlesOn(next);
    for (const late of setDates) if (late > today) yield* this.titlesOn(late);
  }

  #set(date: CivilDate, override: DayOverride | null): void {
    if (override === null) this.#overrides.delete(date);
    else this.#overrides.set(date, override);
  }
}
