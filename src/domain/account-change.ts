import type { CivilDate } from './business-day.ts';

/** An account that a party had before the merge. */
export interface KnownAccount {
  readonly accountHash: string;
  /** The latest accepted date of a title that named it. */
  readonly lastAcceptedDate: CivilDate;
  readonly lastSeenAt: Date;
}

/** An account in the titles of the merge. */
export interface SeenAccount {
  readonly accountHash: string;
  /** Whether the merge restated an existing title to this account. */
  readonly isRestated: boolean;
}

export interface FoundChange {
  readonly before: string;
  readonly after: string;
}

/**
 * Returns the changes of a party's bank account that the titles of one accepted date cause. The account last
 * seen is the known one with the latest accepted date; without a known one, it is one of the titles'
 * accounts. The order of the titles does not affect the result. A change is 1. an account that the party never had, whatever the date of its title; 2. an account
 * that it had before, in a title newer than all titles of the account last seen; 3. an account to which a
 * title was restated. A late title of an old date, with the account of that time, is not a change.
 */
export function findAccountChanges(
  date: CivilDate,
  known: readonly KnownAccount[],
  seen: readonly SeenAccount[],
): FoundChange[] {
  const last = [...known].sort(byLastSeen)[0];
  const before = last?.accountHash ?? seen.map(({ accountHash }) => accountHash).sort()[0];
  if (before === undefined) return [];
  const isNamedAgain = seen.some(({ accountHash }) => accountHash === before);
  const isNewer = last !== undefined && !isNamedAgain && date > last.lastAcceptedDate;
  return seen
    .filter(({ accountHash, isRestated }) => {
      if (accountHash === before) return false;
      const isKnown = known.some((account) => account.accountHash === accountHash);
      return !isKnown || isRestated || isNewer;
    })
    .map(({ accountHash }) => ({ before, after: accountHash }));
}

function byLastSeen(a: KnownAccount, b: KnownAccount): number {
  if (a.lastAcceptedDate !== b.lastAcceptedDate) {
    return a.lastAcceptedDate < b.lastAcceptedDate ? 1 : -1;
  }
  const seenMs = b.lastSeenAt.getTime() - a.lastSeenAt.getTime();
  return seenMs !== 0 ? seenMs : a.accountHash < b.accountHash ? -1 : 1;
}
