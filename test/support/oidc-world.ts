import { expect } from 'vitest';
import { addUser } from '../../src/console/access/console-users.sql.ts';
import { createOidcClient, type OidcOptions } from '../../src/console/access/oidc-client.ts';
import type { Database } from '../../src/database/database.ts';
import {
  type ConsoleAnswer,
  type ConsoleClient,
  type ConsoleWorld,
  openConsole,
} from './console-client.ts';
import { type Account, type IdentityProvider, startIdentityProvider } from './identity-provider.ts';

/** Where browsers would find the console; a test brings what they bring to where it listens. */
export const PUBLIC_URL = new URL('http://console.localhost:8080');

/** A console with an identity provider of its own. */
export interface OidcWorld {
  readonly provider: IdentityProvider;
  readonly console: ConsoleWorld;
  /** Another console with the same provider. */
  open(overrides: Partial<OidcOptions>): Promise<ConsoleWorld>;
  /** A user, and the account of the provider that has the user's address. */
  newPerson(): Promise<{ readonly name: string; readonly account: Account }>;
  /** Follows the link of the sign-in page. @returns where the provider is asked */
  leave(client: ConsoleClient): Promise<URL>;
  /** Asks the provider. @returns the path and query that it sends the browser back to */
  ask(url: URL): Promise<string>;
  /** All of it, as the person with that account; null: one who says no. */
  signIn(
    account: Account | null,
    client?: ConsoleClient,
  ): Promise<{
    readonly client: ConsoleClient;
    readonly answer: ConsoleAnswer;
    readonly back: string;
  }>;
  close(): Promise<void>;
}

let people = 0;

export async function openOidcWorld(database: Database): Promise<OidcWorld> {
  const provider = await startIdentityProvider();
  const open = (overrides: Partial<OidcOptions> = {}) =>
    openConsole(database, {
      publicUrl: PUBLIC_URL,
      oidc: createOidcClient({
        issuerUrl: new URL(provider.issuer),
        clientId: provider.clientId,
        clientSecretFile: null,
        clientSecret: provider.clientSecret,
        publicUrl: PUBLIC_URL,
        assumesVerifiedEmail: false,
        ...overrides,
      }),
    });
  const console = await open();
  const leave = async (client: ConsoleClient) => {
    const { status, location } = await client.get('/login/oidc?next=%2Faudit');
    if (status !== 303 || location === null) throw new Error(`leaving answered ${status}`);
    return new URL(location);
  };
  const ask = async (url: URL) => {
    const { headers } = await fetch(url, { redirect: 'manual' });
    const back = new URL(headers.get('location') ?? '');
    if (back.origin !== PUBLIC_URL.origin) throw new Error(`sent back to ${back.origin}`);
    return back.pathname + back.search;
  };
  return {
    provider,
    console,
    open,
    leave,
    ask,
    async newPerson() {
      people += 1;
      const [name, email] = [`person-${people}`, `person-${people}@example.com`];
      await addUser(database, { name, role: 'reviewer', email, by: 'test' });
      return { name, account: { sub: `sub-${people}`, email, email_verified: true } };
    },
    async signIn(account, client = console.visitor()) {
      provider.account = account;
      const back = await ask(await leave(client));
      return { client, back, answer: await client.get(back) };
    },
    async close() {
      await console.close();
      await provider.close();
    },
  };
}

/** What was noted in the audit log of what somebody did, in order: action and details. */
export async function auditOf(database: Database, actor: string): Promise<[string, unknown][]> {
  const rows = await database.prisma.$queryRaw<{ action: string; details: unknown }[]>`
    SELECT action, details FROM conciliation.audit_entry WHERE actor = ${actor} ORDER BY id`;
  return rows.map(({ action, details }) => [action, details]);
}

export async function expectNobody(client: ConsoleClient): Promise<void> {
  expect(client.cookies.has('conciliation')).toBe(false);
  expect((await client.get('/')).status).toBe(303);
}
