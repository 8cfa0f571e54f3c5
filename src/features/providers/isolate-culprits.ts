/** `taken`: nothing of the request is left to decide. `refused`: a part of it is wrong. */
export type Verdict = 'taken' | 'refused';

/**
 * Sends all items in one request. If that is refused, sends halves, until each faulty item was sent
 * alone. One faulty item among `n` costs at most 2·⌈log₂ n⌉ further requests; fewer if the first of
 * two halves is taken, because the second then contains it and is halved without a request. A wrong
 * guess has no effect on the result: an item is judged only by its own request. A platform that
 * refuses a request for another reason costs additional requests.
 */
export async function isolateCulprits<T>(
  items: readonly T[],
  ask: (items: readonly T[]) => Promise<Verdict>,
): Promise<void> {
  await decide(items, false, ask);
}

async function decide<T>(
  items: readonly T[],
  hasCulprit: boolean,
  ask: (items: readonly T[]) => Promise<Verdict>,
): Promise<Verdict> {
  if (items.length === 0) return 'taken';
  const isAsked = !hasCulprit || items.length === 1;
  if (isAsked && (await ask(items)) === 'taken') return 'taken';
  if (items.length === 1) return 'refused';
  const half = Math.ceil(items.length / 2);
  const first = await decide(items.slice(0, half), false, ask);
  await decide(items.slice(half), first === 'taken', ask);
  return 'refused';
}
