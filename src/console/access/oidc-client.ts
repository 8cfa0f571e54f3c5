/**
 * Asks an OpenID Connect provider who somebody is: authorization code with PKCE. What an ID token has to
 * fulfil (signature, issuer, audience, expiry, nonce) is checked by openid-client.
 */
import { readFileSync } from 'node:fs';
import * as oidc from 'openid-client';
import { ConfigError } from '../../runtime/errors.ts';
import { isLoopback } from '../../runtime/loopback.ts';
import type { OidcIdentity } from './oidc-logins.sql.ts';

export const OIDC_CALLBACK_PATH = '/login/oidc/callback';

export interface OidcOptions {
  /** As its discovery document names it; https, or http to this machine. */
  readonly issuerUrl: URL;
  readonly clientId: string;
  /** Both null: a public client. */
  readonly clientSecretFile: string | null;
  readonly clientSecret: string | null;
  /** Where browsers find the console. */
  readonly publicUrl: URL;
  /** Whether an e-mail address counts that the provider neither calls verified nor unverified. */
  readonly assumesVerifiedEmail: boolean;
}

/** What is kept until the browser comes back. */
interface OidcRequest {
  readonly url: URL;
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/**
 * Why there is no identity. denied: the person said no there. refused: the answer is not one to this
 * request, or breaks a rule. unavailable: the provider does not answer as one.
 */
export interface OidcFault {
  readonly fault: 'denied' | 'refused' | 'unavailable';
  /** Not to be logged but by `describeError`. */
  readonly cause: unknown;
  /** The provider's own error code, such as `invalid_grant`. */
  readonly errorCode: string | null;
}

export interface OidcClient {
  begin(): Promise<OidcRequest | OidcFault>;
  /** @param query of the address that the browser came back to */
  finish(
    query: URLSearchParams,
    request: Omit<OidcRequest, 'url'>,
  ): Promise<OidcIdentity | OidcFault>;
}

const TIMEOUT_SECONDS = 10;
/** A provider that moves an endpoint, and a secret that is replaced, are noticed by then. */
const DISCOVERY_AGE_MS = 3_600_000;

/** @throws ConfigError where the file with the secret cannot be read; the provider is not asked yet */
export function createOidcClient(options: OidcOptions): OidcClient {
  const { issuerUrl, publicUrl } = options;
  readSecret(options);
  const isPlain = issuerUrl.protocol === 'http:' && isLoopback(issuerUrl.hostname);
  const redirectUrl = new URL(OIDC_CALLBACK_PATH, publicUrl);
  let known: { readonly configuration: oidc.Configuration; readonly untilMs: number } | null = null;

  const configure = async () => {
    if (known !== null && known.untilMs > Date.now()) return known.configuration;
    const configuration = await oidc.discovery(
      issuerUrl,
      options.clientId,
      undefined,
      authentication(readSecret(options)),
      {
        timeout: TIMEOUT_SECONDS,
        execute: [
          oidc.enableNonRepudiationChecks,
          ...(isPlain ? [oidc.allowInsecureRequests] : []),
        ],
      },
    );
    // The library lets Entra ID's documents for all its customers name another issuer.
    if (new URL(configuration.serverMetadata().issuer).href !== issuerUrl.href) {
      throw new ConfigError(['OIDC_ISSUER_URL: the provider names another issuer']);
    }
    known = { configuration, untilMs: Date.now() + DISCOVERY_AGE_MS };
    return configuration;
  };

  return {
    async begin() {
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
        return { ...toFault(error), fault: 'unavailable' };
      }
    },
    async finish(query, request) {
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
        return toFault(error);
      }
    },
  };
}

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

/** As the provider wants the secret; both ways are told apart by its discovery document. */
function authentication(secret: string | null): oidc.ClientAuth {
  if (secret === null) return oidc.None();
  const [post, basic] = [oidc.ClientSecretPost(secret), oidc.ClientSecretBasic(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const chosen = methods.includes('client_secret_post') ? post : basic;
    return chosen(server, ...rest);
  };
}

function readSecret({ clientSecret, clientSecretFile: path }: OidcOptions): string | null {
  if (path === null) return clientSecret;
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new ConfigError([`OIDC_CLIENT_SECRET_FILE: cannot read ${path} (${code})`]);
  }
  if (text === '') throw new ConfigError([`OIDC_CLIENT_SECRET_FILE: ${path} is empty`]);
  return text;
}

/** Codes of the library for what is no answer of an OpenID Connect provider at all. */
const NO_ANSWER = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
]);

function toFault(cause: unknown): OidcFault {
  const errorCode =
    cause instanceof oidc.AuthorizationResponseError || cause instanceof oidc.ResponseBodyError
      ? cause.error
      : null;
  const isAway =
    // What fetch throws, and nothing else in the way does, where nobody answers.
    cause instanceof TypeError ||
    cause instanceof ConfigError ||
    (cause instanceof oidc.ClientError && NO_ANSWER.has(cause.code ?? '')) ||
    errorCode === 'temporarily_unavailable' ||
    errorCode === 'server_error';
  return {
    fault: errorCode === 'access_denied' ? 'denied' : isAway ? 'unavailable' : 'refused',
    cause,
    // Anything else is the provider's prose.
    errorCode: errorCode !== null && /^[a-z_]{1,40}$/.test(errorCode) ? errorCode : null,
  };
}
