import type { CivilDate } from '../../src/base/values/business-day.ts';
import { DAY } from './pull-world.ts';

/** What a title states. Null: the platform states null. */
export interface TitleFields {
  readonly uid?: string;
  readonly date?: CivilDate;
  readonly value?: string;
  readonly discount?: string | null;
  readonly dueDate?: string | null;
  /** Of the financial agent, and its tax identifier. */
  readonly name?: string | null;
  readonly agent?: string | null;
  /** The buyer is the financial agent. */
  readonly isBuyer?: boolean | null;
  /** JSON behind the documented fields. */
  readonly more?: string;
  readonly buyer?: string;
  /** The supplier's code of the ERP, tax identifier and bank account. */
  readonly code?: string | null;
  readonly taxId?: string | null;
  readonly account?: string | null;
  readonly accountDigit?: string;
  /** The financial agent's bank account. */
  readonly agentAccount?: string | null;
}

/**
 * A title as the platform writes it, JSON text, so that its numbers are exactly what a test says.
 * Its personal data is recognisable: nothing of it may ever show up in a log.
 */
export function titleText(fields: TitleFields = {}): string {
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
    isBuyer = false,
    code = 'P-1',
    taxId = '52998224725',
    account = '7654321',
    accountDigit = '0',
    agentAccount = '1234567',
  } = fields;
  const json = JSON.stringify;
  const MEMBERS = ['bank', 'agency', 'agencyDigit', 'account', 'accountDigit'];
  const bankAccount = (...values: readonly (string | null)[]) =>
    Object.fromEntries(
      MEMBERS.map((name, place) => [name, values[3] === null ? null : values[place]]),
    );
  const payment = bankAccount('341', '0987', '', agentAccount, '8');
  const supplied = bankAccount('001', '1111', 'X', account, accountDigit);
  return (
    `{"order":{"uid":${json(uid)}},"financialAgent":{"type":"INDIVIDUAL",` +
    `"identificationNumber":${json(agent)},"name":${json(name)},"buyerIsFinancial":${isBuyer},` +
    `"payment":${json({ type: 'BANK_TRANSFER', ...payment })}},` +
    `"buyerIdentification":${json(buyer)},"providerExternalId":${json(code)},"platformDiscountedValue":${discount},` +
    `"financialDiscountedValue":1,"buyerDiscountedValue":0.5,"billingFee":0,"moneyTransferFee":3.90,` +
    `"originalValue":${value},"anticipatedDueDate":${json(dueDate)},"acceptedDate":"${date}","platformCommission":"0.5%",` +
    `"provider":{"identification":${json(taxId)},"externalId":${json(code)},"bankAccount":${json(supplied)}}${more}}`
  );
}

/** Titles with the orders `t0`, `t1` and so on. */
export const titleTexts = (count: number, fields: TitleFields = {}) =>
  Array.from({ length: count }, (_, index) =>
    titleText({ ...fields, uid: `${fields.uid ?? 't'}${index}` }),
  );

/** Titles with these orders. */
export const titlesOf = (uids: readonly string[], fields: TitleFields = {}) =>
  uids.map((uid) => titleText({ ...fields, uid }));
