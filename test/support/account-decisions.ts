import type { Database } from '../../src/base/database/database.ts';
import {
  type AccountDecision,
  decideAccountChanges,
} from '../../src/features/accounts/account-changes.sql.ts';

/** Decides all open changes of bank accounts, as a person does: one account of each party at a time. */
export async function decideOpenChanges(
  database: Database,
  state: AccountDecision = 'confirmed',
  by = 'ana',
): Promise<void> {
  const open = await database.prisma.accountChange.findMany({
    where: { state: 'open' },
    orderBy: { id: 'asc' },
  });
  const rounds: { readonly ids: bigint[]; readonly accounts: Map<string, string> }[] = [];
  for (const { id, kind, partyKey, accountHash } of open) {
    const party = `${kind} ${partyKey}`;
    let round = rounds.find(({ accounts }) => (accounts.get(party) ?? accountHash) === accountHash);
    if (round === undefined) {
      round = { ids: [], accounts: new Map() };
      rounds.push(round);
    }
    round.ids.push(id);
    round.accounts.set(party, accountHash);
  }
  for (const { ids } of rounds) {
    await decideAccountChanges(database, ids, { by, state, reason: 'called them' });
  }
}
