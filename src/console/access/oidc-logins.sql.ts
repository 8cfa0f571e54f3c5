import { recordAudit } from '../../base/audit/audit.ts';
import type { Database } from '../../base/database/database.ts';
import { hashToken } from '../../base/runtime/secrets.ts';
import { parseEmailAddress } from './console-users.sql.ts';

/** Enough time for a second factor. */
const VALID_MINUTES = 10;

/** A sign-in that waits for the identity provider. */
export interface OidcLogin {
  readonly nonce: string;
  readonly codeVerifier: string;
  /** The path of the console after the sign-in. */
  readonly next: string;
}

export interface OidcIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** Null: there is no address, or it is not verified. */
  readonly verifiedEmail: string | null;
}

export type OidcUser =
  | { readonly refused: null; readonly id: bigint; readonly name: string }
  | { readonly refused: 'unknown' | 'unverified' | 'disabled' };

/** Stores the data for the return of the browser of `visit`. */
export async function beginOidcLogin(
  database: Database,
  login: OidcLogin & { readonly state: string; readonly visit: string },
): Promise<void> {
  await database.prisma.$executeRaw`
    DELETE FROM conciliation.console_oidc_login WHERE expires_at <= now()`;
  await database.prisma.$executeRaw`
    INSERT INTO conciliation.console_oidc_login
      (state_hash, visit_hash, nonce, code_verifier, next, expires_at)
    VALUES (${hashToken(login.state)}, ${hashToken(login.visit)}, ${login.nonce},
            ${login.codeVerifier}, ${login.next},
            now() + make_interval(mins => ${VALID_MINUTES}::int))`;
}

/**
 * Deletes and returns a sign-in, so that an answer of the provider can be used only once.
 * @returns null when the state is unknown, expired or used, or belongs to another browser
 */
export async function takeOidcLogin(
  database: Database,
  state: string,
  visit: string,
): Promise<OidcLogin | null> {
  const [login] = await database.prisma.$queryRaw<[OidcLogin?]>`
    DELETE FROM conciliation.console_oidc_login
    WHERE state_hash = ${hashToken(state)} AND visit_hash = ${hashToken(visit)}
      AND expires_at > now()
    RETURNING nonce, code_verifier AS "codeVerifier", next`;
  return login ?? null;
}

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
