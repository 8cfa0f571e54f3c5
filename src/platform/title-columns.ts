import type { CivilDate } from '../domain/business-day.ts';
import { type Decimal, parseDecimal } from '../domain/decimal.ts';
import type { JsonNumber, JsonObject } from '../domain/json-value.ts';
import type { Title } from '../domain/title.ts';
import type { ConciliationTitle } from './title-schema.ts';

/**
 * Returns the title as a row. Only for titles that have passed the schema: dates and amounts are
 * not checked again.
 */
export function toColumns(title: ConciliationTitle, extra: JsonObject | null): Title {
  const agent = title.financialAgent;
  const payment = agent?.payment;
  const provider = title.provider;
  const account = provider?.bankAccount;
  return {
    order_uid: title.order.uid,
    accepted_date: title.acceptedDate as CivilDate,
    anticipated_due_date: (title.anticipatedDueDate ?? null) as CivilDate | null,
    buyer_identification: title.buyerIdentification ?? null,
    provider_external_id: title.providerExternalId ?? provider?.externalId ?? null,
    provider_identification: provider?.identification ?? null,
    provider_bank: account?.bank ?? null,
    provider_agency: account?.agency ?? null,
    provider_agency_digit: account?.agencyDigit ?? null,
    provider_account: account?.account ?? null,
    provider_account_digit: account?.accountDigit ?? null,
    financial_agent_type: agent?.type ?? null,
    financial_agent_identification: agent?.identificationNumber ?? null,
    financial_agent_name: agent?.name ?? null,
    buyer_is_financial: agent?.buyerIsFinancial ?? null,
    payment_type: payment?.type ?? null,
    payment_bank: payment?.bank ?? null,
    payment_agency: payment?.agency ?? null,
    payment_agency_digit: payment?.agencyDigit ?? null,
    payment_account: payment?.account ?? null,
    payment_account_digit: payment?.accountDigit ?? null,
    original_value: toDecimal(title.originalValue),
    platform_discounted_value: toOptionalDecimal(title.platformDiscountedValue),
    financial_discounted_value: toOptionalDecimal(title.financialDiscountedValue),
    buyer_discounted_value: toOptionalDecimal(title.buyerDiscountedValue),
    billing_fee: toOptionalDecimal(title.billingFee),
    money_transfer_fee: toOptionalDecimal(title.moneyTransferFee),
    platform_commission: title.platformCommission ?? null,
    extra,
  };
}

function toOptionalDecimal(number: JsonNumber | null | undefined): Decimal | null {
  return number == null ? null : toDecimal(number);
}

function toDecimal({ text }: JsonNumber): Decimal {
  const decimal = parseDecimal(text);
  // A JsonNumber follows JSON's grammar, and the schema has checked the number of digits.
  if (decimal === null) throw new RangeError('not a JSON number');
  return decimal;
}
