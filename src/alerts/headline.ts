import type { Alert, AlertKind, AlertLanguage } from '../domain/alerts/alert.ts';
import { listDates } from '../domain/alerts/dated-alerts.ts';
import { addDays } from '../domain/business-day.ts';
import { NEEDS, type Need } from '../ledger/ledger-days.sql.ts';
import { ALERT_TEXTS } from './alert-text.ts';
import type { OpenItems } from './open-items.sql.ts';

/** The state of the ledger in words, the same in the console, in `conciliation status`, in the API and in the digest. */
export interface Headline {
  /** Whether nothing waits for a person. */
  readonly inOrder: boolean;
  readonly title: string;
  /** Sentences: the range of reconciled dates, its exceptions, and each open item. */
  readonly lines: readonly string[];
}

/** Alerts about something that a line of the headline counts already. */
const COUNTED_KINDS: readonly AlertKind[] = [
  'day_held',
  'day_attention',
  'findings_open',
  'restated_after_sign_off',
  'checkpoint_stale',
  'account_changed',
];

const en = {
  inOrder: 'Everything is in order',
  nothing: 'Nothing is reconciled yet',
  empty: 'The ledger is empty. The first pull begins it.',
  nothingYet: (start: string) => `No date is reconciled yet. The ledger begins on ${start}.`,
  days: (count: number) => `${count} ${count === 1 ? 'day needs' : 'days need'} a person`,
  toSign: (count: number) => `${count} to sign off`,
  behind: (count: number) => `${count} ${count === 1 ? 'day' : 'days'} behind`,
  others: (count: number) => `${count} other open ${count === 1 ? 'item' : 'items'}`,
  range: (start: string, last: string) => `Every date from ${start} to ${last} is reconciled.`,
  rangeExcept: (start: string, last: string, count: number) =>
    `Every date from ${start} to ${last} is reconciled, except ${count}.`,
  missing: (count: number, first: string) =>
    count === 1
      ? `1 later date is over and not reconciled: ${first}.`
      : `${count} later dates are over and not reconciled; the first is ${first}.`,
  need: {
    failed: 'Pull failed, all attempts spent',
    restated: 'Restated after the sign-off',
    held: 'Held, the newest response is not merged',
    attention: 'Rejected titles or findings to resolve',
    sign_off: 'Reconciled, not signed off',
  } as Readonly<Record<Need, string>>,
  count: (count: number, oldest: string) =>
    count === 1 ? oldest : `${count} days, the oldest ${oldest}`,
  accountChanges: (count: number) => `Bank account changes without a decision: ${count}.`,
  breaks: (count: number) => `Breaks with the payables of the ERP: ${count}.`,
  unmappedCompanies: (count: number) => `Companies of the ERP without a confirmed buyer: ${count}.`,
  more: (count: number) => `and ${count} more`,
  providersLocked:
    'The table of suppliers is locked by another session. Refused suppliers are not counted here.',
};

const ptBR: typeof en = {
  inOrder: 'Está tudo em ordem',
  nothing: 'Nada foi conciliado ainda',
  empty: 'Ainda não há dias. A primeira busca registra o primeiro.',
  nothingYet: (start) => `Nenhuma data foi conciliada ainda. O registro começa em ${start}.`,
  days: (count) => `${count} ${count === 1 ? 'dia' : 'dias'} com pendência`,
  toSign: (count) => `${count} a fechar`,
  behind: (count) => `${count} ${count === 1 ? 'dia' : 'dias'} de atraso`,
  others: (count) => `${count} ${count === 1 ? 'outra pendência' : 'outras pendências'}`,
  range: (start, last) => `Todas as datas de ${start} a ${last} estão conciliadas.`,
  rangeExcept: (start, last, count) =>
    `Todas as datas de ${start} a ${last} estão conciliadas, exceto ${count}.`,
  missing: (count, first) =>
    count === 1
      ? `1 data posterior já encerrada não foi conciliada: ${first}.`
      : `${count} datas posteriores já encerradas não foram conciliadas; a primeira é ${first}.`,
  need: {
    failed: 'Busca falhou, tentativas esgotadas',
    restated: 'Alterado depois do fechamento',
    held: 'Retido, a última resposta não foi incorporada',
    attention: 'Títulos rejeitados ou apontamentos a resolver',
    sign_off: 'Conciliado, sem fechamento',
  },
  count: (count, oldest) => (count === 1 ? oldest : `${count} dias, o mais antigo ${oldest}`),
  accountChanges: (count) => `Mudanças de conta bancária sem decisão: ${count}.`,
  breaks: (count) => `Divergências com as contas a pagar do ERP: ${count}.`,
  unmappedCompanies: (count) => `Empresas do ERP sem comprador confirmado: ${count}.`,
  more: (count) => `e mais ${count}`,
  providersLocked:
    'A tabela de fornecedores está bloqueada por outra sessão. Fornecedores recusados não estão nesta conta.',
};

const TEXTS = { en, 'pt-BR': ptBR };

/** Returns whether an item waits for a person. Days that only wait for a sign-off do not count. */
export function needsPerson(items: OpenItems): boolean {
  const { sign_off: _, ...urgent } = items.needs.counts;
  return (
    Object.values(urgent).some((count) => count > 0) ||
    items.accountChanges > 0 ||
    items.breaks > 0 ||
    items.unmappedCompanies > 0 ||
    items.alerts.length > 0
  );
}

export function headlineOf(items: OpenItems, language: AlertLanguage): Headline {
  const text = TEXTS[language];
  const { startDate, lastReconciledDate, lagDays, exceptions, needs, accountChanges, breaks } =
    items;
  const { unmappedCompanies } = items;
  const show = (date: NonNullable<typeof startDate>) => listDates([date], language);
  const others = alertLines(items.alerts, language);
  const { sign_off: toSign, ...urgent } = needs.counts;
  const days = Object.values(urgent).reduce((sum, count) => sum + count, 0);
  const otherItems =
    others.length +
    [accountChanges > 0, breaks > 0, unmappedCompanies > 0, !items.providersRead].filter(
      (isOpen) => isOpen,
    ).length;
  const parts = [
    ...(days > 0 ? [text.days(days)] : []),
    ...(toSign > 0 ? [text.toSign(toSign)] : []),
    ...(lagDays > 0 ? [text.behind(lagDays)] : []),
    ...(otherItems > 0 ? [text.others(otherItems)] : []),
  ];
  const inOrder = lastReconciledDate !== null && parts.length === 0;
  return {
    inOrder,
    title: inOrder ? text.inOrder : parts.join(' · ') || text.nothing,
    lines: [
      ...rangeLines(),
      ...NEEDS.flatMap((need) => {
        const oldest = needs.days.find((day) => day.need === need);
        if (oldest === undefined) return [];
        return `${text.need[need]}: ${text.count(needs.counts[need], show(oldest.date))}.`;
      }),
      ...(accountChanges > 0 ? [text.accountChanges(accountChanges)] : []),
      ...(breaks > 0 ? [text.breaks(breaks)] : []),
      ...(unmappedCompanies > 0 ? [text.unmappedCompanies(unmappedCompanies)] : []),
      ...others,
      ...(items.providersRead ? [] : [text.providersLocked]),
    ],
  };

  function rangeLines(): string[] {
    if (startDate === null) return [text.empty];
    if (lastReconciledDate === null) return [text.nothingYet(show(startDate))];
    const [start, last] = [show(startDate), show(lastReconciledDate)];
    return [
      exceptions === 0 ? text.range(start, last) : text.rangeExcept(start, last, exceptions),
      ...(lagDays > 0 ? [text.missing(lagDays, show(addDays(lastReconciledDate, 1)))] : []),
    ];
  }
}

/** One sentence for each kind: its first message, and the number of the others. */
function alertLines(alerts: readonly Alert[], language: AlertLanguage): string[] {
  const kinds = new Set(
    alerts.map(({ kind }) => kind).filter((kind) => !COUNTED_KINDS.includes(kind)),
  );
  return [...kinds].map((kind) => {
    const [first, ...rest] = alerts.filter((alert) => alert.kind === kind);
    const message = language === 'en' ? first?.message : first?.messagePt;
    const more = rest.length === 0 ? '' : `, ${TEXTS[language].more(rest.length)}`;
    return `${ALERT_TEXTS[language].kinds[kind]}: ${message}${more}.`;
  });
}
