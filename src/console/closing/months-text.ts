import type { BreakCause, MonthFault } from '../../closing/civil-month.ts';
import type { MonthState } from '../../closing/month-seal.sql.ts';

const en = {
  months: {
    title: 'Closing of months',
    intro:
      'A month can be sealed when all its days are signed off. The seal covers the seals of the days.',
    empty: 'The ledger is empty. The first pull begins it.',
    month: 'Month',
    state: 'State',
    states: {
      open: 'Open',
      ready: 'Ready to be sealed',
      sealed: 'Sealed',
      broken: 'Seal broken',
    } satisfies Readonly<Record<MonthState, string>>,
    signedDays: 'Days signed off',
    ofDays: (signed: string, days: string) => `${signed} of ${days}`,
    sealedBy: 'Sealed by',
    sealedByAt: (name: string, at: string) => `Sealed by ${name}, ${at}`,
    broken: 'The seal of the month no longer holds',
    brokenHelp:
      'Sign off the days that are open and seal the month again. The former seal is kept.',
    causes: {
      restated: 'restated after its sign-off',
      reopened: 'reopened',
      sealed_again: 'signed off again',
      added: 'added by an earlier start date',
    } satisfies Readonly<Record<BreakCause, string>>,
    seal: 'Seal of the month',
    notSealed: 'The month is not sealed.',
    notReady: 'Not every day of the month is reconciled and signed off.',
    reviewersSeal: 'A reviewer seals the month.',
    digest: 'Digest of the month',
    sealMonth: 'Seal the month',
    sealAgain: 'Seal the month again',
    sealHelp: 'Seals the days with their digests and the totals, with your name and the time.',
    note: 'Note (optional)',
    sealedTotals: 'Sealed totals',
    days: 'Days of the month',
    daySignedBy: 'Signed off by',
    earlier: 'Earlier seals of the month',
    evidence: 'Evidence file',
    evidenceHelp:
      'A ZIP file with the seals, the titles of each day as they stood when signed, and a verifier that runs offline with Node.js alone. It holds tax identifiers, names and bank accounts. The audit log records each download.',
    evidenceDownload: 'Download the evidence file',
    evidenceBroken: 'The file has the sealed content, although the seal is no longer valid.',
    evidenceForbidden: 'The role Viewer cannot download it.',
    refusals: {
      not_begun: 'The month ends before the start date of the ledger.',
      not_signed: 'Not every day of the month is signed off.',
      restated: 'Days of the month were restated after their sign-off.',
      waiting: 'Days of the month are held, or have rejected titles or open findings.',
      already_sealed: 'The month is sealed already.',
      changed_meanwhile:
        'Days of the month were signed off again since you looked at it. Check the month once more.',
    } satisfies Readonly<Record<MonthFault, string>>,
    refused: 'The month was not sealed',
  },
};

const ptBR: typeof en = {
  months: {
    title: 'Fechamento do mês',
    intro:
      'Um mês pode ser fechado quando todos os seus dias estão fechados. O fechamento do mês abrange os fechamentos dos dias.',
    empty: 'Ainda não há dias. A primeira busca registra o primeiro.',
    month: 'Mês',
    state: 'Situação',
    states: {
      open: 'Em aberto',
      ready: 'Pronto para fechar',
      sealed: 'Fechado',
      broken: 'Fechamento invalidado',
    },
    signedDays: 'Dias fechados',
    ofDays: (signed, days) => `${signed} de ${days}`,
    sealedBy: 'Fechado por',
    sealedByAt: (name, at) => `Fechado por ${name}, ${at}`,
    broken: 'O fechamento do mês não vale mais',
    brokenHelp:
      'Feche os dias em aberto e depois feche o mês de novo. O fechamento anterior continua registrado.',
    causes: {
      restated: 'alterado depois do fechamento',
      reopened: 'reaberto',
      sealed_again: 'fechado de novo',
      added: 'incluído por uma data inicial anterior',
    },
    seal: 'Fechamento',
    notSealed: 'O mês não está fechado.',
    notReady: 'Nem todos os dias do mês estão conciliados e fechados.',
    reviewersSeal: 'Um revisor faz o fechamento do mês.',
    digest: 'Código de integridade do mês',
    sealMonth: 'Fechar o mês',
    sealAgain: 'Fechar o mês de novo',
    sealHelp:
      'Registra os dias com seus códigos de integridade e os totais, com seu nome e a hora.',
    note: 'Observação (opcional)',
    sealedTotals: 'Totais no fechamento',
    days: 'Dias do mês',
    daySignedBy: 'Fechado por',
    earlier: 'Fechamentos anteriores do mês',
    evidence: 'Arquivo de evidências',
    evidenceHelp:
      'Um arquivo ZIP com os fechamentos, os títulos de cada dia como estavam no fechamento e um verificador que funciona sem rede, só com o Node.js. Contém CPF ou CNPJ, nomes e contas bancárias. Cada download fica registrado na auditoria.',
    evidenceDownload: 'Baixar o arquivo de evidências',
    evidenceBroken: 'O arquivo traz o que foi fechado, embora o fechamento não valha mais.',
    evidenceForbidden: 'O perfil Leitor não pode baixar o arquivo.',
    refusals: {
      not_begun: 'O mês termina antes da data inicial.',
      not_signed: 'Nem todos os dias do mês estão fechados.',
      restated: 'Há dias do mês alterados depois do fechamento.',
      waiting: 'Há dias do mês retidos, com títulos rejeitados ou com apontamentos em aberto.',
      already_sealed: 'O mês já está fechado.',
      changed_meanwhile:
        'Houve dias fechados de novo depois da sua consulta. Confira o mês mais uma vez.',
    },
    refused: 'O mês não foi fechado',
  },
};

/** The texts of the pages about months. */
export const monthsText = { en, 'pt-BR': ptBR };
