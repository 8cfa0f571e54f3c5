import type { ClientBase } from 'pg';
import type { Database, Transaction, TransactionSession } from '../../database/database.ts';
import { canPrepare, withDirectSql } from '../../database/direct-sql.ts';
import { configurePlanner } from '../../ledger/planner-settings.sql.ts';
import { type Attempt, staleFence } from '../../ledger/pull-ledger.sql.ts';

/**
 * Longer than any transaction that the database permits. If Prisma timed out while a COMMIT is on its way,
 * the outcome would be unknown. The database's statement_timeout limits every step.
 */
export const MERGE_TRANSACTION = { timeout: 86_400_000, maxWait: 30_000 } as const;

/**
 * Runs `work` in the transaction of a merge, which holds the row of the attempt's pull.
 *
 * @param work gets the connection of the transaction, or null behind a pooler that hides it
 * @throws StaleFenceError when another attempt has taken the pull over
 */
export function inMerge<T>(
  database: Database,
  attempt: Attempt,
  work: (tx: Transaction, connection: ClientBase | null) => Promise<T>,
): Promise<T> {
  return database.prisma.$transaction(async (prismaTx) => {
    const session = await lockRunningPull(prismaTx, attempt);
    const connection = await database.connectionOf(session);
    const isPrepared = connection !== null && canPrepare(connection, session);
    const tx = connection === null ? prismaTx : withDirectSql(prismaTx, connection, isPrepared);
    await configurePlanner(tx, isPrepared);
    return work(tx, connection);
  }, MERGE_TRANSACTION);
}

/**
 * Locks the row of the attempt's pull.
 *
 * @returns the session that has the lock
 * @throws StaleFenceError when another attempt has taken the pull over
 */
async function lockRunningPull(tx: Transaction, attempt: Attempt): Promise<TransactionSession> {
  const [session] = await tx.$queryRaw<[TransactionSession?]>`
    SELECT pg_backend_pid() AS "serverPid", pg_current_xact_id()::text AS "transactionId"
    FROM conciliation.pull
    WHERE id = ${attempt.pullId} AND fence = ${attempt.fence} AND state = 'running'
    FOR UPDATE`;
  if (session === undefined) throw staleFence(attempt);
  return session;
}
