import type { CivilDate } from '../../src/base/values/business-day.ts';
import { DAY } from './pull-world.ts';

/**
 * A title as the platform writes it, JSON text, so that its numbers are exactly what a test says.
 * Its personal data is recognisable: nothing of it may ever show up in a log.
 */
export function titleText(
  fields: {
    readonly uid?: string;
    readonly date?: CivilDate;
    readonly value?: string;
    readonly discount?: string;
    readonly dueDate?: string;
    readonly name?: string;
    readonly more?: string;
    readonly buyer?: string;
    /** The tax identifier of the financial agent. */
    readonly agent?: string;
    /** The supplier's code of the ERP. */
    readonly code?: string | null;
    /** The supplier's tax identifier. */
    readonly taxId?: string;
    /** The supplier's bank account. */
    readonly account?: string;
    readonly accountDigit?: string;
    /** The financial agent's bank account. */
    readonly agentAccount?: string;
  } = {},
): string {
  const {
    uid = 'order-1',
    date = DAY,
    value = '1000.50',
    discount = '12.34',
    dueDate = '2026-06-30',
    name = 'CANARY Agente Financeiro',
    more = '',
    buyer = '90021382000122',
    agent = '11222333000181',
    taxId = '52998224725',
    account = '7654321',
    accountDigit = '0',
    agentAccount = '1234567',
  } = fields;
  const code = JSON.stringify(fields.code === undefined ? 'P-1' : fields.code);
  return (
    `{"order":{"uid":${JSON.stringify(uid)}},"financialAgent":{"type":"INDIVIDUAL",` +
    `"identificationNumber":"${agent}","name":${JSON.stringify(name)},"buyerIsFinancial":false,` +
    `"payment":{"type":"BANK_TRANSFER","bank":"341","agency":"0987","agencyDigit":"","account":"${agentAccount}","accountDigit":"8"}},` +
    `"buyerIdentification":"${buyer}","providerExternalId":${code},"platformDiscountedValue":${discount},` +
    `"financialDiscountedValue":1,"buyerDiscountedValue":0.5,"billingFee":0,"moneyTransferFee":3.90,` +
    `"originalValue":${value},"anticipatedDueDate":"${dueDate}","acceptedDate":"${date}","platformCommission":"0.5%",` +
    `"provider":{"identification":"${taxId}","externalId":${code},"bankAccount":{"bank":"001","agency":"1111","agencyDigit":"X","account":"${account}","accountDigit":"${accountDigit}"}}${more}}`
  );
}

/** Titles with the orders `t0`, `t1` and so on. */
export const titleTexts = (count: number, fields: Parameters<typeof titleText>[0] = {}) =>
  Array.from({ length: count }, (_, index) =>
    titleText({ ...fields, uid: `${fields.uid ?? 't'}${index}` }),
  );

/** Titles with these orders. */
export const titlesOf = (uids: readonly string[], fields: Parameters<typeof titleText>[0] = {}) =>
  uids.map((uid) => titleText({ ...fields, uid }));
