import type { Words } from '../../../console/list/columns.tsx';
import { MASKED } from '../../../console/shell/masking.ts';
import type { BankAccount } from '../../../core/title/promoted-fields.ts';

/** Number and check digit, unless the digit is masked. */
export function accountNumber(number: string | null, digit: string | null): string {
  if (number === null) return '–';
  return digit === null || digit === '' || digit === MASKED ? number : `${number}-${digit}`;
}

/** The members of an account beside its number, such as a Pix key; null: none. */
export const destinationText = ({ destination }: BankAccount): string | null =>
  destination &&
  Object.entries(destination)
    .map(([member, value]) => `${member} ${value}`)
    .join(', ');

export function accountText(stated: BankAccount, { text }: Pick<Words, 'text'>): string {
  const { bank, agency, agencyDigit, account, accountDigit } = stated;
  const destination = destinationText(stated);
  const isStated = [bank, agency, agencyDigit, account, accountDigit].some(
    (value) => value !== null,
  );
  if (!isStated && destination === null) return text('providers.noAccount');
  const numbers = [
    `${text('providers.bank')} ${bank ?? '–'}`,
    `${text('providers.agency')} ${accountNumber(agency, agencyDigit)}`,
    `${text('providers.account')} ${accountNumber(account, accountDigit)}`,
  ];
  return [...(isStated ? numbers : []), ...(destination ? [destination] : [])].join(', ');
}
