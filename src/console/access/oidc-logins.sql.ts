import { recordAudit } from '../../base/audit/audit.ts';
import type { Database } from '../../base/database/database.ts';
import { parseEmailAddress } from './console-users.sql.ts';

export interface OidcIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** Null: there is no address, or it is not verified. */
  readonly verifiedEmail: string | null;
}

export type OidcUser =
  | { readonly refused: null; readonly id: bigint; readonly name: string }
  | { readonly refused: 'unknown' | 'unverified' | 'disabled' };

/**
 * Returns the user of an account. An account without an earlier sign-in is linked to the user with
 * its verified e-mail address. From then on only the subject counts, so that a later owner of the
 * address gets no access. No user is created. Refusals of verified accounts are audited here.
 */
export function findOidcUser(
  database: Database,
  identity: OidcIdentity,
  address: string,
): Promise<OidcUser> {
  const { issuer, subject } = identity;
  const email = parseEmailAddress(identity.verifiedEmail ?? '');
  return database.prisma.$transaction(async (tx) => {
    const [user] = await tx.$queryRaw<
      [{ id: bigint; name: string; isDisabled: boolean; isBound: boolean }?]
    >`
      SELECT id, name, disabled_at IS NOT NULL AS "isDisabled",
             oidc_subject IS NOT NULL AS "isBound"
      FROM conciliation.console_user
      WHERE (oidc_issuer = ${issuer} AND oidc_subject = ${subject})
         OR (oidc_subject IS NULL AND email = ${email})
      ORDER BY oidc_subject IS NULL LIMIT 1 FOR UPDATE`;
    const unknown = email === null ? 'unverified' : 'unknown';
    const refused = user === undefined ? unknown : user.isDisabled ? 'disabled' : null;
    if (user === undefined || refused !== null) {
      await recordAudit(tx, {
        actor: user?.name ?? 'identity provider',
        action: 'session.refused_account',
        details: { reason: refused, address },
      });
      return { refused: refused ?? unknown };
    }
    if (!user.isBound) {
      await tx.consoleUser.update({
        where: { id: user.id },
        data: { oidcIssuer: issuer, oidcSubject: subject },
      });
      await recordAudit(tx, { actor: user.name, action: 'user.bind', details: { issuer } });
    }
    return { refused: null, id: user.id, name: user.name };
  });
}
