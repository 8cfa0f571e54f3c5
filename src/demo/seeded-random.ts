/** Odd, so that `index * GOLDEN_RATIO` yields every 32-bit number once before it repeats. */
export const GOLDEN_RATIO = 0x9e3779b1;

/** Mixes 32 bits. A bijection (the finaliser of MurmurHash3), so distinct inputs have distinct results. */
export function mixBits(bits: number): number {
  let mixed = bits ^ (bits >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** Returns the same unsigned 32 bits for the same text on every machine. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return mixBits(hash);
}

/** Returns integers from 0 to `limit - 1` in an order that depends only on the seed. */
export type SeededRandom = (limit: number) => number;

export function createSeededRandom(seed: string): SeededRandom {
  let state = hashText(seed);
  return (limit) => {
    state = (state + GOLDEN_RATIO) | 0;
    return mixBits(state) % limit;
  };
}

/** Returns one of `choices`, which must not be empty. */
export function pick<T>(choices: readonly [T, ...T[]], draw: number): T {
  return choices[draw % choices.length] ?? choices[0];
}
