/**
 * Signs people in with an OpenID Connect provider, by authorization code with PKCE (RFC 7636).
 * openid-client checks the signature, issuer, audience, expiry and nonce of the ID token (OpenID
 * Connect Core 1.0, section 3.1.3.7).
 */
import * as oidc from 'openid-client';
import { isLoopback } from '../../base/config/address-faults.ts';
import type { OidcConfig } from '../../base/config/config.ts';
import { ConfigError, InputError } from '../../base/runtime/errors.ts';
import type { OidcIdentity } from './console-sessions.sql.ts';

export const OIDC_CALLBACK_PATH = '/login/oidc/callback';

/** Stored until the browser returns from the provider. */
interface OidcRequest {
  readonly url: URL;
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/**
 * There is no identity. denied: the person refused. refused: the answer does not belong to the request or breaks a
 * rule, or the provider does not confirm it. unavailable: it does not answer as an OpenID Connect provider at the begin.
 */
export class OidcError extends InputError {
  /** @param cause to be logged as `err` only, see `createLogger` */
  constructor(fault: 'denied' | 'refused' | 'unavailable', cause: unknown) {
    const errorCode = errorCodeOf(cause);
    super(`the sign-in is ${fault}`, { cause, context: { fault: `oidc_${fault}`, errorCode } });
  }
}

export type OidcClient = ReturnType<typeof createOidcClient>;

const TIMEOUT_SECONDS = 10;
/** The time after which a moved endpoint takes effect, in milliseconds. */
const DISCOVERY_AGE_MS = 3_600_000;

/** Sends no request to the provider. */
export function createOidcClient(options: OidcConfig) {
  const { issuerUrl, publicUrl } = options;
  const isPlain = issuerUrl.protocol === 'http:' && isLoopback(issuerUrl.hostname);
  const redirectUrl = new URL(OIDC_CALLBACK_PATH, publicUrl);
  let known: { readonly found: Promise<oidc.Configuration>; readonly untilMs: number } | null =
    null;

  const discover = async () => {
    const configuration = await oidc.discovery(
      issuerUrl,
      options.clientId,
      undefined,
      authentication(options.clientSecret),
      {
        timeout: TIMEOUT_SECONDS,
        execute: [
          oidc.enableNonRepudiationChecks,
          ...(isPlain ? [oidc.allowInsecureRequests] : []),
        ],
      },
    );
    // For Entra ID's multi-tenant documents, the library accepts another issuer.
    if (new URL(configuration.serverMetadata().issuer).href !== issuerUrl.href) {
      throw new ConfigError(['OIDC_ISSUER_URL: the provider names another issuer']);
    }
    return configuration;
  };
  /** However many people sign in, the provider is asked once. */
  const configure = () => {
    if (known === null || known.untilMs <= Date.now()) {
      known = { found: discover(), untilMs: Date.now() + DISCOVERY_AGE_MS };
      known.found.catch(() => {
        known = null;
      });
    }
    return known.found;
  };

  return {
    /** @throws OidcError */
    async begin(): Promise<OidcRequest> {
      try {
        const configuration = await configure();
        const [state, nonce] = [oidc.randomState(), oidc.randomNonce()];
        const codeVerifier = oidc.randomPKCECodeVerifier();
        const url = oidc.buildAuthorizationUrl(configuration, {
          redirect_uri: redirectUrl.href,
          scope: 'openid email',
          state,
          nonce,
          code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
          code_challenge_method: 'S256',
        });
        return { url, state, nonce, codeVerifier };
      } catch (error) {
        throw new OidcError('unavailable', error);
      }
    },
    /**
     * @param query of the address to which the provider redirected the browser
     * @throws OidcError
     */
    async finish(query: URLSearchParams, request: Omit<OidcRequest, 'url'>): Promise<OidcIdentity> {
      try {
        const configuration = await configure();
        const url = new URL(redirectUrl);
        url.search = query.toString();
        const tokens = await oidc.authorizationCodeGrant(configuration, url, {
          expectedState: request.state,
          expectedNonce: request.nonce,
          pkceCodeVerifier: request.codeVerifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (claims === undefined) throw new Error('there is no ID token');
        if (!SUBJECT.test(claims.sub)) throw new Error('the subject is no ASCII text');
        const { userinfo_endpoint: hasUserInfo } = configuration.serverMetadata();
        const about: Claims =
          claims['email'] === undefined && hasUserInfo !== undefined
            ? await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub)
            : claims;
        return {
          issuer: claims.iss,
          subject: claims.sub,
          verifiedEmail: verifiedEmailOf(about, options.assumesVerifiedEmail),
        };
      } catch (error) {
        throw new OidcError(errorCodeOf(error) === 'access_denied' ? 'denied' : 'refused', error);
      }
    },
  };
}

/** OpenID Connect Core 1.0, section 2. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;

interface Claims {
  readonly [claim: string]: unknown;
}

function verifiedEmailOf(claims: Claims, isAssumed: boolean): string | null {
  const { email, email_verified: isVerified = isAssumed } = claims as {
    email?: unknown;
    email_verified?: unknown;
  };
  return typeof email === 'string' && isVerified === true ? email : null;
}

/** Chooses the authentication method of the provider's discovery document. */
function authentication(secret: string | null): oidc.ClientAuth {
  if (secret === null) return oidc.None();
  const [post, basic] = [oidc.ClientSecretPost(secret), oidc.ClientSecretBasic(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const chosen = methods.includes('client_secret_post') ? post : basic;
    return chosen(server, ...rest);
  };
}

/** Returns the provider's own error code, such as `invalid_grant`. Other values are free text of the provider. */
function errorCodeOf(cause: unknown): string | null {
  const code = statedCode(cause);
  return code !== undefined && /^[a-z_]{1,40}$/.test(code) ? code : null;
}

function statedCode(cause: unknown): string | undefined {
  if (cause instanceof oidc.AuthorizationResponseError || cause instanceof oidc.ResponseBodyError) {
    return cause.error;
  }
  if (!(cause instanceof oidc.WWWAuthenticateChallengeError)) return undefined;
  const [challenge] = cause.cause;
  // RFC 6749, section 5.2: the answer to a wrong secret that was sent in a header.
  return (
    challenge?.parameters.error ?? (challenge?.scheme === 'basic' ? 'invalid_client' : undefined)
  );
}
