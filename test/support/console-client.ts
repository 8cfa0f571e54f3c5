import { Registry } from 'prom-client';
import { request } from 'undici';
import { FEATURES } from '../../src/app/features.ts';
import type { Database } from '../../src/base/database/database.ts';
import type { ConsoleRole, KeyRole, KeyScope } from '../../src/base/values/role.ts';
import { createApiKey } from '../../src/console/access/api-keys.sql.ts';
import { startSession } from '../../src/console/access/console-sessions.sql.ts';
import { addUser, findLoginUser } from '../../src/console/access/console-users.sql.ts';
import type { ConsoleParts } from '../../src/console/shell/console-parts.ts';
import { type ConsoleOptions, createConsole } from '../../src/console/shell/server.ts';
import { logger as silent } from './logger.ts';

export type ConsoleAnswer = Awaited<ReturnType<typeof send>>;

/** A browser without a screen: keeps cookies, and sends forms with the token of the page before. */
export type ConsoleClient = ReturnType<typeof createClient>;

async function send(
  url: string,
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  headers: Record<string, string>,
  body: string | null,
) {
  const response = await request(url, { method, headers, body });
  const bytes = Buffer.from(await response.body.arrayBuffer());
  const text = bytes.toString('utf8');
  const { location } = response.headers;
  return {
    status: response.statusCode,
    headers: response.headers as Record<string, string | string[] | undefined>,
    location: typeof location === 'string' ? location : null,
    text,
    bytes,
    json: () => JSON.parse(text),
  };
}

/** The value of a hidden field in the forms of a page. */
export const hiddenIn = (text: string, name: string): string =>
  new RegExp(`name="${name}" value="([^"]+)"`).exec(text)?.[1] ?? '';

export function createClient(url: string) {
  const cookies = new Map<string, string>();
  const ask = async (
    method: Parameters<typeof send>[1],
    path: string,
    headers: Record<string, string>,
    body: string | null,
  ) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const sent = { accept: 'text/html', ...(cookie !== '' && { cookie }), ...headers };
    const response = await send(url + path, method, sent, body);
    for (const line of [response.headers['set-cookie'] ?? []].flat()) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
      if (value === '' || /expires=Thu, 01 Jan 1970/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return response;
  };
  const get = (path: string, headers: Record<string, string> = {}) =>
    ask('GET', path, headers, null);
  /** The token in the forms of a page. */
  const csrfOf = async (path = cookies.has('conciliation') ? '/alerts' : '/login') =>
    hiddenIn((await get(path)).text, '_csrf');
  return {
    cookies,
    get,
    csrf: csrfOf,
    /** Sends a form. The token is that of this visitor unless another is given; null: none. */
    async post(
      path: string,
      fields: Readonly<Record<string, string | readonly string[]>> = {},
      options: {
        readonly csrf?: string | null;
        readonly headers?: Record<string, string>;
        readonly method?: Exclude<Parameters<typeof send>[1], 'GET'>;
      } = {},
    ) {
      const csrf = options.csrf === undefined ? await csrfOf() : options.csrf;
      const form = new URLSearchParams(
        Object.entries({ ...(csrf !== null && { _csrf: csrf }), ...fields }).flatMap(
          ([name, value]) => [value].flat().map((text) => [name, text]),
        ),
      );
      return ask(
        options.method ?? 'POST',
        path,
        { 'content-type': 'application/x-www-form-urlencoded', ...options.headers },
        form.toString(),
      );
    },
  };
}

/** The console over a database without users. */
export async function openConsole(
  database: Database,
  {
    trustedProxies = [],
    logger = silent,
    checks = [],
    port = 0,
    registry = new Registry(),
    checkTimeoutMs,
    ...overrides
  }: Partial<ConsoleParts> & Partial<Omit<ConsoleOptions, 'host' | 'parts'>> = {},
) {
  const woken: bigint[] = [];
  // The tests of a file share a database, and its limits would count the sign-ins of all of them.
  await database.prisma.signInLimit.deleteMany();
  const console = createConsole({
    host: '127.0.0.1',
    port,
    checks,
    trustedProxies,
    registry,
    ...(checkTimeoutMs !== undefined && { checkTimeoutMs }),
    parts: {
      database,
      logger,
      features: FEATURES,
      version: '0.0.0-test',
      timeZone: 'America/Sao_Paulo',
      fourEyes: true,
      requiresSecondFactor: false,
      publicUrl: null,
      oidc: null,
      wake: async (pullId) => {
        woken.push(pullId);
      },
      plan: () => {},
      ...overrides,
    },
  });
  const { url, routes } = await console.start();
  return {
    url,
    /** Every route, as `METHOD path`. */
    routes,
    /** The pulls that workers were woken for. */
    woken,
    visitor: () => createClient(url),
    /** Somebody of that role, signed in; the name is the role's unless told. */
    async as(role: ConsoleRole, name: string = role) {
      if ((await findLoginUser(database, name)) === null) {
        await addUser(database, { name, role, by: 'test' });
      }
      await database.prisma.consoleUser.updateMany({
        where: { name, passwordHash: null },
        data: { passwordHash: 'of no password' },
      });
      const user = await findLoginUser(database, name);
      if (user === null) throw new Error('there is no such user');
      const client = createClient(url);
      const token = await startSession(database, user, null);
      client.cookies.set('conciliation', token ?? '');
      return client;
    },
    /** A request of a script with its key, as POST if it has a body. */
    call(key: string, path: string, body?: object | string) {
      const text = typeof body === 'object' ? JSON.stringify(body) : body;
      const type = text !== undefined && { 'content-type': 'application/json' };
      const headers = { authorization: `Bearer ${key}`, ...type };
      return send(url + path, text === undefined ? 'GET' : 'POST', headers, text ?? null);
    },
    close: () => console.close(),
  };
}

/** A key for a script; of no user unless told. */
export const makeKey = (
  database: Database,
  role: KeyRole,
  scopes: readonly KeyScope[],
  user: string | null = null,
) =>
  createApiKey(database, { name: 'script', user, role, scopes, validDays: 1, by: 'test' }).then(
    ({ key }) => key,
  );
