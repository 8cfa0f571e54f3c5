import { randomUUID } from 'node:crypto';
import { createSigner, createVerifier } from 'fast-jwt';

export interface TokenAuthority {
  /** Returns a bearer token. A lifetime of zero or less returns an expired one. */
  issue(lifetimeSeconds: number): string;
  /** Whether an `Authorization` header has a valid token of this authority. */
  isAuthorized(header: string | undefined): boolean;
}

const BEARER = /^Bearer +(\S+)$/i;

/** HS256 (RFC 7518). Tokens stay valid after a restart with the same `secret`. */
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
        // The platform answers 401 to any invalid token, without a reason.
        return false;
      }
    },
  };
}
