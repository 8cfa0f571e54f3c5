import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';

interface TokenAuthority {
  /** Returns a bearer token. A lifetime of zero or less returns an expired one. */
  issue(lifetimeSeconds: number): string;
  /** Whether an `Authorization` header has a valid token of this authority. */
  isAuthorized(header: string | undefined): boolean;
}

const BEARER = /^Bearer +([^.\s]+)\.([^.\s]+)\.([^.\s]+)$/i;

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const HEADER = encode({ alg: 'HS256', typ: 'JWT' });

/** HS256 (RFC 7518). Tokens stay valid after a restart with the same `secret`. */
export function createTokenAuthority(secret: string): TokenAuthority {
  const sign = (payload: string) =>
    createHmac('sha256', secret).update(`${HEADER}.${payload}`).digest('base64url');
  return {
    issue(lifetimeSeconds) {
      const exp = Math.floor(Date.now() / 1000 + lifetimeSeconds);
      const payload = encode({ sub: 'buyer-erp', jti: randomUUID(), exp });
      return `${HEADER}.${payload}.${sign(payload)}`;
    },
    // The platform answers 401 to any invalid token, without a reason.
    isAuthorized(authorization) {
      const [, header, payload = '', signature = ''] = BEARER.exec(authorization ?? '') ?? [];
      const [given, right] = [Buffer.from(signature), Buffer.from(sign(payload))];
      if (header !== HEADER || given.length !== right.length) return false;
      if (!timingSafeEqual(given, right)) return false;
      const { exp } = JSON.parse(Buffer.from(payload, 'base64url').toString());
      return exp * 1000 > Date.now();
    },
  };
}
