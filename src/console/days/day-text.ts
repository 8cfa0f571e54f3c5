import type { FourEyesFault } from '../../domain/sign-off.ts';

const en = {
  day: {
    overview: 'Overview',
    titles: 'Titles',
    previous: 'Previous day',
    next: 'Next day',
    notInLedger: 'This date is not in the ledger yet.',
    notInLedgerHelp: 'Its first pull adds it.',
    verified: (at: string) => `Last compared with the platform ${at}`,
    never: 'Not compared with the platform yet',
    actions: 'Actions',
    pullFirst: 'Pull',
    pull: 'Pull again',
    pullHelp: 'Requests the date from the platform again. Unchanged titles stay as they are.',
    controlTotals: 'Control totals',
    amount: 'Amount',
    sum: 'Sum',
    byProvider: 'By provider',
    byAgent: 'By financial agent',
    provider: 'Provider',
    agent: 'Financial agent',
    notStated: 'Not stated',
    noTitles: 'The day has no title.',
    others: (count: string) => `${count} more`,
    total: 'Total',
    digest: 'Digest',
    digestHelp: 'Two days with the same digest hold the same titles.',
    signOff: 'Sign-off',
    sign: 'Sign off',
    signAgain: 'Sign off as it is now',
    signHelp: 'Seals the digest and the totals with your name and the time.',
    note: 'Note (optional)',
    signedBy: (name: string, at: string) => `Signed off by ${name}, ${at}`,
    notSigned: 'Not signed off',
    onlyReconciled: 'Only a reconciled day can be signed off.',
    fourEyes: {
      own_decision: 'You made a decision about this day, so another user has to sign it off.',
      open_before:
        'This day was open when you, an administrator before, got your role, so another user has to sign it off.',
    } satisfies Readonly<Record<FourEyesFault, string>>,
    reviewersSign: 'A reviewer signs it off.',
    altered: (titles: string) => `Changes made outside of the program: ${titles}`,
    alteredHelp:
      'A database user has changed the day or its titles. The day can be signed off after a pull has restored them. Inform the operator.',
    paymentsHeld: (titles: string) => `Titles whose payment is on hold: ${titles}`,
    paymentsHeldHelp:
      'They name another bank account than the accepted one. Do not pay them. Call the party at a number you know, then confirm or refuse the account.',
    paymentsHeldSign: 'The day can be signed off after the changed bank accounts are confirmed.',
    reopen: 'Reopen',
    reopenHelp: 'Ends the sign-off, which stays on record.',
    reason: 'Reason',
    seals: 'Earlier seals',
    sealEnded: (name: string, at: string) => `ended by ${name}, ${at}`,
    sealedTitles: (titles: string, sum: string) =>
      `${titles} ${titles === '1' ? 'title' : 'titles'}, ${sum}`,
    restatedTitle: 'This day changed after it was signed off',
    restatedHelp: 'The changes are listed below. Sign it off as it is now, or reopen it.',
    movedSinceSeal: 'Changes since the sign-off',
    movedLast: (pull: string) => `Changes of pull ${pull}`,
    movedNone: 'No changes.',
    movedCount: (shown: string, count: string) => `${shown} of ${count} shown.`,
    kinds: {
      inserted: 'New',
      changed: 'Changed',
      withdrawn: 'Withdrawn',
      restored: 'Restored',
    },
    change: 'Change',
    field: 'Field',
    before: 'Before',
    after: 'After',
    rejects: 'Rejected titles',
    rejectsHelp: 'They do not have the documented format, and are in no sum.',
    rejectNumber: (number: string) => `Title ${number} of the response`,
    rejectAccepted: (name: string) => `accepted by ${name}`,
    rejectOpen: 'open',
    rejectBytes: (bytes: string) => `${bytes} bytes`,
    showRaw: 'Show the raw text',
    showRawHelp: 'It may hold personal data; that you looked is kept in the audit log.',
    accept: 'Accept the rejects',
    acceptSigned:
      'The day is signed off. Reopen the day before you accept its rejects; another person then signs it off.',
    acceptHelp:
      'The day may then be reconciled without them. Titles that stay as they were because of a reject stay current: accepting the rejects withdraws no title. If a later response has other titles and titles stay for this reason, the rejects are open again.',
    heldTitle: 'A pull is held',
    held: (pull: string, withdrawals: string, titles: string) =>
      `Pull ${pull} would withdraw ${withdrawals} of the ${titles} titles, more than the limit allows. Nothing was changed.`,
    heldImplausible: (pull: string, response: string, titles: string) =>
      `The response to pull ${pull} has ${response} titles; the date has ${titles}. Nothing was changed.`,
    heldEmptied: (pull: string, titles: string) =>
      `The response to pull ${pull} has no title for this date, which has ${titles}. Nothing was changed.`,
    unreadableTitle: (count: number, titles: string) =>
      count === 1
        ? '1 title came and could not be read'
        : `${titles} titles came, none could be read`,
    unreadable: (pull: string) =>
      `No title of the response to pull ${pull} has the documented format. Nothing was changed. Pull again when the platform has corrected them.`,
    withheld: (count: number, titles: string) =>
      count === 1
        ? '1 title is not in the newest response and stays as it was, because a rejected title may be that title.'
        : `${titles} titles are not in the newest response and stay as they were, because a rejected title may be one of them.`,
    review: 'Preview the release',
    waitsForOperator: 'An operator decides about it.',
    attentionTitle: 'Titles of this day do not have the documented format',
    failedTitle: 'All attempts to pull this day failed',
    failedHelp: 'Pull it again when the cause is corrected.',
    pulls: 'Pulls of this day',
    pullsEmpty: 'None yet.',
    pullNumber: 'Pull',
    origin: 'Origin',
    origins: {
      daily: 'daily',
      lookback: 'lookback',
      backfill: 'backfill',
      sweep: 'sweep',
      manual: 'manual',
      repair: 'repair',
    },
    outcome: 'Outcome',
    outcomes: {
      merged: 'merged',
      unchanged: 'unchanged',
      held: 'held',
      superseded: 'superseded',
      released: 'released',
      queued: 'queued',
      running: 'running',
      failed: 'failed',
      cancelled: 'cancelled',
    },
    by: 'By',
    fetched: 'Fetched',
    counts: 'New · changed · withdrawn · restored',
    wouldBe: (counts: string) => `not merged; would be ${counts}`,
    showTitles: 'All titles of this day',
    audit: 'Audit of this day',
    exportDay: 'Export this day',
  },
  release: {
    title: (pull: string) => `Release pull ${pull}`,
    intro: 'Preview. Nothing has been changed yet.',
    gone: 'This pull no longer holds a response: it was released, superseded, or its titles were lost in a crash of the database and the date is pulled again.',
    now: 'Titles now',
    response: 'In the response',
    change: 'What the release would do',
    withdrawnSum: 'Withdrawn, original value',
    changed: 'Changed',
    added: 'New',
    ofBuyer: (buyer: string) => `Buyer: ${buyer}.`,
    reasons: {
      emptied: 'The platform returned no title for a date that has some.',
      withdrawal_limit: 'More titles vanished than the limit allows.',
      unreadable:
        'The response has titles, and none of them has the documented format. Pull again when the platform has corrected them.',
    },
    withheld: (count: number, titles: string) =>
      count === 1
        ? '1 title is not in the response and would stay as it is, because a rejected title may be that title.'
        : `${titles} titles are not in the response and would stay as they are, because a rejected title may be one of them.`,
    signedOff: 'This day is signed off: a release restates it.',
    withdrawals: 'Titles that would be withdrawn',
    concerned: 'Titles that the limit counts',
    release: 'Release',
    wholeRun: (count: number, pulls: string) =>
      count === 1
        ? 'Also release the other held date of the same run that loses titles'
        : `Also release the other ${pulls} held dates of the same run that lose titles`,
    releaseHelp: 'Withdrawn titles are kept, and can come back.',
    confirm: 'Why is this right?',
  },
};

const ptBR: typeof en = {
  day: {
    overview: 'Visão geral',
    titles: 'Títulos',
    previous: 'Dia anterior',
    next: 'Dia seguinte',
    notInLedger: 'Esta data ainda não tem registro.',
    notInLedgerHelp: 'A primeira busca registra a data.',
    verified: (at) => `Comparado com a plataforma pela última vez em ${at}`,
    never: 'Ainda não comparado com a plataforma',
    actions: 'Ações',
    pullFirst: 'Buscar',
    pull: 'Buscar de novo',
    pullHelp: 'Consulta a plataforma mais uma vez. O que não mudou permanece igual.',
    controlTotals: 'Totais de controle',
    amount: 'Valor',
    sum: 'Soma',
    byProvider: 'Por fornecedor',
    byAgent: 'Por agente financeiro',
    provider: 'Fornecedor',
    agent: 'Agente financeiro',
    notStated: 'Não informado',
    noTitles: 'O dia não tem títulos.',
    others: (count) => `mais ${count}`,
    total: 'Total',
    digest: 'Código de integridade',
    digestHelp: 'Códigos iguais significam títulos iguais.',
    signOff: 'Fechamento',
    sign: 'Fechar o dia',
    signAgain: 'Fechar como está agora',
    signHelp: 'Registra o código de integridade e os totais com seu nome e a hora.',
    note: 'Observação (opcional)',
    signedBy: (name, at) => `Fechado por ${name}, ${at}`,
    notSigned: 'Não fechado',
    onlyReconciled: 'Só um dia conciliado pode ser fechado.',
    fourEyes: {
      own_decision: 'Você tomou uma decisão sobre este dia; outra pessoa precisa fechá-lo.',
      open_before:
        'Este dia já estava aberto quando você deixou de ser administrador; outra pessoa precisa fechá-lo.',
    },
    reviewersSign: 'Um revisor faz o fechamento.',
    altered: (titles) => `Alterações feitas fora do programa: ${titles}`,
    alteredHelp:
      'Um usuário do banco de dados alterou o dia ou seus títulos. O dia pode ser fechado depois que uma busca os restaurar. Avise o operador.',
    paymentsHeld: (titles) => `Títulos com pagamento retido: ${titles}`,
    paymentsHeldHelp:
      'A conta bancária é diferente da conta aceita. Não pague. Ligue para um número que você já conhece e depois confirme ou recuse a conta.',
    paymentsHeldSign:
      'O dia pode ser fechado depois que as contas bancárias que mudaram forem confirmadas.',
    reopen: 'Reabrir',
    reopenHelp: 'Desfaz o fechamento, que continua registrado.',
    reason: 'Motivo',
    seals: 'Fechamentos anteriores',
    sealEnded: (name, at) => `desfeito por ${name}, ${at}`,
    sealedTitles: (titles, sum) => `${titles} ${titles === '1' ? 'título' : 'títulos'}, ${sum}`,
    restatedTitle: 'Este dia mudou depois do fechamento',
    restatedHelp: 'Abaixo está o que mudou. Feche como está agora ou reabra.',
    movedSinceSeal: 'O que mudou desde o fechamento',
    movedLast: (pull) => `O que a busca ${pull} mudou`,
    movedNone: 'Nada mudou.',
    movedCount: (shown, count) => `${shown} de ${count} exibidos.`,
    kinds: {
      inserted: 'Novo',
      changed: 'Alterado',
      withdrawn: 'Retirado',
      restored: 'Restaurado',
    },
    change: 'Mudança',
    field: 'Campo',
    before: 'Antes',
    after: 'Depois',
    rejects: 'Títulos rejeitados',
    rejectsHelp: 'Não seguem o formato documentado e não entram em nenhuma soma.',
    rejectNumber: (number) => `Título ${number} da resposta`,
    rejectAccepted: (name) => `aceito por ${name}`,
    rejectOpen: 'em aberto',
    rejectBytes: (bytes) => `${bytes} bytes`,
    showRaw: 'Mostrar o texto original',
    showRawHelp: 'Pode conter dados pessoais; a consulta fica registrada na auditoria.',
    accept: 'Aceitar os rejeitados',
    acceptSigned:
      'O dia está fechado. Reabra o dia antes de aceitar os rejeitados; depois, outra pessoa faz o fechamento.',
    acceptHelp:
      'O dia pode então ser conciliado sem eles. Os títulos que continuam como estavam por causa de um rejeitado seguem vigentes: aceitar os rejeitados não retira nenhum título. Se uma resposta posterior trouxer outros títulos e algum título for mantido por esse motivo, os rejeitados voltam a ficar em aberto.',
    heldTitle: 'Uma busca está retida',
    held: (pull, withdrawals, titles) =>
      `A busca ${pull} retiraria ${withdrawals} dos ${titles} títulos, mais do que o limite permite. Nada mudou.`,
    heldImplausible: (pull, response, titles) =>
      `A resposta da busca ${pull} traz ${response} títulos; a data tem ${titles}. Nada mudou.`,
    heldEmptied: (pull, titles) =>
      `A resposta da busca ${pull} não traz nenhum título para esta data, que tem ${titles}. Nada mudou.`,
    unreadableTitle: (count, titles) =>
      count === 1
        ? 'Veio 1 título, que não pôde ser lido'
        : `Vieram ${titles} títulos, e nenhum pôde ser lido`,
    unreadable: (pull) =>
      `Nenhum título da resposta da busca ${pull} segue o formato documentado. Nada mudou. Busque de novo quando a plataforma os corrigir.`,
    withheld: (count, titles) =>
      count === 1
        ? '1 título não veio na última resposta e continua como estava, porque pode ser um dos rejeitados.'
        : `${titles} títulos não vieram na última resposta e continuam como estavam, porque podem estar entre os rejeitados.`,
    review: 'Simular a liberação',
    waitsForOperator: 'Um operador decide.',
    attentionTitle: 'Há títulos deste dia fora do formato documentado',
    failedTitle: 'Todas as tentativas de buscar este dia falharam',
    failedHelp: 'Busque de novo quando a causa estiver resolvida.',
    pulls: 'Buscas deste dia',
    pullsEmpty: 'Nenhuma ainda.',
    pullNumber: 'Busca',
    origin: 'Origem',
    origins: {
      daily: 'diária',
      lookback: 'revisão',
      backfill: 'reprocessamento',
      sweep: 'varredura',
      manual: 'manual',
      repair: 'reparo',
    },
    outcome: 'Resultado',
    outcomes: {
      merged: 'incorporada',
      unchanged: 'sem mudança',
      held: 'retida',
      superseded: 'substituída',
      released: 'liberada',
      queued: 'na fila',
      running: 'em curso',
      failed: 'falhou',
      cancelled: 'cancelada',
    },
    by: 'Por',
    fetched: 'Buscada em',
    counts: 'Novos · alterados · retirados · restaurados',
    wouldBe: (counts) => `não incorporada; seriam ${counts}`,
    showTitles: 'Todos os títulos do dia',
    audit: 'Auditoria do dia',
    exportDay: 'Exportar este dia',
  },
  release: {
    title: (pull) => `Liberar a busca ${pull}`,
    intro: 'Simulação. Nada foi alterado ainda.',
    gone: 'Esta busca não está mais retida: foi liberada ou substituída, ou seus títulos se perderam em uma queda do banco de dados e a data será buscada de novo.',
    now: 'Títulos agora',
    response: 'Na resposta',
    change: 'O que a liberação faria',
    withdrawnSum: 'Retirados, valor original',
    changed: 'Alterados',
    added: 'Novos',
    ofBuyer: (buyer) => `Comprador: ${buyer}.`,
    reasons: {
      emptied: 'A plataforma não devolveu nenhum título para uma data que tem títulos.',
      withdrawal_limit: 'Faltam na resposta mais títulos do que o limite permite.',
      unreadable:
        'A resposta tem títulos, e nenhum segue o formato documentado. Busque de novo quando a plataforma os corrigir.',
    },
    withheld: (count, titles) =>
      count === 1
        ? '1 título não está na resposta e continuaria como está, porque pode ser um dos rejeitados.'
        : `${titles} títulos não estão na resposta e continuariam como estão, porque podem estar entre os rejeitados.`,
    signedOff: 'Este dia está fechado: a liberação o altera.',
    withdrawals: 'Títulos que seriam retirados',
    concerned: 'Títulos contados pelo limite',
    release: 'Liberar',
    wholeRun: (count, pulls) =>
      count === 1
        ? 'Liberar também a outra data retida da mesma rodada que perde títulos'
        : `Liberar também as outras ${pulls} datas retidas da mesma rodada que perdem títulos`,
    releaseHelp: 'Títulos retirados são guardados e podem voltar.',
    confirm: 'Justificativa',
  },
};

/** The texts of the pages for one day and for a release. */
export const dayText = { en, 'pt-BR': ptBR };
