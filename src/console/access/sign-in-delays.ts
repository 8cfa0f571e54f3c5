/** The first tries have no delay, because people mistype. */
const FREE_TRIES = 4;
const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 60_000;
/** Counted from the end of the delay. */
const FORGOTTEN_AFTER_MS = 15 * 60_000;
const MAX_KEYS = 10_000;

export interface SignInDelays {
  /** @returns the delay in seconds; 0: the try is allowed and is counted */
  begin(key: string): number;
  /** Forgets the earlier tries. */
  succeed(key: string): void;
}

/**
 * Delays repeated tries for one user from one address: one second after the free tries, then twice
 * as long after each try, up to a minute. The same user at another address has no delay.
 */
export function createSignInDelays(now: () => number = Date.now): SignInDelays {
  /** In the order of use: the most recently used key is last. */
  const tried = new Map<string, { readonly tries: number; readonly until: number }>();
  return {
    begin(key) {
      const at = now();
      const { tries, until } = tried.get(key) ?? { tries: 0, until: 0 };
      if (until > at) return Math.ceil((until - at) / 1000);
      const count = until + FORGOTTEN_AFTER_MS > at ? tries + 1 : 1;
      const delay =
        count < FREE_TRIES ? 0 : Math.min(FIRST_DELAY_MS * 2 ** (count - FREE_TRIES), MAX_DELAY_MS);
      tried.delete(key);
      tried.set(key, { tries: count, until: at + delay });
      if (tried.size > MAX_KEYS) tried.delete(tried.keys().next().value ?? '');
      return 0;
    },
    succeed(key) {
      tried.delete(key);
    },
  };
}
