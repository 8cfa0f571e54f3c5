const en = {
  restated: {
    title: 'Changed since sign-off',
    intro:
      'Every day that changed after it was signed off: the totals that were sealed, the totals now, the difference, and each field that changed.',
    all: 'All days',
    mine: 'Signed off by me',
    none: 'No day has changed since its sign-off.',
    overall: (days: string) => `Sum of all days (${days})`,
    sealed: 'Sealed',
    present: 'Now',
    difference: 'Difference',
    openDay: 'Open the day',
    files: { totals: 'Totals as CSV', fields: 'Changed fields as CSV' },
    personal: 'The file of fields may hold tax identifiers and bank accounts.',
  },
};

const ptBR: typeof en = {
  restated: {
    title: 'O que mudou desde o fechamento',
    intro:
      'Todos os dias que mudaram depois do fechamento: os totais do fechamento, os atuais, a diferença e cada campo que mudou.',
    all: 'Todos os dias',
    mine: 'Fechados por mim',
    none: 'Nenhum dia mudou depois do fechamento.',
    overall: (days) => `Soma de todos os dias (${days})`,
    sealed: 'No fechamento',
    present: 'Atual',
    difference: 'Diferença',
    openDay: 'Abrir o dia',
    files: { totals: 'Totais em CSV', fields: 'Campos alterados em CSV' },
    personal: 'O arquivo de campos pode conter CPF, CNPJ e contas bancárias.',
  },
};

/** The texts of the page about days that changed after their sign-off. */
export const restatedText = { en, 'pt-BR': ptBR };
