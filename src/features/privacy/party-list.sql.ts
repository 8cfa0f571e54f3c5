import { randomBytes } from 'node:crypto';
import { recordAudit } from '../../base/audit/audit.ts';
import type { Database, Transaction } from '../../base/database/database.ts';
import { keysOf, type PartyNames } from './party-names.sql.ts';

/** The longest wait for running merges. Other merges wait during this time. */
export const LOCK_TIMEOUT = '30s';
/** The time limit of Prisma must not end a transaction that PostgreSQL still works on. */
export const TRANSACTION = { timeout: 86_400_000, maxWait: 30_000 } as const;

/** A row of `erased_party`. */
interface ListedParty {
  readonly id: bigint;
  readonly isNew: boolean;
}

/** Returns the row whose keys include one of `keys` and whose erasure has not ended; null: there is none. */
export async function findListed(
  client: Pick<Transaction, '$queryRaw'>,
  keys: readonly string[],
): Promise<ListedParty | null> {
  const [party] = await client.$queryRaw<[{ id: bigint }?]>`
    SELECT party.id FROM conciliation.erased_party AS party, unnest(${keys}::text[]) AS named (key)
    WHERE party.ended_at IS NULL
      AND sha256(party.salt || convert_to(named.key, 'UTF8')) = ANY(party.key_hashes)
    ORDER BY party.id LIMIT 1`;
  return party === undefined ? null : { id: party.id, isNew: false };
}

/**
 * Adds the party to the list, or keys to its row.
 * @throws StagingUnavailableError when running merges do not end within `LOCK_TIMEOUT`
 */
export function listParty(
  database: Database,
  names: PartyNames,
  { by, reason }: { readonly by: string; readonly reason: string },
): Promise<ListedParty> {
  const keys = keysOf(names);
  return database.prisma.$transaction(async (tx) => {
    await tx.$executeRaw`SELECT set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`;
    // Waits for every merge that has read the list: see `readDay`.
    await tx.$executeRaw`LOCK TABLE conciliation.erased_party IN ACCESS EXCLUSIVE MODE`;
    const known = await findListed(tx, keys);
    if (known !== null) {
      await tx.$executeRaw`
        UPDATE conciliation.erased_party party
        SET key_hashes = ARRAY(
          SELECT unnest(party.key_hashes)
          UNION SELECT sha256(party.salt || convert_to(key, 'UTF8')) FROM unnest(${keys}::text[]) AS key)
        WHERE id = ${known.id}`;
      return known;
    }
    const [party] = await tx.$queryRaw<[{ id: bigint }]>`
      INSERT INTO conciliation.erased_party (salt, key_hashes)
      SELECT salt, ARRAY(SELECT sha256(salt || convert_to(key, 'UTF8')) FROM unnest(${keys}::text[]) AS key)
      FROM (SELECT ${randomBytes(32)}::bytea AS salt) AS secret
      RETURNING id`;
    const details = { erasedPartyId: Number(party.id) };
    await recordAudit(tx, { actor: by, action: 'party.erase', reason, details });
    return { id: party.id, isNew: true };
  }, TRANSACTION);
}

/** Returns the number of erasures that were ended: 1, or 0 where the erasure does not exist or has ended. */
export function endErasure(
  client: Pick<Transaction, '$executeRaw'>,
  partyId: bigint,
): Promise<number> {
  return client.$executeRaw`
    UPDATE conciliation.erased_party SET ended_at = now()
    WHERE id = ${partyId} AND ended_at IS NULL`;
}
