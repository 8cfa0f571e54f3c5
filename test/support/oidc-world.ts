import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  decodeJwt,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTPayload,
  SignJWT,
} from 'jose';
import type { Configuration } from 'oidc-provider';
import { expect } from 'vitest';
import type { OidcConfig } from '../../src/base/config/config.ts';
import type { Database } from '../../src/base/database/database.ts';
import { addUser } from '../../src/console/access/console-users.sql.ts';
import { createOidcClient } from '../../src/console/access/oidc-client.ts';
import type { ConsoleParts } from '../../src/console/shell/console-parts.ts';
import { type ConsoleClient, createClient, openConsole } from './console-client.ts';

export interface Account {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
}

interface CertifiedOptions {
  /** The address of the console for browsers. */
  readonly publicUrl: URL;
  /** The only way in which clients prove themselves; default: all, and the console registers for POST. */
  readonly method?: 'client_secret_basic';
  /** Whether ID tokens have the address; default: no, as the standard has it where there is userinfo. */
  readonly hasFullTokens?: boolean;
}

const CLIENT_ID = 'conciliation';
const CLIENT_SECRET = 'a secret of client & provider';

const newKey = async (): Promise<JWK> => {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: randomUUID(), alg: 'RS256', use: 'sig' };
};
/** Made once for all providers of a file, because it takes a while. */
const FIRST_KEY = newKey();

/** oidc-provider, which is certified by the OpenID Foundation, on a free port of loopback. The console is registered. */
async function startCertifiedProvider(options: CertifiedOptions) {
  const { publicUrl, method, hasFullTokens = false } = options;
  const accounts = new Map<string, Account>();
  const refusals: string[] = [];
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.writeHead(500).end());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const jwk = await FIRST_KEY;
  const configuration: Configuration = {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: [new URL('/login/oidc/callback', publicUrl).href],
        token_endpoint_auth_method: method ?? 'client_secret_post',
      },
    ],
    ...(method !== undefined && { clientAuthMethods: [method] }),
    jwks: { keys: [jwk] } as NonNullable<Configuration['jwks']>,
    cookies: { keys: ['only for tests'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: !hasFullTokens,
    pkce: { required: () => true },
    findAccount: (_context, sub) => {
      const account = accounts.get(sub);
      return account && { accountId: sub, claims: () => ({ ...account }) };
    },
    // The company has agreed for its people: no page asks for consent.
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({
        clientId: CLIENT_ID,
        accountId: oidc.session?.accountId ?? '',
      });
      grant.addOIDCScope('openid email');
      await grant.save();
      return grant;
    },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    ttl: {
      ...{ AccessToken: 300, AuthorizationCode: 60, Grant: 3600 },
      ...{ IdToken: 300, Interaction: 600, Session: 3600 },
    },
    renderError: (context, { error, error_description: description }) => {
      context.type = 'text/plain';
      context.body = `${error}: ${description}`;
    },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: false } },
  };

  // It warns of Node 20, on which the tests run without a difference, and of its storage in memory.
  const { warn } = console;
  console.warn = () => {};
  const { Provider } = await import('oidc-provider');
  const current = new Provider(issuer, configuration);
  console.warn = warn;
  current.on('grant.error', (_context, error) =>
    refusals.push(`${error.error}: ${error.error_detail ?? error.error_description ?? ''}`),
  );

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', issuer);
    if (faults.isDown) response.writeHead(502).end('Bad Gateway');
    else if (pathname.startsWith('/interaction/')) await interact(request, response);
    else {
      if (faults.forge !== null && pathname === '/token') forgeAnswer(response, faults.forge);
      await current.callback()(request, response);
    }
  }

  /** The answer is written at once, by `end`. */
  function forgeAnswer(response: ServerResponse, forge: (claims: JWTPayload) => JWTPayload): void {
    const end = response.end.bind(response) as (text: string) => void;
    const forged = async (answer: string) => {
      const { id_token: idToken, ...others } = JSON.parse(answer);
      const key = faults.hasForeignKey ? await newKey() : jwk;
      const { kid } = decodeProtectedHeader(idToken);
      const signed = await new SignJWT(forge(decodeJwt(idToken)))
        .setProtectedHeader({ alg: 'RS256', ...(kid !== undefined && { kid }) })
        .sign(await importJWK(key, 'RS256'));
      const body = JSON.stringify({ ...others, id_token: signed });
      response.setHeader('content-length', Buffer.byteLength(body));
      end(body);
    };
    response.end = ((answer: string) => {
      void forged(answer);
      return response;
    }) as typeof response.end;
  }

  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(LOGIN_PAGE);
      return;
    }
    const form = new URLSearchParams(await text(request));
    await current.interactionFinished(
      request,
      response,
      form.has('cancel')
        ? { error: 'access_denied', error_description: 'the person said no' }
        : { login: { accountId: form.get('sub') ?? '' } },
    );
  }

  const faults = {
    /** Answers everything with 502. */
    isDown: false,
    /** What a faulty or forged provider makes of the claims of an ID token. */
    forge: null as ((claims: JWTPayload) => JWTPayload) | null,
    /** Signs what it forges with a key that was never published. */
    hasForeignKey: false,
  };
  const addAccount = (account: Account) => void accounts.set(account.sub, account);
  return Object.assign(faults, {
    issuer,
    /** Why codes were not exchanged, as `error: detail`. */
    refusals,
    /** An account that may sign in at the page of the provider, by its subject. */
    addAccount,
    /**
     * Goes to an address of the provider as the person with that account; null: one who says no.
     * @returns where the provider sends the browser, which is a new one, in the end
     */
    async visit(url: URL, account: Account | null): Promise<URL> {
      const browser = createClient(issuer);
      if (account !== null) addAccount(account);
      let at = url;
      while (at.origin === issuer) {
        const path = at.pathname + at.search;
        const isLogin = at.pathname.startsWith('/interaction/');
        const choice: Record<string, string> =
          account === null ? { cancel: 'yes' } : { sub: account.sub };
        const answer = isLogin
          ? await browser.post(path, choice, { csrf: null })
          : await browser.get(path);
        const { location } = answer;
        if (location === null) throw new Error(`${path} answered ${answer.status}: ${answer.text}`);
        at = new URL(location, issuer);
      }
      return at;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  });
}

const LOGIN_PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,">
<title>Company</title><body><form method="post"><label>Account <input name="sub"></label>
<button>Enter</button> <button name="cancel" value="yes">Cancel</button></form>`;

/** Where browsers would find the console; a test brings what they bring to where it listens. */
export const PUBLIC_URL = new URL('http://console.localhost:8080');

let people = 0;

/** A console with an identity provider, at which the console is registered. */
export async function openCertifiedWorld(
  database: Database,
  {
    publicUrl = PUBLIC_URL,
    port = 0,
    ...options
  }: Partial<CertifiedOptions> & { readonly port?: number } = {},
) {
  const provider = await startCertifiedProvider({ publicUrl, ...options });
  const open = (overrides: Partial<OidcConfig> = {}, parts: Partial<ConsoleParts> = {}) =>
    openConsole(database, {
      publicUrl,
      port,
      oidc: createOidcClient({
        issuerUrl: new URL(provider.issuer),
        clientId: CLIENT_ID,
        clientSecret: CLIENT_SECRET,
        publicUrl,
        assumesVerifiedEmail: false,
        ...overrides,
      }),
      ...parts,
    });
  const console = await open();
  /** Follows the link of the sign-in page. @returns where the provider is asked */
  const leave = async (client: ConsoleClient) => {
    const { status, location } = await client.get('/login/oidc?next=%2Faudit');
    if (status !== 303 || location === null) throw new Error(`leaving answered ${status}`);
    return new URL(location);
  };
  /** Asks as the person with that account; null: one who says no. @returns the path that the browser is sent back to */
  const ask = async (url: URL, account: Account | null) => {
    const back = await provider.visit(url, account);
    if (back.origin !== publicUrl.origin) throw new Error(`sent back to ${back.origin}`);
    return back.pathname + back.search;
  };
  return {
    provider,
    console,
    /** Another console with the same provider. */
    open,
    leave,
    ask,
    /** A user, and the account of the provider that has the user's address. */
    async newPerson(): Promise<{ readonly name: string; readonly account: Account }> {
      people += 1;
      const [name, email] = [`person-${people}`, `person-${people}@example.com`];
      await addUser(database, { name, role: 'reviewer', email, by: 'test' });
      return { name, account: { sub: `sub-${people}`, email, email_verified: true } };
    },
    async signIn(account: Account | null, client = console.visitor()) {
      const back = await ask(await leave(client), account);
      return { client, back, answer: await client.get(back) };
    },
    async close() {
      await console.close();
      await provider.close();
    },
  };
}

/** The entries of the audit log about the actions of a user, in order: action and details. */
export async function auditOf(database: Database, actor: string): Promise<[string, unknown][]> {
  const rows = await database.prisma.auditEntry.findMany({
    where: { actor },
    orderBy: { id: 'asc' },
  });
  return rows.map(({ action, details }) => [action, details]);
}

export async function expectNobody(client: ConsoleClient): Promise<void> {
  expect(client.cookies.has('conciliation')).toBe(false);
  expect((await client.get('/')).status).toBe(303);
}
