import type { CivilDate } from '../business-day.ts';
import type { Alert } from './alert.ts';
import { countPt, listDates, sumOf } from './dated-alerts.ts';

export interface RefusedProviders {
  /** The date on which the ERP wrote the rows, in the configured time zone. */
  readonly writtenDate: CivilDate;
  /** Rejected by the platform. */
  readonly rejected: number;
  /** Found invalid by the check before the request. */
  readonly invalid: number;
}

/** @returns null: no provider is refused */
export function refusedProvidersAlert(refused: readonly RefusedProviders[]): Alert | null {
  if (refused.length === 0) return null;
  const dates = refused.map(({ writtenDate }) => writtenDate);
  const rejected = sumOf(refused, (date) => date.rejected);
  const invalid = sumOf(refused, (date) => date.invalid);
  const parts = [
    ...(rejected > 0 ? [`${rejected} rejected by the platform`] : []),
    ...(invalid > 0 ? [`${invalid} invalid and not sent`] : []),
  ];
  const partsPt = [
    ...(rejected > 0
      ? [`${countPt(rejected, 'foi recusado', 'foram recusados')} pela plataforma`]
      : []),
    ...(invalid > 0
      ? [countPt(invalid, 'é inválido e não foi enviado', 'são inválidos e não foram enviados')]
      : []),
  ];
  return {
    kind: 'provider_rejected',
    dedupeKey: 'provider_rejected',
    message: `of the providers written on ${listDates(dates, 'en')}, ${parts.join(', ')}`,
    messagePt: `dos fornecedores gravados em ${listDates(dates, 'pt-BR')}, ${partsPt.join(', ')}`,
    // Not an accepted date: the alert concerns no day of the ledger.
    date: null,
    pullId: null,
  };
}

export interface FailingPush {
  readonly pending: number;
  /** Of the last failure; null: no request has failed since the last decision. */
  readonly errorCode: string | null;
}

/** How long pushing may fail before an alert is raised. */
export const PUSH_FAILING_MINUTES = 60;

/** The time that providers may wait while none is accepted or refused, for any cause. */
export const PUSH_OVERDUE_HOURS = 2;

export function failingPushAlert({ pending, errorCode }: FailingPush): Alert {
  const providers = `${pending} ${pending === 1 ? 'provider waits' : 'providers wait'}`;
  const providersPt = countPt(pending, 'fornecedor aguarda', 'fornecedores aguardam');
  return {
    kind: 'push_failing',
    dedupeKey: 'push_failing',
    message:
      errorCode === null
        ? `no provider was accepted or refused for over ${PUSH_OVERDUE_HOURS} hours, ${providers}`
        : `pushing has failed for over an hour (${errorCode}), ${providers}`,
    messagePt:
      errorCode === null
        ? `há mais de ${PUSH_OVERDUE_HOURS} horas a plataforma não aceita nem recusa nenhum fornecedor; ${providersPt}`
        : `o envio de fornecedores falha há mais de uma hora (${errorCode}); ${providersPt}`,
    date: null,
    pullId: null,
  };
}

export interface ChangedAccounts {
  /** The pull that received the titles. */
  readonly pullId: bigint;
  readonly changes: number;
  /** The accepted date of the titles; null: they have several. */
  readonly acceptedDate: CivilDate | null;
}

/**
 * Raises one alert for each pull, so that a new change is reported at once while older ones are open. The change
 * of a party is recorded once, by the first pull that has it, so one cause is one alert here too.
 */
export function changedAccountsAlert({ pullId, changes, acceptedDate }: ChangedAccounts): Alert {
  const parties = changes === 1 ? '1 party' : `${changes} parties`;
  return {
    kind: 'account_changed',
    dedupeKey: `account_changed:${pullId}`,
    message: `titles of pull ${pullId} name another bank account than before for ${parties}`,
    messagePt: `títulos da busca ${pullId} trazem uma conta bancária diferente da anterior para ${countPt(changes, 'parte', 'partes')}`,
    date: acceptedDate,
    pullId,
  };
}
