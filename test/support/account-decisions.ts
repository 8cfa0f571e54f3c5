import type { Database } from '../../src/base/database/database.ts';
import {
  type AccountDecision,
  decideAccountChanges,
} from '../../src/features/accounts/account-changes.sql.ts';

/** Decides all open changes of bank accounts, as a person does. */
export async function decideOpenChanges(
  database: Database,
  state: AccountDecision = 'confirmed',
  by = 'ana',
): Promise<void> {
  const changes = await database.prisma.accountChange.findMany({ where: { state: 'open' } });
  if (changes.length === 0) return;
  const ids = changes.map(({ id }) => id);
  await decideAccountChanges(database, ids, { by, state, reason: 'called them' });
}
