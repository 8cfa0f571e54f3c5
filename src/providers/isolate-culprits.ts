/** `taken`: nothing of the request is left to decide. `refused`: something in it is wrong. */
export type Verdict = 'taken' | 'refused';

/**
 * Asks for all items at once and, where that is refused, for halves, until each culprit was asked for
 * alone. A culprit among `n` items costs at most 2·⌈log₂ n⌉ requests after the first, and fewer where
 * the first of two halves is taken: then the culprit is known to be in the second, which is halved
 * without asking.
 *
 * Nothing rests on that guess being right. Items are only ever asked for, never judged unasked, so a
 * platform that refuses a request for another reason costs requests and no item its verdict.
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
