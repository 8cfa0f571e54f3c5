import type { Database } from '../../base/database/database.ts';
import { createApiKey, readApiKeys, revokeApiKey } from '../../console/access/api-keys.sql.ts';
import { setConsumer } from '../../features/bookings/consumers.ts';

const NAME = 'made-up ERP';

/**
 * Makes the made-up ERP of the demo the consumer `erp`. A key of an earlier start is revoked.
 *
 * @param actor.user the owner of the key
 * @returns the API key of the consumer
 */
export async function createDemoConsumer(
  database: Database,
  actor: { readonly user: string; readonly by: string },
): Promise<string> {
  const { user, by } = actor;
  for (const { id, name, revokedAt } of await readApiKeys(database)) {
    if (name === NAME && revokedAt === null) await revokeApiKey(database, BigInt(id), by);
  }
  const key = await createApiKey(database, {
    ...{ name: NAME, user, role: 'reviewer', scopes: ['export'], validDays: 365, by },
  });
  const newest = (await readApiKeys(database)).find(
    ({ name, revokedAt }) => name === NAME && revokedAt === null,
  );
  const consumer = { name: 'erp', databaseRole: null, buyers: [] };
  await setConsumer(database, { ...consumer, apiKeyId: newest?.id ?? null }, by);
  return key;
}
