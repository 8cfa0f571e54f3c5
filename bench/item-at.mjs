/**
 * The item of a list that is known to have it.
 *
 * @template T
 * @param {ArrayLike<T>} items
 * @param {number} index from 0; from the end where it is negative
 * @returns {T}
 * @throws RangeError when the list is shorter
 */
export function itemAt(items, index) {
  const item = items[index < 0 ? items.length + index : index];
  if (item === undefined) throw new RangeError(`no item ${index} in a list of ${items.length}`);
  return item;
}
