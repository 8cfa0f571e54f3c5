import { maskAccount, maskBankAccount } from '../../../console/shell/masking.ts';
import { usePage } from '../../../console/shell/page-context.ts';
import type { BankAccount } from '../../../core/title/destination.ts';

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
  const { isRevealed } = props;
  const { bank, agency, agencyDigit, account, accountDigit, destination } = props.account;
  const isStated = [bank, agency, agencyDigit, account, accountDigit].some(
    (value) => value !== null,
  );
  if (!isStated && destination === null) return <>{text('providers.noAccount')}</>;
  const shown = isRevealed ? destination : maskBankAccount(props.account).destination;
  const members = Object.entries(shown ?? {}).map(([member, value]) => `${member} ${value}`);
  return (
    <>
      {isStated && (
        <>
          {text('providers.bank')} {bank ?? '–'}, {text('providers.agency')}{' '}
          {accountNumber(agency, agencyDigit, isRevealed)}, {text('providers.account')}{' '}
          {accountNumber(account, accountDigit, isRevealed)}
        </>
      )}
      {isStated && members.length > 0 && ', '}
      {members.join(', ')}
    </>
  );
}
