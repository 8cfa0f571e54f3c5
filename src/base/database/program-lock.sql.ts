import type { Transaction } from './database.ts';

/** Rows of `program_lock` that a transaction keeps locked until it ends. */
export type ProgramLock = 'closing' | 'planner' | 'alerts' | 'push' | 'matching' | 'checks';

/**
 * Waits for the lock. A separate statement, because only the following statements see what the transaction before
 * has committed.
 */
export async function takeLock(tx: Transaction, lock: ProgramLock): Promise<void> {
  await tx.$executeRaw`SELECT FROM conciliation.program_lock WHERE name = ${lock} FOR UPDATE`;
}
