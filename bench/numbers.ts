/** The item of a list that is known to have it; a negative index counts from the end. */
export function itemAt<Item>(items: ArrayLike<Item>, index: number): Item {
  const item = items[index < 0 ? items.length + index : index];
  if (item === undefined) throw new RangeError(`no item ${index} in a list of ${items.length}`);
  return item;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = itemAt(sorted, middle);
  return sorted.length % 2 === 1 ? upper : (itemAt(sorted, middle - 1) + upper) / 2;
}

/** `20k` is 20,000 and `1M` is 1,000,000. */
export function toCount(text: string): number {
  const [, number = '0', unit = ''] = /^(\d+)([kM]?)$/.exec(text) ?? [];
  const count = Number(number) * (unit === 'M' ? 1e6 : unit === 'k' ? 1e3 : 1);
  if (count < 1) throw new Error(`${text} is not a number above 0, such as 500, 20k or 1M`);
  return count;
}
