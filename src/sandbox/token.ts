import { randomUUID } from 'node:crypto';
import { createSigner, createVerifier } from 'fast-jwt';

export interface TokenAuthority {
  /** A bearer token; zero or a negative lifetime gives one that has expired. */
  issue(lifetimeSeconds: number): string;
  /** Whether an `Authorization` header carries a token of this authority that is still good. */
  isAuthorized(header: string | undefined): boolean;
}

const BEARER = /^Bearer +(\S+)$/i;

/** HS256. Tokens outlive a restart exactly when `secret` does. */
export function createTokenAuthority(secret: string): TokenAuthority {
  const sign = createSigner({ algorithm: 'HS256', key: secret });
  const verify = createVerifier({ algorithms: ['HS256'], key: secret, requiredClaims: ['exp'] });
  return {
    issue: (lifetimeSeconds) =>
      sign({
        sub: 'buyer-erp',
        jti: randomUUID(),
        exp: Math.floor(Date.now() / 1000 + lifetimeSeconds),
      }),
    isAuthorized(header) {
      const token = BEARER.exec(header ?? '')?.[1];
      if (token === undefined) return false;
      try {
        verify(token);
        return true;
      } catch {
        // Whatever is wrong with it, the platform answers 401 and does not say.
        return false;
      }
    },
  };
}
