import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { bodyOf } from './certified-provider.ts';
import type { TestProvider } from './oidc-world.ts';

/**
 * A provider that breaks the standard, as a certified one cannot. It asks for nothing: everybody is signed
 * in as the account of the visit, and every code is exchanged once.
 */
export interface ForgingProvider extends TestProvider {
  /** The claims of a faulty or forged provider in the ID token. */
  forge: (claims: JWTPayload) => JWTPayload;
  /** Signs with a key that is in no document of the provider. */
  hasForeignKey: boolean;
}

export async function startForgingProvider(): Promise<ForgingProvider> {
  const [own, foreign] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')]);
  const jwk = { ...(await exportJWK(own.publicKey)), kid: 'own', alg: 'RS256', use: 'sig' };
  const grants = new Map<string, JWTPayload>();
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.writeHead(500).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const provider: ForgingProvider = {
    issuer,
    clientId: 'conciliation',
    clientSecret: 'a secret of client & provider',
    forge: (claims) => claims,
    hasForeignKey: false,
    async visit(url, account) {
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      const code = randomUUID();
      back.searchParams.set('state', url.searchParams.get('state') ?? '');
      back.searchParams.set('code', code);
      grants.set(code, { nonce: url.searchParams.get('nonce'), ...account });
      return back;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', issuer);
    if (pathname === '/.well-known/openid-configuration') sendJson(response, metadata(issuer));
    else if (pathname === '/jwks') sendJson(response, { keys: [jwk] });
    else if (pathname === '/token') await exchange(request, response);
    else response.writeHead(404).end();
  }

  async function exchange(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const code = new URLSearchParams(await bodyOf(request)).get('code') ?? '';
    const granted = grants.get(code);
    grants.delete(code);
    const seconds = Math.floor(Date.now() / 1000);
    const claims = provider.forge({
      iss: issuer,
      aud: provider.clientId,
      iat: seconds,
      exp: seconds + 300,
      ...granted,
    });
    const idToken = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: 'own' })
      .sign(provider.hasForeignKey ? foreign.privateKey : own.privateKey);
    sendJson(response, {
      access_token: randomUUID(),
      token_type: 'Bearer',
      expires_in: 300,
      id_token: idToken,
    });
  }

  return provider;
}

function metadata(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic'],
    code_challenge_methods_supported: ['S256'],
  };
}

function sendJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
