import type { TitleColumn } from '../domain/title.ts';
import type { ExportColumn } from './export-columns.ts';

/** The words of a file for people: `en` has the names of the data dictionary, for programs too. */
export type FileLanguage = 'en' | 'pt-BR';

/**
 * The columns of a title, as pages and files for Portuguese readers name them. Amounts whose meaning the
 * platform does not document have the names of the interface.
 */
const TITLE_NAMES_PT: Readonly<Record<TitleColumn, string>> = {
  order_uid: 'Pedido',
  accepted_date: 'Aceite',
  anticipated_due_date: 'Vencimento',
  buyer_identification: 'Comprador',
  provider_external_id: 'Fornecedor no ERP',
  provider_identification: 'CPF/CNPJ do fornecedor',
  provider_bank: 'Banco do fornecedor',
  provider_agency: 'Agência do fornecedor',
  provider_agency_digit: 'Dígito da agência do fornecedor',
  provider_account: 'Conta do fornecedor',
  provider_account_digit: 'Dígito da conta do fornecedor',
  financial_agent_type: 'Tipo do agente',
  financial_agent_identification: 'CPF/CNPJ do agente',
  financial_agent_name: 'Agente',
  buyer_is_financial: 'Comprador é o agente',
  payment_type: 'Forma de pagamento',
  payment_bank: 'Banco',
  payment_agency: 'Agência',
  payment_agency_digit: 'Dígito da agência',
  payment_account: 'Conta',
  payment_account_digit: 'Dígito da conta',
  original_value: 'Valor original',
  platform_discounted_value: 'platformDiscountedValue',
  financial_discounted_value: 'financialDiscountedValue',
  buyer_discounted_value: 'buyerDiscountedValue',
  billing_fee: 'Tarifa de cobrança',
  money_transfer_fee: 'Tarifa de transferência',
  platform_commission: 'Comissão da plataforma',
  extra: 'Campos não documentados',
};

const HEADINGS_PT: Readonly<Record<string, string>> = {
  ...TITLE_NAMES_PT,
  id: 'Número do título',
  status: 'Situação',
  occurrence: 'Ocorrência',
  date: 'Data',
  state: 'Situação do dia',
  signed_off_at: 'Fechado em',
  signed_off_by: 'Fechado por',
  content_digest: 'Código de integridade',
  signed_off_digest: 'Código no fechamento',
  payment_hold: 'Pagamento retido',
  open_findings: 'Apontamentos em aberto',
  day_state: 'Situação do dia',
  day_signed_off_at: 'Dia fechado em',
  day_signed_off_digest: 'Código do dia no fechamento',
  day_content_digest: 'Código de integridade do dia',
  title_count: 'Títulos',
  withdrawn_count: 'Retirados',
  rejected_count: 'Rejeitados',
  sealed_digest: 'Código no fechamento',
  present_digest: 'Código atual',
  measure: 'Medida',
  sealed: 'No fechamento',
  present: 'Atual',
  difference: 'Diferença',
  title_id: 'Número do título',
  change: 'Mudança',
  field: 'Campo',
  before: 'Antes',
  after: 'Depois',
  before_amount: 'Valor antes',
  after_amount: 'Valor depois',
  pull_id: 'Busca',
};

/**
 * Returns the heading of a column.
 * @throws Error for a column without a Portuguese heading
 */
export function headingOf(column: string, language: FileLanguage): string {
  if (language === 'en') return column;
  const heading = HEADINGS_PT[column] ?? sumHeading(column);
  if (heading === undefined) throw new Error(`there is no Portuguese heading for ${column}`);
  return heading;
}

function sumHeading(column: string): string | undefined {
  const summed = column.endsWith('_sum') ? HEADINGS_PT[column.slice(0, -'_sum'.length)] : undefined;
  return summed === undefined ? undefined : `${summed} (soma)`;
}

/** Returns the columns with the headings of the language. */
export function withHeadings(
  columns: readonly ExportColumn[],
  language: FileLanguage,
): readonly ExportColumn[] {
  return columns.map((column) => ({ ...column, heading: headingOf(column.name, language) }));
}
