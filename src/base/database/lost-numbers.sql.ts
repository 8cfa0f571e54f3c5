import type { Transaction } from './database.ts';
import { takeLock } from './program-lock.sql.ts';

/**
 * After a restore of the database: makes the positions of the feeds and the ids of titles go on above every number that
 * was ever given.
 * @returns the next number
 */
export async function skipLostNumbers(tx: Transaction): Promise<bigint> {
  // Offers and changes are numbered under this lock.
  await takeLock(tx, 'closing');
  const [{ next }] = await tx.$queryRaw<[{ next: bigint }]>`
    SELECT conciliation.skip_numbers() AS next`;
  return next;
}
