import { maskTaxId } from '../../../console/shell/masking.ts';
import { usePage } from '../../../console/shell/page-context.ts';
import { AccountText } from '../../accounts/pages/account-text.tsx';
import { providerHref } from '../../providers/pages/provider-address.ts';
import type { Payee } from '../read-schedule.sql.ts';

interface PayeeProps {
  readonly payee: Payee;
  /** Whether the reader asked for identifiers on the record. */
  readonly isRevealed: boolean;
}

/** The party to be paid: name, number in the ERP, tax identifier. */
export function PayeeName({ payee, isRevealed }: PayeeProps) {
  const { text } = usePage();
  const { kind, name, externalId, identification } = payee;
  if (kind === null) return <>{text('schedule.noPayee')}</>;
  const names = [name, identification === null ? null : shown(identification, isRevealed)];
  const stated = names.filter((part) => part !== null && part !== '');
  return (
    <>
      {externalId !== null && <a href={providerHref(externalId)}>{externalId}</a>}
      {externalId !== null && stated.length > 0 && ' · '}
      {stated.join(' · ')}
      {externalId === null && stated.length === 0 && text('schedule.noParty')}
    </>
  );
}

function shown(identification: string, isRevealed: boolean): string {
  // The pseudonym of an erased party names no person.
  return isRevealed || identification.startsWith('erased-')
    ? identification
    : maskTaxId(identification);
}

/** The account to be paid. */
export function PayeeAccount({ payee, isRevealed }: PayeeProps) {
  const { text } = usePage();
  const isStated = Object.values(payee.account).some((value) => value !== null);
  return isStated ? (
    <AccountText account={payee.account} isRevealed={isRevealed} />
  ) : (
    text('schedule.noAccount')
  );
}
