import { addDays, type CivilDate, daysBetween } from '../../../src/base/values/business-day.ts';
import { type Days, FIRST_SYNTHETIC_DATE, SyntheticDays } from '../../../src/demo/sandbox.ts';
import type { SyntheticTitles } from '../../../src/demo/synthetic-titles.ts';

type DayOverride =
  | { readonly kind: 'titles'; readonly texts: readonly string[] }
  | { readonly kind: 'size'; readonly titleCount: number };

/** The synthetic titles of each date, unless the day was set. A day that was set may be any date. */
export class DayBook implements Days {
  readonly #synthetic: SyntheticTitles;
  readonly #days: SyntheticDays;
  readonly #overrides = new Map<CivilDate, DayOverride>();

  constructor(synthetic: SyntheticTitles, now: () => Date) {
    this.#synthetic = synthetic;
    this.#days = new SyntheticDays(synthetic, now);
  }

  /** Sets the titles of the day as JSON texts, which are sent unchanged; null: synthetic titles. */
  setTexts(date: CivilDate, texts: readonly string[] | null): void {
    this.#set(date, texts === null ? null : { kind: 'titles', texts: [...texts] });
  }

  /** Sets the number of synthetic titles of the day, before withdrawals with age; null: the usual number. */
  setSize(date: CivilDate, titleCount: number | null): void {
    this.#set(date, titleCount === null ? null : { kind: 'size', titleCount });
  }

  titlesOn(date: CivilDate): Iterable<string> {
    const override = this.#overrides.get(date);
    if (override?.kind === 'titles') return override.texts;
    if (override?.kind === 'size') {
      const ageDays = daysBetween(date, this.#days.today);
      return this.#synthetic.titlesOn(date, Math.max(ageDays, 0), override.titleCount);
    }
    return this.#days.titlesOn(date);
  }

  *titlesSince(date: CivilDate): Generator<string, void> {
    const { today } = this.#days;
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
