const en = {
  backfills: {
    title: 'Backfills',
    intro:
      'Pull a range of past dates again, day by day. A signed-off day is restated where the platform says something else by now.',
    from: 'From',
    to: 'to',
    concurrency: 'Dates at the same time',
    neverPulled: 'Never pulled',
    start: 'Start the backfill',
    none: 'No backfill yet.',
    number: 'Backfill',
    range: 'Range',
    state: 'State',
    states: { running: 'Running', done: 'Done', cancelled: 'Cancelled' },
    progress: 'Progress',
    progressOf: (done: string, total: string) => `${done} of ${total} dates`,
    pulled: 'Pulled',
    failed: 'Failed',
    held: 'Held',
    open: 'Under way',
    titlesSeen: 'Titles in responses',
    by: 'Requested by',
    at: 'Started',
    finished: 'Ended',
    cancel: 'Cancel',
    cancelHelp: 'Pulled dates stay.',
    resume: 'Resume',
  },
};

const ptBR: typeof en = {
  backfills: {
    title: 'Reprocessamentos',
    intro:
      'Busca de novo um intervalo de datas passadas, dia a dia. Se os dados da plataforma tiverem mudado, o dia fechado passa a constar como alterado depois do fechamento.',
    from: 'De',
    to: 'até',
    concurrency: 'Datas simultâneas',
    neverPulled: 'Nunca buscadas',
    start: 'Iniciar reprocessamento',
    none: 'Nenhum reprocessamento até agora.',
    number: 'Reprocessamento',
    range: 'Intervalo',
    state: 'Situação',
    states: { running: 'Em curso', done: 'Concluído', cancelled: 'Cancelado' },
    progress: 'Progresso',
    progressOf: (done, total) => `${done} de ${total} datas`,
    pulled: 'Buscadas',
    failed: 'Falharam',
    held: 'Retidas',
    open: 'Em andamento',
    titlesSeen: 'Títulos nas respostas',
    by: 'Solicitado por',
    at: 'Início',
    finished: 'Fim',
    cancel: 'Cancelar',
    cancelHelp: 'As datas já buscadas são mantidas.',
    resume: 'Retomar',
  },
};

/** The texts of the pages for backfills. */
export const backfillsText = { en, 'pt-BR': ptBR };
