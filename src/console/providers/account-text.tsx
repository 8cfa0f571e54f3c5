import type { BankAccount } from '../../accounts/account-changes.sql.ts';
import { maskAccount } from '../shell/masking.ts';
import { usePage } from '../shell/page-context.ts';

/** Number and check digit, masked unless the reader asked for them on the record. */
export function accountNumber(
  number: string | null,
  digit: string | null,
  isRevealed: boolean,
): string {
  if (number === null) return '–';
  if (!isRevealed) return maskAccount(number);
  return digit === null || digit === '' ? number : `${number}-${digit}`;
}

/** A bank account in one line. */
export function AccountText(props: {
  readonly account: BankAccount;
  readonly isRevealed: boolean;
}) {
  const { text } = usePage();
  const { account, isRevealed } = props;
  const { providers } = text;
  return (
    <>
      {providers.bank} {account.bank ?? '–'}, {providers.agency}{' '}
      {accountNumber(account.agency, account.agencyDigit, isRevealed)}, {providers.account}{' '}
      {accountNumber(account.account, account.accountDigit, isRevealed)}
    </>
  );
}
