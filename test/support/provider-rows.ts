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

export async function readProviders({ prisma }: Database) {
  const rows = await prisma.provider.findMany({ orderBy: { externalId: 'asc' } });
  return new Map(
    rows.map((row) => [row.externalId, { state: row.syncState, error: row.lastError }]),
  );
}

export async function readBatches({ prisma }: Database) {
  const batches = await prisma.providerBatch.findMany({ orderBy: { id: 'asc' } });
  return batches.map((batch) => ({
    ...{ rows: batch.externalIds.length, status: batch.httpStatus },
    ...{ answer: batch.answer, errorCode: batch.errorCode },
  }));
}

export async function clearProviders(database: Database): Promise<void> {
  await database.prisma.$executeRaw`TRUNCATE conciliation.provider, conciliation.provider_batch`;
}
