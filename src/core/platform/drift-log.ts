import type { DriftItem } from '../title/title-extra.ts';

/** A real change of the interface has a few items. */
export const MAX_DRIFT_ITEMS = 1000;

/** The items of one pull beyond the documented interface: every item once, at most 1,000. */
export class DriftLog {
  readonly #items = new Map<string, DriftItem>();

  add(items: readonly DriftItem[]): void {
    for (const item of items) {
      if (this.#items.size >= MAX_DRIFT_ITEMS) return;
      // U+0000 cannot occur in an item, so no two items share a key.
      const key = `${item.kind}\u0000${item.path}\u0000${item.value}`;
      if (!this.#items.has(key)) this.#items.set(key, item);
    }
  }

  items(): DriftItem[] {
    return [...this.#items.values()];
  }
}
