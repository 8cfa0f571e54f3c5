import type { FourEyesFault, SignOffRefusal } from '../../domain/sign-off.ts';

const en = {
  signOffs: {
    title: 'Days to sign',
    intro: 'Reconciled days that are not signed off in their present state, newest first.',
    all: 'All',
    clean: 'Clean only',
    cleanHelp:
      'A clean day was not restated after a sign-off, its checks have run, and it has no open reject, no held response and no bank account change without acknowledgement. It has no decision for which another person has to sign.',
    none: 'No day can be signed off now.',
    selectAll: 'Select all on this page',
    selectNone: 'Select none',
    select: (date: string) => `Select ${date}`,
    choose: 'Select',
    remarks: 'Remarks',
    total: (days: string) => `${days} ${days === '1' ? 'day' : 'days'}`,
    toPreview: 'Preview the sign-off',
    restated: 'Restated after a sign-off',
    paymentsHeld: (count: string) => `Titles whose payment is on hold: ${count}`,
    altered: (count: string) => `Changes made outside of the program: ${count}`,
    rejects: (count: string) => `Accepted rejects: ${count}`,
    withheld: (count: string) => `Titles that the response lacks: ${count}`,
    excluded: {
      own_decision: 'Another user has to sign: you decided about this day',
      linked_decision: 'A third person has to sign: you count as the person who decided',
    } satisfies Readonly<Record<FourEyesFault, string>>,
    previewTitle: 'Preview of the sign-off',
    previewIntro: 'Nothing is signed off yet. A day that changes from now on is refused.',
    nothingChosen: 'No day is selected.',
    noneSignable: 'None of the selected days can be signed off.',
    cannot: 'Not in this sign-off',
    reason: 'Reason',
    note: 'Note for each day (optional)',
    sign: (days: string) => `Sign off ${days} ${days === '1' ? 'day' : 'days'}`,
    back: 'Back to the list',
    resultTitle: (signed: string, days: string) => `${signed} of ${days} days signed off`,
    signed: 'Signed off',
    refused: 'Refused',
    next: 'Next to sign',
    remaining: (days: string) => `Days to sign (${days})`,
    refusals: {
      not_reconciled: 'Only a reconciled day can be signed off.',
      already_signed_off: 'The day is signed off already.',
      changed_meanwhile: 'The day has changed since the preview.',
      not_checked: 'The checks of the day have not run yet. Try again in a few seconds.',
      payment_held: 'Titles of the day name a changed bank account. Acknowledge the change first.',
      altered:
        'Titles of the day were changed outside of the program. Sign it off when a pull has restored them.',
      own_decision: 'You made a decision about this day. Another user has to sign it off.',
      linked_decision:
        'You count as the same person as a user who made a decision about this day. A third person has to sign it off.',
      not_in_ledger: 'The date is not in the ledger.',
      unavailable: 'The database did not answer. Try again.',
    } satisfies Readonly<Record<SignOffRefusal, string>>,
  },
};

const ptBR: typeof en = {
  signOffs: {
    title: 'Dias a fechar',
    intro:
      'Dias conciliados que aguardam o fechamento, do mais recente ao mais antigo.',
    all: 'Todos',
    clean: 'Somente sem ressalva',
    cleanHelp:
      'Um dia sem ressalva já foi analisado, não mudou depois de um fechamento e não tem rejeitado em aberto, resposta retida nem mudança de conta bancária sem ciência. Também não tem decisão que exija o fechamento por outra pessoa.',
    none: 'Nenhum dia pode ser fechado agora.',
    selectAll: 'Selecionar todos desta página',
    selectNone: 'Desmarcar todos',
    select: (date) => `Selecionar ${date}`,
    choose: 'Selecionar',
    remarks: 'Ressalvas',
    total: (days) => `${days} ${days === '1' ? 'dia' : 'dias'}`,
    toPreview: 'Conferir antes de fechar',
    restated: 'Alterado depois de um fechamento',
    paymentsHeld: (count) => `Títulos com pagamento retido: ${count}`,
    altered: (count) => `Alterações feitas fora do programa: ${count}`,
    rejects: (count) => `Rejeitados aceitos: ${count}`,
    withheld: (count) => `Títulos que não vieram na resposta: ${count}`,
    excluded: {
      own_decision: 'Outra pessoa precisa fechar: você decidiu algo neste dia',
      linked_decision: 'Uma terceira pessoa precisa fechar: você conta como quem decidiu',
    },
    previewTitle: 'Conferência do fechamento',
    previewIntro: 'Nada foi fechado ainda. Um dia que mudar a partir de agora será recusado.',
    nothingChosen: 'Nenhum dia selecionado.',
    noneSignable: 'Nenhum dos dias selecionados pode ser fechado.',
    cannot: 'Fora deste fechamento',
    reason: 'Motivo',
    note: 'Observação para cada dia (opcional)',
    sign: (days) => `Fechar ${days} ${days === '1' ? 'dia' : 'dias'}`,
    back: 'Voltar à lista',
    resultTitle: (signed, days) => `${signed} de ${days} dias fechados`,
    signed: 'Fechados',
    refused: 'Recusados',
    next: 'Próximo a fechar',
    remaining: (days) => `Dias a fechar (${days})`,
    refusals: {
      not_reconciled: 'Só um dia conciliado pode ser fechado.',
      already_signed_off: 'O dia já está fechado.',
      changed_meanwhile: 'O dia mudou depois da conferência.',
      not_checked: 'A análise do dia ainda não terminou. Tente de novo em alguns segundos.',
      payment_held: 'Títulos do dia trazem uma conta bancária que mudou. Confirme antes a ciência.',
      altered:
        'Títulos do dia foram alterados fora do programa. Feche-o depois que uma busca restaurar os títulos.',
      own_decision: 'Você tomou uma decisão sobre este dia. Outra pessoa precisa fechá-lo.',
      linked_decision:
        'Você conta como a mesma pessoa que tomou uma decisão sobre este dia. Uma terceira pessoa precisa fechá-lo.',
      not_in_ledger: 'A data não tem registro.',
      unavailable: 'O banco de dados não respondeu. Tente de novo.',
    },
  },
};

/** The texts of the sign-off of many days. */
export const signOffsText = { en, 'pt-BR': ptBR };
