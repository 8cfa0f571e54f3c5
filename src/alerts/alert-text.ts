import type { AlertKind, AlertSeverity } from '../domain/alerts/alert.ts';

type Texts = Readonly<Record<AlertKind, string>>;

const kindsEn: Texts = {
  pull_failed: 'Pull failed',
  pull_overdue: 'Pulls overdue',
  sweep_stale: 'No complete sweep',
  sweep_differs: 'Sweep differs',
  day_held: 'Day held',
  day_attention: 'Rejected titles',
  findings_open: 'Findings to resolve',
  checkpoint_stale: 'Checkpoint does not advance',
  restated_after_sign_off: 'Restated after sign-off',
  booking_failed: 'Failed booking lines',
  booking_overdue: 'Overdue booking lines',
  booking_receipts: 'Receipts that do not fit',
  booking_waiting: 'Signed-off days not in the ERP',
  month_seal_broken: 'Month seal broken',
  titles_altered: 'Titles altered',
  verification_overdue: 'Titles not checked',
  provider_rejected: 'Provider refused',
  push_failing: 'Providers not sent',
  account_changed: 'Bank account changed',
  payables_stale: 'Payables are stale',
  paid_to_supplier: 'Urgent breaks with the ERP',
  contract_drift: 'Interface differs',
  platform_auth: 'No accepted token',
  clock_skew: 'Clock is wrong',
};

const kindsPt: Texts = {
  pull_failed: 'Falha na busca',
  pull_overdue: 'Buscas atrasadas',
  sweep_stale: 'Varredura não concluída',
  sweep_differs: 'Varredura divergente',
  day_held: 'Dia retido',
  day_attention: 'Títulos rejeitados',
  findings_open: 'Apontamentos a resolver',
  checkpoint_stale: 'Ponto de controle parado',
  restated_after_sign_off: 'Alterado depois do fechamento',
  booking_failed: 'Lançamentos com falha',
  booking_overdue: 'Lançamentos em atraso',
  booking_receipts: 'Retornos do ERP divergentes',
  booking_waiting: 'Dias fechados não contabilizados',
  month_seal_broken: 'Fechamento do mês invalidado',
  titles_altered: 'Títulos alterados por fora',
  verification_overdue: 'Títulos sem conferência',
  provider_rejected: 'Fornecedor recusado',
  push_failing: 'Fornecedores não enviados',
  account_changed: 'Conta bancária alterada',
  payables_stale: 'Contas a pagar desatualizadas',
  paid_to_supplier: 'Divergências urgentes com o ERP',
  contract_drift: 'Interface diferente',
  platform_auth: 'Sem token aceito',
  clock_skew: 'Relógio errado',
};

/** The next steps, as docs/runbook.md has them under "Do". */
const nextStepsEn: Texts = {
  pull_failed:
    'No action while the platform is unavailable, because the service pulls due dates again; for another error code, correct the cause and pull the dates.',
  pull_overdue:
    'Check that a process with the role worker runs, and look at /readyz and the log; restore the queue if it does not answer.',
  sweep_stale:
    'Run "conciliation status", and correct the cause of the error; the service makes up the missed sweep.',
  sweep_differs:
    'Ask the platform whether so many changes are intended, which dates the titles belong to, or which of the two answers is correct.',
  day_held:
    'Ask the platform whether the withdrawals are intended; if they are, release the pull, otherwise wait for a complete response.',
  day_attention:
    'Pull the date again when the platform has corrected the titles, or accept the rejects.',
  findings_open:
    'Compare the titles with the platform and the ERP; then resolve the findings with the reason, or ask for a corrected answer.',
  checkpoint_stale: 'Find the first missing date, and correct its state.',
  restated_after_sign_off: 'Review the changes and sign the day off again.',
  booking_failed: 'Correct the cause in the ERP. The ERP then posts the lines again.',
  booking_overdue:
    'Find out whether the ERP reads the feed and sends its receipts; start the program that reads the feed if it does not run.',
  booking_receipts:
    'Check in the ERP what was posted, then answer the receipts on the page Bookings.',
  booking_waiting:
    'See the reason on the page Bookings, and the log of the scheduler. Post the differences that the page offers in the ERP, and confirm them there.',
  month_seal_broken: 'Sign off the days that the message names, then seal the month again.',
  titles_altered:
    'Find out which user or program wrote to the database, then acknowledge the differences.',
  verification_overdue: 'Look for "a date was not verified" in the log, and correct the cause.',
  provider_rejected: 'Correct the providers in the ERP.',
  push_failing:
    'Look up the error code in the runbook; for PLATFORM_AUTH, ask the platform for the right to send providers.',
  account_changed:
    'Before the payment, call the party on a known number; then confirm or refuse the account.',
  payables_stale: 'Let the ERP send a snapshot, and correct the lines that were rejected.',
  paid_to_supplier:
    'Stop the second payment, or reclaim the first one, as the page of each break says; then resolve the break with the reason.',
  contract_drift: 'Ask the platform what the fields and values mean, then acknowledge them.',
  platform_auth: 'Replace the token.',
  clock_skew: 'Let NTP set the clocks of the process and of the database.',
};

const nextStepsPt: Texts = {
  pull_failed:
    'Com a plataforma fora do ar, nada: as datas previstas são buscadas de novo. Com outro código de erro, corrija a causa e busque as datas.',
  pull_overdue:
    'Confira se há um processo com o papel worker em execução e veja /readyz e o log; se a fila não responde, restabeleça-a.',
  sweep_stale:
    'Execute "conciliation status" e corrija a causa do erro; o serviço refaz a varredura que faltou.',
  sweep_differs:
    'Pergunte à plataforma se tantas alterações estão corretas, a que datas os títulos pertencem ou qual das duas respostas está certa.',
  day_held:
    'Pergunte à plataforma se os títulos foram mesmo retirados; se foram, libere a busca; se não, aguarde uma resposta mais completa.',
  day_attention:
    'Busque a data de novo quando a plataforma tiver corrigido os títulos, ou aceite os rejeitados.',
  findings_open:
    'Compare os títulos com a plataforma e com o ERP; depois resolva os apontamentos com o motivo, ou peça a correção à plataforma.',
  checkpoint_stale: 'Veja qual é a primeira data que falta e o que ela exige.',
  restated_after_sign_off: 'Confira as alterações e feche o dia de novo.',
  booking_failed: 'Corrija o motivo no ERP, que depois contabiliza de novo.',
  booking_overdue:
    'Verifique se o ERP lê os lançamentos e envia os retornos; se o programa que lê os lançamentos estiver parado, inicie-o.',
  booking_receipts:
    'Confira no ERP o que foi contabilizado; depois decida sobre os retornos na página Lançamentos.',
  booking_waiting:
    'Veja o motivo na página Lançamentos e o log do processo scheduler. Se a página mostrar diferenças, contabilize no ERP e confirme na mesma página.',
  month_seal_broken: 'Feche os dias que a mensagem cita; depois feche o mês de novo.',
  titles_altered:
    'Descubra quem ou o que gravou no banco de dados; depois confirme ciência das diferenças.',
  verification_overdue: 'Procure "a date was not verified" no log e corrija a causa.',
  provider_rejected: 'Corrija os fornecedores no ERP.',
  push_failing:
    'Procure o código de erro no runbook; com PLATFORM_AUTH, peça à plataforma o direito de enviar fornecedores.',
  account_changed:
    'Antes de pagar, ligue para a parte em um número que você já conhece; depois confirme ou recuse a conta.',
  payables_stale:
    'Envie do ERP uma nova posição das contas a pagar e corrija as linhas rejeitadas.',
  paid_to_supplier:
    'Suspenda o segundo pagamento ou peça a devolução do primeiro, como indica a página de cada divergência; depois resolva a divergência com o motivo.',
  contract_drift:
    'Pergunte à plataforma o que significam os campos e valores; depois confirme ciência.',
  platform_auth: 'Instale um novo token.',
  clock_skew: 'Acerte por NTP o relógio do processo e o do banco de dados.',
};

const en = {
  kinds: kindsEn,
  nextSteps: nextStepsEn,
  severities: { critical: 'Critical', warning: 'Warning' } as Readonly<
    Record<AlertSeverity, string>
  >,
  states: { updated: 'Still open', resolved: 'Resolved' },
  lasted: (from: string, until: string) => `Lasted from ${from} to ${until}.`,
  since: (from: string) => `Since ${from}.`,
  nextStep: (step: string) => `Next step: ${step}`,
  open: 'Open the page',
  digest: (date: string) => `Reconciliation on ${date}`,
};

const ptBR: typeof en = {
  kinds: kindsPt,
  nextSteps: nextStepsPt,
  severities: { critical: 'Crítico', warning: 'Atenção' },
  states: { updated: 'Continua em aberto', resolved: 'Resolvido' },
  lasted: (from, until) => `Durou de ${from} a ${until}.`,
  since: (from) => `Desde ${from}.`,
  nextStep: (step) => `Próximo passo: ${step}`,
  open: 'Abrir a página',
  digest: (date) => `Conciliação em ${date}`,
};

/** The texts of alerts and of the messages about alerts. */
export const ALERT_TEXTS = { en, 'pt-BR': ptBR };
