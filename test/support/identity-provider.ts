import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

export interface Account {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
}

/**
 * An OpenID Connect provider over HTTP that does what the standard asks of one: codes that work once and
 * only with their PKCE verifier and redirect address, a client that proves itself, RS256 tokens. Whoever
 * comes is signed in as `account` without being asked.
 */
export interface IdentityProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Null: the person says no. */
  account: Account | null;
  /** What a provider that is wrong, or somebody in its place, would put into the ID token. */
  forge: (claims: JWTPayload) => JWTPayload;
  /** Signs with a key that is in no document of the provider. */
  hasForeignKey: boolean;
  /** Leaves the address out of the ID token, so that it has to be asked for. */
  hasThinTokens: boolean;
  /** Answers everything with 502. */
  isDown: boolean;
  /** Why codes were not exchanged, as `error: description`. */
  readonly refusals: string[];
  close(): Promise<void>;
}

interface Grant {
  readonly redirectUri: string;
  readonly challenge: string;
  readonly nonce: string | null;
  readonly account: Account;
}

export async function startIdentityProvider(): Promise<IdentityProvider> {
  const [own, foreign] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')]);
  const jwk = { ...(await exportJWK(own.publicKey)), kid: 'own', alg: 'RS256', use: 'sig' };
  const grants = new Map<string, Grant>();
  const accessTokens = new Map<string, Account>();
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.writeHead(500).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const provider: IdentityProvider = {
    issuer,
    clientId: 'conciliation',
    clientSecret: 'a secret of client & provider',
    account: { sub: 'subject-1', email: 'ana@example.com', email_verified: true },
    forge: (claims) => claims,
    hasForeignKey: false,
    hasThinTokens: false,
    isDown: false,
    refusals: [],
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', issuer);
    if (provider.isDown) {
      response.writeHead(502).end('Bad Gateway');
      return;
    }
    const routes: Readonly<Record<string, () => Promise<void> | void>> = {
      'GET /.well-known/openid-configuration': () => sendJson(response, 200, metadata(issuer)),
      'GET /jwks': () => sendJson(response, 200, { keys: [jwk] }),
      'GET /authorize': () => authorize(url.searchParams, response),
      'POST /token': async () =>
        exchange(new URLSearchParams(await bodyOf(request)), request, response),
      'GET /userinfo': () => userInfo(request, response),
    };
    const route = routes[`${request.method} ${url.pathname}`];
    if (route === undefined) response.writeHead(404).end();
    else await route();
  }

  function authorize(query: URLSearchParams, response: ServerResponse): void {
    const back = new URL(query.get('redirect_uri') ?? issuer);
    const state = query.get('state');
    if (state !== null) back.searchParams.set('state', state);
    const challenge = query.get('code_challenge') ?? '';
    const { account } = provider;
    if (query.get('client_id') !== provider.clientId)
      back.searchParams.set('error', 'unauthorized');
    else if (challenge === '' || query.get('code_challenge_method') !== 'S256') {
      back.searchParams.set('error', 'invalid_request');
    } else if (account === null) back.searchParams.set('error', 'access_denied');
    else {
      const code = randomUUID();
      back.searchParams.set('code', code);
      const redirectUri = query.get('redirect_uri') ?? '';
      grants.set(code, { redirectUri, challenge, nonce: query.get('nonce'), account });
    }
    response.writeHead(302, { location: back.href }).end();
  }

  async function exchange(
    form: URLSearchParams,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const refuse = (error: string, why: string) => {
      provider.refusals.push(`${error}: ${why}`);
      sendJson(response, 400, { error });
    };
    const code = form.get('code') ?? '';
    const grant = grants.get(code);
    grants.delete(code);
    const encoded = `${encodeForm(provider.clientId)}:${encodeForm(provider.clientSecret)}`;
    const basic = `Basic ${Buffer.from(encoded).toString('base64')}`;
    if (request.headers.authorization !== basic) return refuse('invalid_client', 'secret');
    if (grant === undefined) return refuse('invalid_grant', 'code');
    if (form.get('redirect_uri') !== grant.redirectUri) return refuse('invalid_grant', 'redirect');
    const verifier = form.get('code_verifier') ?? '';
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    if (challenge !== grant.challenge) return refuse('invalid_grant', 'PKCE');
    const accessToken = randomUUID();
    accessTokens.set(accessToken, grant.account);
    const { sub, ...about } = grant.account;
    const seconds = Math.floor(Date.now() / 1000);
    const claims = provider.forge({
      iss: issuer,
      aud: provider.clientId,
      iat: seconds,
      exp: seconds + 300,
      sub,
      ...(grant.nonce !== null && { nonce: grant.nonce }),
      ...(!provider.hasThinTokens && about),
    });
    const idToken = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: 'own' })
      .sign(provider.hasForeignKey ? foreign.privateKey : own.privateKey);
    sendJson(response, 200, {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: 300,
      id_token: idToken,
    });
  }

  function userInfo(request: IncomingMessage, response: ServerResponse): void {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const account = accessTokens.get(token);
    if (account === undefined) response.writeHead(401).end();
    else sendJson(response, 200, account);
  }

  return provider;
}

function metadata(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic'],
    code_challenge_methods_supported: ['S256'],
  };
}

/** As RFC 6749 writes a client's name and secret before it joins them. */
function encodeForm(text: string): string {
  return new URLSearchParams({ text }).toString().slice('text='.length);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
