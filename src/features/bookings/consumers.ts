import { recordAudit } from '../../base/audit/audit.ts';
import type { Database } from '../../base/database/database.ts';
import { takeLock } from '../../base/database/program-lock.sql.ts';
import { InputError } from '../../base/runtime/errors.ts';
import { parseCnpj } from '../../base/values/tax-id.ts';
import { requireErpRole } from './feed.sql.ts';

/** A system that posts lines. `booking_consumer` describes the fields. */
export interface Consumer {
  readonly name: string;
  readonly databaseRole: string | null;
  readonly apiKeyId: number | null;
  readonly buyers: readonly string[];
}

const NAME = /^[a-z][a-z0-9_-]{0,62}$/;

/**
 * Names a consumer, or changes it. Lines that exist keep their consumer, and so do the later lines of their bookings.
 * @throws InputError for an invalid name, a buyer that is no CNPJ, a key that does not exist, a role that is no member
 *   of conciliation_erp, or a role, key or buyer of another consumer
 */
export function setConsumer(database: Database, consumer: Consumer, by: string): Promise<void> {
  const { name, databaseRole } = consumer;
  if (!NAME.test(name)) {
    throw new InputError(
      'name: expected a lower-case letter, then at most 62 lower-case letters, digits, "_" or "-"',
    );
  }
  const buyers = [...new Set(consumer.buyers.map(toCnpj))];
  return database.prisma.$transaction(async (tx) => {
    const apiKeyId = consumer.apiKeyId === null ? null : BigInt(consumer.apiKeyId);
    if (apiKeyId !== null && (await tx.apiKey.count({ where: { id: apiKeyId } })) === 0) {
      throw new InputError(`key: there is no key ${apiKeyId}`);
    }
    if (databaseRole !== null) await requireErpRole(tx, databaseRole);
    // Otherwise two commands could give one buyer to two consumers.
    await takeLock(tx, 'closing');
    const other = await tx.bookingConsumer.findFirst({
      where: {
        name: { not: name },
        OR: [
          ...(databaseRole === null ? [] : [{ databaseRole }]),
          ...(apiKeyId === null ? [] : [{ apiKeyId }]),
          { buyers: { hasSome: buyers } },
        ],
      },
      select: { name: true },
    });
    if (other !== null) {
      throw new InputError(
        `the database role, the key or a buyer belongs to the consumer ${other.name}`,
      );
    }
    await tx.bookingConsumer.upsert({
      where: { name },
      create: { name, databaseRole, apiKeyId, buyers },
      update: { databaseRole, apiKeyId, buyers },
      select: { name: true },
    });
    await tx.bookingPosition.createMany({ data: { consumer: name }, skipDuplicates: true });
    await recordAudit(tx, {
      actor: by,
      action: 'bookings.consumer',
      details: { name, databaseRole, apiKeyId: consumer.apiKeyId, buyers },
    });
  });
}

/** The message has the position of a buyer and not the text, which may be a tax identifier. */
function toCnpj(buyer: string, index: number): string {
  const cnpj = parseCnpj(buyer);
  if (cnpj === null) {
    throw new InputError(
      `buyers: number ${index + 1} is no CNPJ; expected 14 characters with the right check digits, with or without mask`,
    );
  }
  return cnpj.digits;
}
