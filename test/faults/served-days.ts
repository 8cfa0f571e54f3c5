import type { CivilDate } from '../../src/base/values/business-day.ts';
import type { SeededRandom } from '../../src/demo/synthetic-titles.ts';
import type { Sandbox } from '../support/sandbox/sandbox.ts';
import { createTitle, digestOf, type PlatformTitle, restate } from './platform-titles.ts';

interface DayVersion {
  readonly titles: readonly PlatformTitle[];
  readonly digest: string;
}

/** Everything that the platform ever answered, date by date: what the checker compares with. */
export class ServedDays {
  readonly #sandbox: Sandbox;
  readonly #random: SeededRandom;
  readonly #versions = new Map<string, DayVersion[]>();
  #nextNumber = 0;

  constructor(sandbox: Sandbox, random: SeededRandom) {
    this.#sandbox = sandbox;
    this.#random = random;
  }

  get dates(): CivilDate[] {
    return [...this.#versions.keys()].sort() as CivilDate[];
  }

  /**
   * From now on the date is answered with so many new titles.
   *
   * @param parties begins the identifiers of providers and agents
   */
  begin(date: CivilDate, titleCount: number, parties = ''): void {
    const titles = Array.from({ length: titleCount }, () =>
      createTitle(this.#random, { date, parties }, this.#draw()),
    );
    this.#versions.set(date, []);
    this.#serve(date, titles);
  }

  /** From now on the date is answered with something else. */
  restate(date: CivilDate): void {
    const versions = this.#versions.get(date) ?? [];
    const current = versions.at(-1)?.titles ?? [];
    const served = new Set(current.map(({ json }) => json));
    const gone = versions.flatMap(({ titles }) => titles).filter(({ json }) => !served.has(json));
    this.#serve(date, restate(this.#random, current, gone, this.#draw()));
  }

  latest(date: CivilDate): DayVersion {
    const version = this.#versions.get(date)?.at(-1);
    if (version === undefined) throw new RangeError(`nothing is served for ${date}`);
    return version;
  }

  /** Which of the date's answers this is, from 0; -1: none of them. */
  versionOf(date: string, digest: string): number {
    return (this.#versions.get(date) ?? []).findIndex((version) => version.digest === digest);
  }

  #serve(date: CivilDate, titles: readonly PlatformTitle[]): void {
    const version = { titles, digest: digestOf(titles.map(({ row }) => row)) };
    // Known before it can be asked for: a reader may see it merged the moment after.
    this.#versions.set(date, [...(this.#versions.get(date) ?? []), version]);
    this.#sandbox.setDayTexts(
      date,
      titles.map(({ json }) => json),
    );
  }

  #draw(): number {
    this.#nextNumber += 1;
    return this.#nextNumber;
  }
}
