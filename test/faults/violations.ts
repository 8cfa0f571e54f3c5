/** The guarantees by number, as docs/guarantees.md lists them. */
export type Guarantee = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 9;

export interface Violation {
  readonly guarantee: Guarantee | 'harness';
  readonly what: string;
}

/** Gathers what is found, each thing once: what is broken stays broken at every look. */
export class Violations {
  readonly #found = new Map<string, Violation>();

  add(guarantee: Violation['guarantee'], what: string): void {
    this.#found.set(`${guarantee} ${what}`, { guarantee, what });
  }

  get found(): readonly Violation[] {
    return [...this.#found.values()];
  }
}
