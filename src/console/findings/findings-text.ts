import type { FindingState } from '../../checks/findings.sql.ts';
import type { FindingSeverity } from '../../domain/checks/checks.ts';

const en = {
  findings: {
    title: 'Findings',
    intro:
      'The findings of the checks in the titles of a day. A day with an open finding that a person has to resolve is not reconciled.',
    all: 'All dates',
    toResolve: 'To resolve',
    none: 'No finding.',
    nothingOpen: 'Nothing is open.',
    check: 'Check',
    severity: 'Severity',
    severities: {
      review: 'to resolve',
      info: 'for information',
    } satisfies Record<FindingSeverity, string>,
    state: 'State',
    states: { open: 'Open', resolved: 'Resolved', closed: 'Gone' } satisfies Record<
      FindingState,
      string
    >,
    anyState: 'All',
    count: 'Findings',
    compared: 'Compared',
    detail: {
      field: 'field',
      value: 'value',
      before: 'before',
      limit: 'limit',
      least: 'usual minimum',
      most: 'usual maximum',
      otherDate: 'other date',
    } as Readonly<Record<string, string>>,
    otherTitle: 'Other title',
    resolveOne: 'Resolve this finding',
    resolveAll: (count: string) => `Resolve all ${count} findings of this check on this date`,
    resolveHelp:
      'A resolved finding stays resolved while the title has the same content. The person who resolves a finding cannot sign the day off while two persons are required.',
    resolve: 'Resolve',
    resolvedBy: (by: string, at: string) => `Resolved by ${by} on ${at}`,
    ofDay: (count: string) =>
      count === '1' ? '1 finding to resolve' : `${count} findings to resolve`,
    ofDayHelp: 'The day is reconciled when each one is resolved with a reason.',
    ofTitle: 'Findings of the checks',
    notChecked: 'The checks have not run on the present content yet.',
  },
};

const ptBR: typeof en = {
  findings: {
    title: 'Apontamentos',
    intro:
      'O que a análise encontrou nos títulos de um dia. Um dia com apontamento a resolver não fica conciliado.',
    all: 'Todas as datas',
    toResolve: 'A resolver',
    none: 'Nenhum apontamento.',
    nothingOpen: 'Nada em aberto.',
    check: 'Regra',
    severity: 'Gravidade',
    severities: { review: 'exige resolução', info: 'informativo' },
    state: 'Situação',
    states: { open: 'Em aberto', resolved: 'Resolvido', closed: 'Sem efeito' },
    anyState: 'Todos',
    count: 'Apontamentos',
    compared: 'Comparação',
    detail: {
      field: 'campo',
      value: 'valor',
      before: 'antes',
      limit: 'limite',
      least: 'mínimo usual',
      most: 'máximo usual',
      otherDate: 'outra data',
    },
    otherTitle: 'Outro título',
    resolveOne: 'Resolver este apontamento',
    resolveAll: (count) => `Resolver os ${count} apontamentos desta regra nesta data`,
    resolveHelp:
      'Um apontamento resolvido continua resolvido enquanto o título tiver o mesmo conteúdo. Com a regra de duas pessoas, quem resolve um apontamento não fecha o dia.',
    resolve: 'Resolver',
    resolvedBy: (by, at) => `Resolvido por ${by} em ${at}`,
    ofDay: (count) =>
      count === '1' ? '1 apontamento a resolver' : `${count} apontamentos a resolver`,
    ofDayHelp: 'O dia fica conciliado quando todos forem resolvidos, cada um com o motivo.',
    ofTitle: 'Apontamentos da análise',
    notChecked: 'A análise do conteúdo atual ainda não terminou.',
  },
};

/** The texts of the findings of the checks. */
export const findingsText = { en, 'pt-BR': ptBR };
