import {
  JsonNumber,
  type JsonObject,
  type JsonValue,
} from '../../../src/base/values/json-value.ts';

/** As the reader of answers builds it: numbers as text, objects without a prototype. */
export function toJsonValue(value: unknown): JsonValue {
  if (typeof value === 'number') return new JsonNumber(String(value));
  if (value instanceof JsonNumber || value === null || typeof value !== 'object') {
    return value as JsonValue;
  }
  if (Array.isArray(value)) return value.map(toJsonValue);
  const fields = Object.entries(value).map(([name, field]) => [name, toJsonValue(field)]);
  return Object.assign(Object.create(null), Object.fromEntries(fields));
}

/** A title with every documented field. */
export function completeTitle() {
  return {
    order: { uid: 'order-1' },
    financialAgent: {
      type: 'INDIVIDUAL',
      identificationNumber: '52998224725',
      name: 'Agente Exemplo',
      buyerIsFinancial: false,
      payment: {
        type: 'BANK_TRANSFER',
        bank: '341',
        agency: '0001',
        agencyDigit: '9',
        account: '123456',
        accountDigit: '7',
      },
    },
    buyerIdentification: '11222333000181',
    providerExternalId: 'F-1',
    platformDiscountedValue: new JsonNumber('9.80'),
    financialDiscountedValue: new JsonNumber('1e2'),
    buyerDiscountedValue: new JsonNumber('0.10'),
    billingFee: new JsonNumber('-0.00'),
    moneyTransferFee: new JsonNumber('3.5'),
    originalValue: new JsonNumber('12345678901234567890.12'),
    anticipatedDueDate: '2026-02-28',
    acceptedDate: '2026-01-02',
    platformCommission: '1,5%',
    provider: {
      identification: '11222333000182',
      externalId: 'F-1',
      bankAccount: {
        bank: '001',
        agency: '1234',
        agencyDigit: 'X',
        account: '998877',
        accountDigit: '1',
      },
    },
  };
}

/** The required fields of a title. */
export function barestTitle() {
  return { order: { uid: 'o' }, acceptedDate: '2026-01-02', originalValue: new JsonNumber('1') };
}

/** The title, the complete one by default, with a field replaced or added, such as `order.uid`. */
export function titleWith(path: string, replacement: unknown, title: object = completeTitle()) {
  return toJsonValue(replaced(title, path.split('.'), replacement)) as JsonObject;
}

/** The complete title without a field. */
export const titleWithout = (path: string) => titleWith(path, undefined);

function replaced(
  object: object,
  [name = '', ...rest]: readonly string[],
  replacement: unknown,
): object {
  const entries = Object.entries(object).filter(([field]) => field !== name);
  const inner = (object as Record<string, unknown>)[name];
  const value = rest.length === 0 ? replacement : replaced(inner as object, rest, replacement);
  if (value !== undefined) entries.push([name, value]);
  return Object.fromEntries(entries);
}
