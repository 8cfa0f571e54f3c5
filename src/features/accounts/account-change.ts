import type { CivilDate } from '../../base/values/business-day.ts';
import { contradicts, mayBeSameAccount, NO_ACCOUNT_FORM } from './bank-account.ts';

/** An account that a party had before the merge. The times are texts that sort in time order. */
export interface KnownAccount {
  readonly accountHash: string;
  readonly normalForm: string;
  /** The latest accepted date of a title that named it. */
  readonly lastAcceptedDate: CivilDate;
  readonly lastSeenAt: string;
  /** Whether its newest change was confirmed, or there is none: the first account of a party. */
  readonly isAccepted: boolean;
  /** When a person last confirmed a change to it; null: never. */
  readonly confirmedAt: string | null;
  /** When a person last confirmed that another account replaces it; null: never. */
  readonly replacedAt: string | null;
  /** The accepted date of the title that named the other account; null: not replaced. */
  readonly replacedOn: CivilDate | null;
}

export interface SeenAccount {
  readonly accountHash: string;
  readonly normalForm: string;
  /** Whether the merge restated an existing title to this account. */
  readonly isRestated: boolean;
}

/**
 * Compares the bank accounts that the titles of one accepted date name with those of the party. The order of the
 * titles does not affect the result.
 *
 * Accepted are the first account of a party and each account that a person confirmed. A change is 1. an account that
 * is not accepted, whatever the date of its title; 2. an account that a confirmed one replaced, in a title that is
 * newer than the replacement or was restated to it; 3. a title without an account, where the party had one. A late
 * title of an old date, with the account of that time, is not a change.
 * @returns the hashes of the accounts of each change, and of the accepted accounts that the titles name
 */
export function compareAccounts(
  date: CivilDate,
  known: readonly KnownAccount[],
  seen: readonly SeenAccount[],
) {
  const accepted = known.filter((account) => account.isAccepted && !isGap(account, known));
  const first = known.some(hasAccount) ? undefined : firstOf(seen.filter(hasAccount));
  const before = newestOf(accepted) ?? newestOf(known) ?? first;
  const changes: { readonly before: string; readonly after: string }[] = [];
  const named = new Set<string>();
  for (const account of seen) {
    const same = sameAccounts(account, accepted, seen);
    const isFirst =
      !known.some(hasAccount) &&
      (first === undefined || !hasAccount(account) || isOneAccount(account, first, seen));
    if (isFirst || (same.length > 0 && !isReturn(same, date, account.isRestated))) {
      for (const { accountHash } of same) named.add(accountHash);
    } else if (before !== undefined && before.accountHash !== account.accountHash) {
      changes.push({ before: before.accountHash, after: account.accountHash });
    }
  }
  return { changes, named: [...named] };
}

type Account = Pick<SeenAccount, 'accountHash' | 'normalForm'>;

const hasAccount = ({ normalForm }: Account): boolean => normalForm !== NO_ACCOUNT_FORM;
/**
 * Whether an entry stands for titles without an account that are all older than an account. A party may also have
 * titles with and without one, or a person confirmed that it has none.
 */
const isGap = (entry: KnownAccount, known: readonly KnownAccount[]): boolean =>
  !hasAccount(entry) &&
  entry.confirmedAt === null &&
  known.some((account) => hasAccount(account) && account.lastAcceptedDate > entry.lastAcceptedDate);
const firstOf = (accounts: readonly Account[]): Account | undefined =>
  [...accounts].sort((a, b) => (a.accountHash < b.accountHash ? -1 : 1))[0];

/** The accepted accounts that a title means: with its own form, or with a form that states less or more of it. */
function sameAccounts(
  account: Account,
  accepted: readonly KnownAccount[],
  seen: readonly SeenAccount[],
): readonly KnownAccount[] {
  const isKnown = accepted.some(({ accountHash }) => accountHash === account.accountHash);
  const isUnclear = [...accepted, ...seen].some(({ normalForm }) =>
    contradicts(normalForm, account.normalForm),
  );
  if (isUnclear && !isKnown) return [];
  return accepted.filter(({ normalForm }) => mayBeSameAccount(normalForm, account.normalForm));
}

function isOneAccount(account: Account, first: Account, seen: readonly SeenAccount[]): boolean {
  if (account.accountHash === first.accountHash) return true;
  return (
    mayBeSameAccount(account.normalForm, first.normalForm) &&
    !seen.some(({ normalForm }) => contradicts(normalForm, account.normalForm))
  );
}

/** Whether a title returns to an account after a person confirmed that another one replaces it. */
function isReturn(same: readonly KnownAccount[], date: CivilDate, isRestated: boolean): boolean {
  const replaced = [...same].sort((a, b) => compareTexts(b.replacedAt, a.replacedAt))[0];
  const confirmed = [...same].sort((a, b) => compareTexts(b.confirmedAt, a.confirmedAt))[0];
  if (replaced?.replacedOn == null) return false;
  if (compareTexts(confirmed?.confirmedAt ?? null, replaced.replacedAt) > 0) return false;
  return isRestated || date > replaced.replacedOn;
}

/** The account that the party has: one that is not replaced, of the latest accepted date. */
function newestOf(accounts: readonly KnownAccount[]): KnownAccount | undefined {
  const isReplaced = ({ replacedAt, confirmedAt }: KnownAccount) =>
    compareTexts(replacedAt, confirmedAt) > 0;
  return [...accounts].sort(
    (a, b) =>
      Number(isReplaced(a)) - Number(isReplaced(b)) ||
      compareTexts(b.lastAcceptedDate, a.lastAcceptedDate) ||
      compareTexts(b.lastSeenAt, a.lastSeenAt) ||
      compareTexts(a.accountHash, b.accountHash),
  )[0];
}

/** Null is before every text. */
function compareTexts(a: string | null, b: string | null): number {
  const [one, other] = [a ?? '', b ?? ''];
  return one === other ? 0 : one < other ? -1 : 1;
}
