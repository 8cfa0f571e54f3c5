import type { Database, Transaction } from '../../src/base/database/database.ts';
import { toCpf } from '../../src/demo/synthetic-titles.ts';

/** A valid CPF for each number up to 899,999,999. */
export const cpfOf = (number: number) => toCpf(String(100_000_000 + number));

/**
 * A provider in the interface's shape. Its personal data is recognisable: nothing of it may ever show
 * up in a log.
 */
export function providerOf(number: number, fields: Record<string, unknown> = {}) {
  return {
    externalId: `F${String(number).padStart(6, '0')}`,
    type: 'INDIVIDUAL',
    identificationNumber: cpfOf(number),
    name: 'CANARY Fornecedor',
    canAnticipate: true,
    phones: [{ number: '+55 11 91234-5678' }],
    emailAddresses: [{ email: 'canary@example.com' }],
    accounts: [
      {
        bankNumber: '341',
        agencyNumber: '0987',
        accountNumber: '7654321',
        accountDigit: '0',
        type: 'CHECKING_ACCOUNT',
        defaultAccount: true,
      },
    ],
    ...fields,
  };
}

/** Writes providers the way an ERP does, all of them in one statement. */
export async function writeProviders(
  database: { readonly prisma: Transaction },
  providers: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  await database.prisma.$executeRaw`
    INSERT INTO conciliation.provider AS provider
      (external_id, type, identification_number, name, can_anticipate, phones, email_addresses, accounts)
    SELECT "externalId", type, "identificationNumber", name, "canAnticipate", phones, "emailAddresses",
           accounts
    FROM jsonb_to_recordset(${JSON.stringify(providers)}::jsonb) AS given
      ("externalId" text, type text, "identificationNumber" text, name text,
       "canAnticipate" boolean, phones jsonb, "emailAddresses" jsonb, accounts jsonb)
    ON CONFLICT (external_id) DO UPDATE
    SET type = excluded.type, identification_number = excluded.identification_number,
        name = excluded.name, can_anticipate = excluded.can_anticipate, phones = excluded.phones,
        email_addresses = excluded.email_addresses, accounts = excluded.accounts`;
}

export interface ProviderRow {
  readonly state: string;
  readonly error: string | null;
}

export async function readProviders(database: Database): Promise<Map<string, ProviderRow>> {
  const rows = await database.prisma.$queryRaw<(ProviderRow & { id: string })[]>`
    SELECT external_id AS id, sync_state AS state, last_error AS error
    FROM conciliation.provider ORDER BY external_id`;
  return new Map(rows.map(({ id, ...row }) => [id, row]));
}

export interface BatchRow {
  readonly rows: number;
  readonly status: number | null;
  readonly answer: string | null;
  readonly errorCode: string | null;
}

export function readBatches(database: Database): Promise<BatchRow[]> {
  return database.prisma.$queryRaw<BatchRow[]>`
    SELECT cardinality(external_ids) AS rows, http_status AS status, answer, error_code AS "errorCode"
    FROM conciliation.provider_batch ORDER BY id`;
}

export async function clearProviders(database: Database): Promise<void> {
  await database.prisma.$executeRaw`TRUNCATE conciliation.provider, conciliation.provider_batch`;
}
