import { recordAudit } from '../../base/audit/audit.ts';
import type { Database, Transaction } from '../../base/database/database.ts';
import { refusal } from '../../base/texts/texts.ts';
import { changeProven, endSessionsOf, type ProvenUser } from '../access/console-sessions.sql.ts';
import { requireUser } from '../access/console-users.sql.ts';
import { type CodeMatch, hashRecoveryCode, matchCode, newRecoveryCodes } from './second-factor.ts';

/**
 * Uses a code up. Of two concurrent calls with one code one returns false.
 * @returns false: the code, or a newer one, was used before, or the second factor is another now
 */
export function useCode(
  database: Database,
  user: { readonly id: bigint; readonly name: string; readonly secret: string },
  match: CodeMatch,
): Promise<boolean> {
  return database.prisma.$transaction(async (tx) => {
    if ('step' in match) {
      const used = await tx.$executeRaw`
        UPDATE conciliation.console_user SET totp_step = ${match.step}::bigint
        WHERE id = ${user.id} AND totp_secret = ${user.secret} AND totp_step < ${match.step}::bigint`;
      return used === 1;
    }
    const [used] = await tx.$queryRaw<[{ left: number }?]>`
      UPDATE conciliation.console_user
      SET recovery_hashes = array_remove(recovery_hashes, ${match.recoveryHash})
      WHERE id = ${user.id} AND totp_secret = ${user.secret}
        AND ${match.recoveryHash} = ANY (recovery_hashes)
      RETURNING cardinality(recovery_hashes) AS left`;
    if (used === undefined) return false;
    await recordAudit(tx, {
      actor: user.name,
      action: 'user.recovery_code',
      details: { left: used.left },
    });
    return true;
  });
}

/**
 * Makes a secret that a code confirms the second factor of the user, and ends the other sessions of the user.
 * @returns null: the user has a second factor already, or password or session are not as they were
 * @throws InputError for a wrong code
 */
export async function enrol(
  database: Database,
  user: ProvenUser & { readonly seconds: number },
  {
    token,
    secret,
    code,
  }: { readonly token: string; readonly secret: string; readonly code: string },
): Promise<{ readonly token: string; readonly recoveryCodes: string[] } | null> {
  if (user.factor !== null) return null;
  const match = matchCode({ secret, recoveryHashes: [] }, code, user.seconds);
  if (match === null || !('step' in match)) throw refusal('wrong_code');
  const recoveryCodes = newRecoveryCodes();
  const recoveryHashes = recoveryCodes.map(hashRecoveryCode);
  const renewed = await changeProven(database, user, token, factorEntry('set'), async (tx) => {
    await tx.consoleUser.update({
      where: { id: user.id },
      data: { totpSecret: secret, totpStep: match.step, recoveryHashes },
    });
  });
  return renewed === null ? null : { token: renewed, recoveryCodes };
}

/**
 * Removes the second factor of the user, and ends the other sessions of the user.
 * @returns the new token of the session; null: password, second factor or session are not as they were
 */
export const removeFactor = (
  database: Database,
  user: ProvenUser,
  token: string,
): Promise<string | null> =>
  changeProven(database, user, token, factorEntry('removed'), async (tx) => {
    await clearFactor(tx, user.id);
  });

/**
 * Removes the second factor of another user, who lost it, and ends all sessions of that user. The
 * password stays.
 * @throws InputError: for an unknown user, for a user without a second factor,
 * and for the acting user
 */
export function resetFactor(
  database: Database,
  change: { readonly name: string; readonly by: string },
): Promise<void> {
  return database.prisma.$transaction(async (tx) => {
    const { id, name } = await requireUser(tx, change.name);
    // Otherwise a stolen session would remove the second factor without a code.
    if (name === change.by) throw refusal('own_factor');
    if ((await clearFactor(tx, id)) === 0) throw refusal('no_factor');
    await endSessionsOf(tx, id);
    await recordAudit(tx, {
      actor: change.by,
      action: 'user.second_factor',
      details: { user: name, secondFactor: 'reset' },
    });
  });
}

async function clearFactor(tx: Transaction, id: bigint): Promise<number> {
  const { count } = await tx.consoleUser.updateMany({
    where: { id, totpSecret: { not: null } },
    data: { totpSecret: null, totpStep: null, recoveryHashes: [] },
  });
  return count;
}

const factorEntry = (secondFactor: 'set' | 'removed') =>
  ({ action: 'user.second_factor', details: { secondFactor } }) as const;
