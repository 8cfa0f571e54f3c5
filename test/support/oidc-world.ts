import { expect } from 'vitest';
import type { OidcConfig } from '../../src/base/config/config.ts';
import type { Database } from '../../src/base/database/database.ts';
import { addUser } from '../../src/console/access/console-users.sql.ts';
import { createOidcClient } from '../../src/console/access/oidc-client.ts';
import type { ConsoleParts } from '../../src/console/shell/console-parts.ts';
import {
  type Account,
  type CertifiedOptions,
  startCertifiedProvider,
} from './certified-provider.ts';
import { type ConsoleClient, openConsole } from './console-client.ts';

/** Where browsers would find the console; a test brings what they bring to where it listens. */
export const PUBLIC_URL = new URL('http://console.localhost:8080');

let people = 0;

/** A console with an identity provider, at which the console of `PUBLIC_URL` is registered. */
export async function openCertifiedWorld(
  database: Database,
  options: Omit<CertifiedOptions, 'publicUrl'> = {},
) {
  const provider = await startCertifiedProvider({ publicUrl: PUBLIC_URL, ...options });
  const open = (overrides: Partial<OidcConfig> = {}, parts: Partial<ConsoleParts> = {}) =>
    openConsole(database, {
      publicUrl: PUBLIC_URL,
      oidc: createOidcClient({
        issuerUrl: new URL(provider.issuer),
        clientId: provider.clientId,
        clientSecret: provider.clientSecret,
        publicUrl: PUBLIC_URL,
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
    if (back.origin !== PUBLIC_URL.origin) throw new Error(`sent back to ${back.origin}`);
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
  const rows = await database.prisma.$queryRaw<{ action: string; details: unknown }[]>`
    SELECT action, details FROM conciliation.audit_entry WHERE actor = ${actor} ORDER BY id`;
  return rows.map(({ action, details }) => [action, details]);
}

export async function expectNobody(client: ConsoleClient): Promise<void> {
  expect(client.cookies.has('conciliation')).toBe(false);
  expect((await client.get('/')).status).toBe(303);
}
