import { expect, test } from 'vitest';
import { withClient } from '../../support/client.ts';
import { worldWithUsers } from '../../support/file-world.ts';

const world = worldWithUsers();

/**
 * Attaches the trigger function to a temporary table whose row type has a cast to audit_entry. The cast
 * calls a function of the attacker, which reports the user whose rights it has.
 */
const ATTACK = [
  'CREATE TEMPORARY TABLE forged (LIKE conciliation.audit_entry)',
  `CREATE FUNCTION pg_temp.as_entry(forged) RETURNS conciliation.audit_entry LANGUAGE plpgsql AS $$
     BEGIN
       RAISE NOTICE 'ran as %', current_user;
       RETURN ROW($1.*)::conciliation.audit_entry;
     END $$`,
  `CREATE CAST (forged AS conciliation.audit_entry)
     WITH FUNCTION pg_temp.as_entry(forged) AS IMPLICIT`,
  `CREATE TRIGGER attack AFTER INSERT ON forged
     FOR EACH ROW EXECUTE FUNCTION conciliation.link_audit_entry()`,
  `INSERT INTO forged (id, at, actor, action) VALUES (1, now(), 'attacker', 'user.add')`,
];

test.each(['erp', 'finance', 'worker'] as const)(
  'no code of %s runs as the owner',
  async (role) => {
    const notices: (string | undefined)[] = [];
    const attack = withClient(world.users.urlOf(role), async (client) => {
      client.on('notice', (notice) => notices.push(notice.message));
      for (const statement of ATTACK) await client.query(statement);
    });
    await expect(attack).rejects.toMatchObject({ code: '42501' });
    expect(notices).toEqual([]);
  },
);

test('the trigger function refuses every table but its own, also when the owner attaches it', async () => {
  const attack = withClient(world.databaseUrl, async (client) => {
    for (const statement of ATTACK) await client.query(statement);
  });
  await expect(attack).rejects.toMatchObject({ code: '42501' });
});
