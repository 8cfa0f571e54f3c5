/** People mistype, so the first tries wait for nothing. */
const FREE_TRIES = 4;
const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 60_000;
/** After the end of its delay. */
const FORGOTTEN_AFTER_MS = 15 * 60_000;
const MAX_KEYS = 10_000;

export interface SignInDelays {
  /** @returns how many seconds to wait; 0: the try may go on, and counts from now on */
  begin(key: string): number;
  /** Forgets the tries before. */
  succeed(key: string): void;
}

/**
 * Makes whoever tries passwords of one user from one address wait: a second after the first tries, then
 * twice as long each time, up to a minute. Nobody else waits, the user at another address included.
 */
export function createSignInDelays(now: () => number = Date.now): SignInDelays {
  /** The key that was used last is the last one. */
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
