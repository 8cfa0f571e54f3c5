/** The values of a fault, formatted for the reader. */
type Values = Readonly<Record<string, string>>;

const en = {
  faults: {
    reason_missing: () => 'A reason is required.',
    reason_long: ({ max }: Values) => `A reason has at most ${max} characters.`,
    range_missing: () => 'Two dates are required: a first and a last one.',
    range_order: ({ from, to }: Values) => `The range ends on ${to}, before it begins on ${from}.`,
    range_future: ({ to, today }: Values) =>
      `The range ends on ${to}, which is in the future: today is ${today}.`,
    range_long: ({ days, max }: Values) =>
      `The range has ${days} dates. A backfill takes at most ${max} (ten years).`,
    concurrency: ({ max }: Values) =>
      `The number of dates at the same time is a whole number from 1 to ${max}.`,
    file_format: () => 'Choose one of the offered formats.',
    date_future: ({ date }: Values) => `${date} is in the future.`,
    not_in_ledger: ({ date }: Values) => `${date} is not in the ledger.`,
    not_signed_off: ({ date }: Values) => `${date} is not signed off.`,
    not_reconciled: ({ date }: Values) => `${date}: only a reconciled day can be signed off.`,
    already_signed_off: ({ date }: Values) => `${date} is signed off already.`,
    changed_meanwhile: ({ date }: Values) =>
      `${date} has changed since you looked at it. Look again, then sign it off.`,
    not_checked: ({ date }: Values) =>
      `The checks of ${date} have not run yet. Try again in a few seconds.`,
    no_findings: ({ date }: Values) => `${date} has no open finding of this check.`,
    payment_held: ({ date }: Values) =>
      `Titles of ${date} name a changed bank account. Confirm the account, then sign the day off.`,
    altered: ({ date }: Values) =>
      `Titles of ${date} were changed outside of the program. Sign the day off when a pull has restored them.`,
    own_decision: ({ date }: Values) =>
      `You made a decision about ${date}, so another user has to sign it off.`,
    open_before: ({ date }: Values) =>
      `${date} was open when you, an administrator before, got your role, so another user has to sign it off.`,
    days_to_sign: ({ max }: Values) => `Choose at least one day and at most ${max}.`,
    month_open: ({ month }: Values) => `${month} is not sealed.`,
    due_range: ({ max }: Values) =>
      `Two due dates are required, in order, with at most ${max} days between them.`,
    day_form: () => 'The form has a day that cannot be read. Load the list again.',
    rejects_sealed: ({ date }: Values) =>
      `${date} is signed off: reopen the day, then accept its rejects; another person then signs it off.`,
    no_rejects: ({ date }: Values) => `${date} has no rejected titles that wait for a decision.`,
    not_held: ({ pull }: Values) => `Pull ${pull} is no longer held.`,
    hold_lost: ({ date, pull }: Values) =>
      `The titles that pull ${pull} held for ${date} were lost in a database crash. The date is pulled again.`,
    match_title: () => 'The title is withdrawn, or has a match.',
    match_payable: () => 'The payable is not open, or has a match.',
    match_gone: () => 'This match does not exist, or has ended.',
    cnpj_expected: () => 'A CNPJ with the right check digits is needed.',
    cnpj_same: () => 'The two CNPJs are of one company.',
    company_expected: ({ max }: Values) =>
      `Choose a company, or state its code (at most ${max} characters) and the CNPJ of its buyer.`,
    breaks_too_many: ({ count, limit }: Values) =>
      `The filter has ${count} breaks, and a file has at most ${limit}. Choose a date, a supplier or a kind.`,
    break_changed: () => 'The break has changed since you looked at it. Look again.',
    own_seal: ({ date }: Values) =>
      `You signed ${date} off, or it was signed off when you were an administrator. Another user has to decide.`,
    receipts_changed: ({ date }: Values) =>
      `Other receipts of ${date} wait by now, or they are answered. Look again.`,
    receipt_answer: () => 'Choose receipts and an answer.',
    before_bookings: ({ date }: Values) =>
      `${date} is before the beginning of bookings, so no release would correct the posting. Correct it in the ERP, and set the receipt aside.`,
    no_difference: ({ date }: Values) =>
      `${date} has no difference to post any more, or was signed off again. Look again.`,
    no_drift: () => 'No field or value outside the documented interface waits.',
    drift_changed: () => 'The list has changed since you looked at it. Look again.',
    account_change: () =>
      'A change does not exist, or it is decided already. No decision was recorded.',
    account_changes: ({ limit }: Values) =>
      `Choose at least one party, and at most ${limit} changes.`,
    account_decision: () => 'Choose a decision.',
    no_backfill: () => 'There is no such backfill.',
    backfill_running: () => 'The backfill is running.',
    backfill_done: () => 'The backfill is done.',
    backfill_cancelled: () => 'The backfill is cancelled.',
  },
};

const ptBR: typeof en = {
  faults: {
    reason_missing: () => 'Informe o motivo.',
    reason_long: ({ max }) => `O motivo pode ter no máximo ${max} caracteres.`,
    range_missing: () => 'Informe as duas datas: a primeira e a última.',
    range_order: ({ from, to }) => `O intervalo termina em ${to}, antes do início, que é ${from}.`,
    range_future: ({ to, today }) =>
      `O intervalo termina em ${to}, que está no futuro: hoje é ${today}.`,
    range_long: ({ days, max }) =>
      `O intervalo tem ${days} datas. Um reprocessamento aceita no máximo ${max} (dez anos).`,
    concurrency: ({ max }) => `O número de datas simultâneas é um número inteiro de 1 a ${max}.`,
    file_format: () => 'Escolha um dos formatos oferecidos.',
    date_future: ({ date }) => `${date} está no futuro.`,
    not_in_ledger: ({ date }) => `Não há registro do dia ${date}.`,
    not_signed_off: ({ date }) => `O dia ${date} não está fechado.`,
    not_reconciled: ({ date }) =>
      `O dia ${date} não está conciliado; só um dia conciliado pode ser fechado.`,
    already_signed_off: ({ date }) => `O dia ${date} já está fechado.`,
    changed_meanwhile: ({ date }) =>
      `O dia ${date} mudou depois que você abriu a página. Confira de novo antes de fechar.`,
    not_checked: ({ date }) =>
      `A análise de ${date} ainda não terminou. Tente de novo em alguns segundos.`,
    no_findings: ({ date }) => `${date} não tem apontamento em aberto desta regra.`,
    payment_held: ({ date }) =>
      `Títulos do dia ${date} trazem uma conta bancária que mudou. Confirme a conta antes de fechar o dia.`,
    altered: ({ date }) =>
      `Títulos do dia ${date} foram alterados fora do programa. Feche o dia depois que uma busca restaurar os títulos.`,
    own_decision: ({ date }) =>
      `Você tomou uma decisão sobre o dia ${date}; outra pessoa precisa fechá-lo.`,
    open_before: ({ date }) =>
      `O dia ${date} já estava aberto quando você deixou de ser administrador; outra pessoa precisa fechá-lo.`,
    days_to_sign: ({ max }) => `Escolha pelo menos um dia e no máximo ${max}.`,
    month_open: ({ month }) => `${month} não está fechado.`,
    due_range: ({ max }) =>
      `Informe dois vencimentos, em ordem, com no máximo ${max} dias de intervalo.`,
    day_form: () => 'O formulário tem um dia que não pôde ser lido. Carregue a lista de novo.',
    rejects_sealed: ({ date }) =>
      `O dia ${date} está fechado. Reabra o dia antes de aceitar os rejeitados; depois, outra pessoa faz o fechamento.`,
    no_rejects: ({ date }) => `O dia ${date} não tem títulos rejeitados à espera de decisão.`,
    not_held: ({ pull }) => `A busca ${pull} não está mais retida.`,
    hold_lost: ({ date, pull }) =>
      `Os títulos que a busca ${pull} retinha para ${date} se perderam em uma queda do banco de dados. A data será buscada de novo.`,
    match_title: () => 'O título foi retirado ou já está vinculado.',
    match_payable: () => 'A conta a pagar não está em aberto ou já está vinculada.',
    match_gone: () => 'Este vínculo não existe ou já foi desfeito.',
    cnpj_expected: () => 'Informe um CNPJ com os dígitos verificadores corretos.',
    cnpj_same: () => 'Os dois CNPJs são da mesma empresa.',
    company_expected: ({ max }) =>
      `Escolha uma empresa ou informe o código dela (até ${max} caracteres) e o CNPJ do comprador.`,
    breaks_too_many: ({ count, limit }) =>
      `O filtro tem ${count} divergências, e um arquivo comporta até ${limit}. Escolha uma data, um fornecedor ou um tipo.`,
    break_changed: () => 'A divergência mudou depois que você abriu a página. Confira de novo.',
    own_seal: ({ date }) =>
      `Você fechou o dia ${date}, ou ele foi fechado quando você era administrador. Outra pessoa precisa decidir.`,
    receipts_changed: ({ date }) =>
      `Os retornos do dia ${date} mudaram ou já foram decididos. Confira de novo.`,
    receipt_answer: () => 'Escolha os retornos e uma resposta.',
    before_bookings: ({ date }) =>
      `O dia ${date} é anterior ao início dos lançamentos; nenhuma liberação corrigiria o que foi contabilizado. Corrija no ERP e desconsidere o retorno.`,
    no_difference: ({ date }) =>
      `O dia ${date} não tem mais diferença a contabilizar ou foi fechado de novo. Confira de novo.`,
    no_drift: () => 'Não há campo nem valor fora da interface documentada à espera de ciência.',
    drift_changed: () => 'A lista mudou depois que você abriu a página. Confira de novo.',
    account_change: () =>
      'Uma das mudanças não existe ou já foi decidida. Nenhuma decisão foi registrada.',
    account_changes: ({ limit }) =>
      `Selecione pelo menos um favorecido e no máximo ${limit} mudanças.`,
    account_decision: () => 'Escolha uma decisão.',
    no_backfill: () => 'Este reprocessamento não existe.',
    backfill_running: () => 'O reprocessamento está em curso.',
    backfill_done: () => 'O reprocessamento está concluído.',
    backfill_cancelled: () => 'O reprocessamento está cancelado.',
  },
};

/** A sentence for each fault of an `InputError` that a page can cause: `context.fault`. */
export const faultsText = { en, 'pt-BR': ptBR };
