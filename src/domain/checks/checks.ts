/** The checks of the titles of a day: codes, versions and severities. docs/checks.md gives the reason for each. */

export const CHECK_SEVERITIES = ['off', 'info', 'review'] as const;
/** `off`: the check does not run. `review`: an open finding keeps the day in the state `attention`. */
type CheckSeverity = (typeof CHECK_SEVERITIES)[number];
export type FindingSeverity = Exclude<CheckSeverity, 'off'>;

/** By code: the version of the rule, and the severity unless CHECK_SEVERITIES names another one. */
export const CHECKS = {
  due_before_acceptance: { version: 1, severity: 'review' },
  value_not_positive: { version: 1, severity: 'review' },
  fee_unusual: { version: 1, severity: 'info' },
  tax_id_invalid: { version: 1, severity: 'review' },
  agent_is_provider: { version: 1, severity: 'review' },
  equal_in_day: { version: 1, severity: 'info' },
  equal_on_two_dates: { version: 2, severity: 'review' },
  unit_jump: { version: 2, severity: 'review' },
} as const satisfies Readonly<
  Record<string, { readonly version: number; readonly severity: FindingSeverity }>
>;
export type CheckCode = keyof typeof CHECKS;
export const CHECK_CODES = Object.keys(CHECKS) as CheckCode[];

export type CheckSeverities = Readonly<Record<CheckCode, CheckSeverity>>;

export const DEFAULT_SEVERITIES: CheckSeverities = withDefaults({});

function withDefaults(chosen: Partial<CheckSeverities>): CheckSeverities {
  const defaults = CHECK_CODES.map((code) => [code, CHECKS[code].severity] as const);
  return { ...(Object.fromEntries(defaults) as CheckSeverities), ...chosen };
}

/**
 * Reads `fee_unusual=off,equal_in_day=review`. A check that is not named has its default.
 * @returns null where the text has another form, an unknown check or a check twice
 */
export function parseCheckSeverities(text: string): CheckSeverities | null {
  const chosen: { -readonly [code in CheckCode]?: CheckSeverity } = {};
  for (const entry of text.split(',')) {
    const [name, word, ...rest] = entry.split('=').map((part) => part.trim());
    const code = CHECK_CODES.find((known) => known === name);
    const severity = CHECK_SEVERITIES.find((known) => known === word);
    if (code === undefined || severity === undefined || rest.length > 0 || code in chosen) {
      return null;
    }
    chosen[code] = severity;
  }
  return withDefaults(chosen);
}

/** A finding as a title for a list, and as a sentence about the titles. */
export const CHECK_TEXTS: Readonly<
  Record<
    'en' | 'pt-BR',
    Readonly<Record<CheckCode, { readonly name: string; readonly text: string }>>
  >
> = {
  en: {
    due_before_acceptance: {
      name: 'Due before acceptance',
      text: 'The anticipated due date is before the accepted date.',
    },
    value_not_positive: {
      name: 'Value not positive',
      text: 'The original value is zero or negative.',
    },
    fee_unusual: {
      name: 'Unusual fee',
      text: 'A fee is far outside the range of the fees of the same financial agent on the dates before.',
    },
    tax_id_invalid: {
      name: 'Invalid tax identifier',
      text: 'The tax identifier of the provider or of the financial agent is not a valid CPF or CNPJ.',
    },
    agent_is_provider: {
      name: 'Agent equals provider',
      text: 'The financial agent and the provider have the same tax identifier.',
    },
    equal_in_day: {
      name: 'Equal titles in the day',
      text: 'Another title of the day is equal in every field.',
    },
    equal_on_two_dates: {
      name: 'Equal titles on two dates',
      text: 'A title of another accepted date has the same order, buyer, provider and original value. With another due date, the finding ends when the date of the earlier title is pulled again and still has that title.',
    },
    unit_jump: {
      name: 'Unit jump',
      text: 'A restated amount is exactly 100 times the amount before, or a hundredth of that amount.',
    },
  },
  'pt-BR': {
    due_before_acceptance: {
      name: 'Vencimento anterior ao aceite',
      text: 'A data de vencimento antecipado é anterior à data de aceite.',
    },
    value_not_positive: {
      name: 'Valor não positivo',
      text: 'O valor original é zero ou negativo.',
    },
    fee_unusual: {
      name: 'Tarifa fora do usual',
      text: 'Uma tarifa está muito fora da faixa das tarifas do mesmo agente financeiro nas datas anteriores.',
    },
    tax_id_invalid: {
      name: 'CPF ou CNPJ inválido',
      text: 'O CPF ou CNPJ do fornecedor ou do agente financeiro é inválido.',
    },
    agent_is_provider: {
      name: 'Agente igual ao fornecedor',
      text: 'O agente financeiro e o fornecedor têm o mesmo CPF ou CNPJ.',
    },
    equal_in_day: {
      name: 'Títulos iguais no dia',
      text: 'Outro título do dia é igual em todos os campos.',
    },
    equal_on_two_dates: {
      name: 'Títulos iguais em duas datas',
      text: 'Um título de outra data de aceite tem o mesmo pedido, comprador, fornecedor e valor original. Se o vencimento for outro, o apontamento se encerra quando a data mais antiga for buscada de novo e ainda tiver o título.',
    },
    unit_jump: {
      name: 'Salto de unidade',
      text: 'Um valor alterado é exatamente 100 vezes o valor anterior, ou um centésimo dele.',
    },
  },
};
