import { parseCivilDate } from './business-day.ts';
import { isPlainDecimal, parseDecimal } from './decimal.ts';
import { type FieldFault, FieldReader, isObject, MAX_KEY_CHARACTERS } from './field-reader.ts';
import { parseTaxId, TAX_ID_EXPECTATION } from './tax-id.ts';

/** The states of a payable in the ERP. */
export const PAYABLE_STATUSES = ['open', 'paid', 'cancelled'] as const;
type PayableStatus = (typeof PAYABLE_STATUSES)[number];

/** A payable of the ERP, as a file or a request states it. */
export interface Payable {
  /** The ERP's own key, unique over all companies. */
  readonly erpKey: string;
  /** The company or branch that owes, in the words of the ERP. */
  readonly company: string | null;
  readonly supplierExternalId: string | null;
  /** CPF or CNPJ without mask, upper case. */
  readonly supplierTaxId: string | null;
  readonly document: string | null;
  readonly instalment: string | null;
  /** The platform's order, where the ERP knows it. */
  readonly orderUid: string | null;
  readonly dueDate: string | null;
  /** An exact decimal in plain notation. Negative: a credit note. */
  readonly openValue: string;
  readonly status: PayableStatus;
  /** CPF or CNPJ of the party that the ERP is going to pay; null: the supplier. */
  readonly payee: string | null;
  /** The ERP's version of the payable, as text. */
  readonly version: string | null;
}

/** The fields in the order of the documents. */
export const PAYABLE_FIELDS = [
  'erpKey',
  'company',
  'supplierExternalId',
  'supplierTaxId',
  'document',
  'instalment',
  'orderUid',
  'dueDate',
  'openValue',
  'status',
  'payee',
  'version',
] as const satisfies readonly (keyof Payable)[];

/** The fields that every payable has. */
export const REQUIRED_PAYABLE_FIELDS = [
  'erpKey',
  'openValue',
] as const satisfies readonly (keyof Payable)[];

export type PayableCheck =
  | { readonly ok: true; readonly payable: Payable }
  | { readonly ok: false; readonly faults: readonly FieldFault[] };

const MAX_VALUE_CHARACTERS = 60;
const AMOUNT_EXPECTATION = 'expected an exact decimal as text, such as "1234.50"';
const SUPPLIER_EXPECTATION = 'missing; expected supplierExternalId, supplierTaxId or both';

/**
 * Checks a payable and collects all faults. Null, empty text and absent are equal. A payable names its supplier
 * by the ERP's code, by the tax identifier, or by both. An absent status is `open`.
 */
export function checkPayable(value: unknown): PayableCheck {
  if (!isObject(value))
    return { ok: false, faults: [{ field: '(payable)', expected: 'expected an object' }] };
  const faults: FieldFault[] = [];
  const check = new FieldReader(withoutEmpty(value), '', faults);
  const text = (field: keyof Payable) => check.word(field, MAX_KEY_CHARACTERS)?.trim() ?? null;
  const taxId = (field: 'supplierTaxId' | 'payee') => {
    const written = text(field);
    if (written === null) return null;
    const parsed = parseTaxId(written);
    if (parsed === null) check.fault(field, TAX_ID_EXPECTATION);
    return parsed?.digits ?? null;
  };
  const payable = {
    erpKey: check.requiredText('erpKey', MAX_KEY_CHARACTERS).trim(),
    company: text('company'),
    supplierExternalId: text('supplierExternalId'),
    supplierTaxId: taxId('supplierTaxId'),
    document: text('document'),
    instalment: text('instalment'),
    orderUid: text('orderUid'),
    dueDate: dateOf(check),
    openValue: openValueOf(check),
    status: statusOf(check),
    payee: taxId('payee'),
    version: text('version'),
  };
  if (
    payable.supplierExternalId === null &&
    payable.supplierTaxId === null &&
    !check.hasFault('supplierExternalId') &&
    !check.hasFault('supplierTaxId')
  ) {
    check.fault('supplierExternalId', SUPPLIER_EXPECTATION);
  }
  check.refuseFurtherFields(PAYABLE_FIELDS);
  return faults.length > 0 ? { ok: false, faults } : { ok: true, payable };
}

function withoutEmpty(value: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== ''));
}

function dateOf(check: FieldReader): string | null {
  const text = check.text('dueDate', MAX_KEY_CHARACTERS);
  if (text === undefined) return null;
  const date = parseCivilDate(text);
  if (date === null) check.fault('dueDate', 'expected a calendar date as YYYY-MM-DD');
  return date;
}

function openValueOf(check: FieldReader): string {
  const text = check.text('openValue', MAX_VALUE_CHARACTERS);
  if (check.hasFault('openValue')) return '0';
  if (text === undefined) check.fault('openValue', `missing; ${AMOUNT_EXPECTATION}`);
  else if (!isPlainDecimal(text) || parseDecimal(text) === null) {
    check.fault('openValue', AMOUNT_EXPECTATION);
  }
  return text ?? '0';
}

function statusOf(check: FieldReader): PayableStatus {
  const text = check.text('status', MAX_KEY_CHARACTERS) ?? 'open';
  const status = PAYABLE_STATUSES.find((known) => known === text.toLowerCase());
  if (status === undefined && !check.hasFault('status')) {
    check.fault('status', `expected ${PAYABLE_STATUSES.join(', ')}`);
  }
  return status ?? 'open';
}
