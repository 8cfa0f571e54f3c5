import type { Database } from '../../src/base/database/database.ts';
import {
  type AccountDecision,
  decideAccountChanges,
} from '../../src/features/accounts/account-changes.sql.ts';

/** Decides all open changes of bank accounts, as a person does: one account of a party at a time. */
export async function decideOpenChanges(
  database: Database,
  state: AccountDecision = 'confirmed',
  by = 'ana',
): Promise<void> {
  const open = await database.prisma.accountChange.findMany({
    where: { state: 'open' },
    orderBy: { id: 'asc' },
  });
  const accounts = new Map<string, bigint[]>();
  for (const { id, kind, partyKey, accountHash } of open) {
    const account = `${kind} ${partyKey} ${accountHash}`;
    accounts.set(account, [...(accounts.get(account) ?? []), id]);
  }
  for (const ids of accounts.values()) {
    await decideAccountChanges(database, ids, { by, state, list: 'open', reason: 'called them' });
  }
}
