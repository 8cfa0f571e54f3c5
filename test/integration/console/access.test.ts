import { once } from 'node:events';
import { request } from 'node:http';
import { beforeAll, expect, test } from 'vitest';
import { CONSOLE_ROLES, type ConsoleRole } from '../../../src/base/values/role.ts';
import { changeUser } from '../../../src/console/access/console-users.sql.ts';
import { csrfTokenOf } from '../../../src/console/shell/guard.ts';
import { knownAccess } from '../../../src/console/shell/route-access.ts';
import { type ConsoleClient, makeKey, openConsole } from '../../support/console-client.ts';
import { forFile } from '../../support/for-tests.ts';
import { worldOfFile } from '../../support/pull-world.ts';

const world = worldOfFile();
const console = forFile(() => openConsole(world.database));
const clients = new Map<ConsoleRole, ConsoleClient>();
beforeAll(async () => {
  for (const role of CONSOLE_ROLES) clients.set(role, await console.as(role));
});

const PARAMETERS: Readonly<Record<string, string>> = {
  ':date': '2026-03-02',
  ':id': '999999',
  ':token': 'none',
  ':file': 'none.css',
  '*': 'x',
};
const pathOf = (url: string) => url.replace(/:\w+|\*/g, (name) => PARAMETERS[name] ?? 'x');

/** The routes of the server. Each GET route also answers HEAD. */
const ownRoutes = () => [
  ...new Set(console.routes.map((route) => route.replace(/^HEAD /, 'GET '))),
];

/** The routes that need a user, with the roles that may use them. */
const guarded = () =>
  ownRoutes().flatMap((route) => {
    const who = knownAccess()[route]?.who;
    return Array.isArray(who) ? [[route, who as readonly string[]] as const] : [];
  });

async function ask(client: ConsoleClient, route: string, csrf?: string | null) {
  const [method = '', url = ''] = route.split(' ');
  if (method === 'GET') return client.get(pathOf(url));
  const token = csrf === undefined ? {} : { csrf };
  return client.post(pathOf(url), {}, { ...token, method: method as 'POST' });
}

test('no role has more access than the route states, and one of those that it states has access', async () => {
  const wrong: string[] = [];
  for (const [route, who] of guarded()) {
    // Would sign the client out, and is tested with the sessions.
    if (route === 'POST /logout') continue;
    const allowed = CONSOLE_ROLES.filter((role) => who.includes(role));
    for (const [role, client] of clients) {
      // Whole pages are made for one of the roles: the roles are compared before the page begins.
      if (allowed.slice(1).includes(role)) continue;
      const { status } = await ask(client, route);
      if ((status === 403) === who.includes(role))
        wrong.push(`${role}: ${route} answered ${status}`);
    }
  }
  expect(wrong).toEqual([]);
});

test('visitors have access to no page and no action', async () => {
  const wrong: string[] = [];
  for (const [route] of guarded()) {
    const { status, location } = await ask(console.visitor(), route);
    const isRefused = route.includes(' /api/')
      ? status === 401
      : status === 303 && location?.startsWith('/login');
    if (!isRefused) wrong.push(`${route} answered ${status}`);
  }
  expect(wrong).toEqual([]);
});

test('no route gives a role more rights than documented', () => {
  const own = (route: string) => route.startsWith('POST /account/');
  // The file of a list, for everybody who may see the list.
  const isFile = (route: string) => {
    const page = route.replace(/^POST (.*)\/file$/, 'GET $1');
    return page !== route && String(knownAccess()[page]?.who) === String(knownAccess()[route]?.who);
  };
  const unsafeFor = (role: ConsoleRole) =>
    Object.entries(knownAccess())
      .filter(([route, { who }]) => !route.startsWith('GET') && who.includes(role))
      .map(([route]) => route)
      .filter((route) => !isFile(route) && !own(route))
      .sort();
  // A search is a form, so that no tax identifier is part of an address.
  expect(unsafeFor('viewer')).toEqual([
    // The exports have masked identifiers for a viewer.
    'POST /bookings/differences/:date/export',
    'POST /days/:date/changes',
    'POST /logout',
    'POST /providers',
    'POST /titles',
  ]);
  expect(unsafeFor('reviewer').filter((route) => /pull|release|backfill/.test(route))).toEqual([
    'POST /pulls/:id/release',
  ]);
  expect(unsafeFor('operator').filter((route) => /sign-off|reopen/.test(route))).toEqual([]);
  const all = Object.entries(knownAccess());
  const administration = all.filter(([route]) => / \/(users|keys)(\/|$)/.test(route));
  expect(administration.map(([, access]) => access)).toEqual(
    Array(7).fill({ who: ['admin'], scope: null }),
  );
  const closed = all.filter(([, { who }]) => Array.isArray(who) && !who.includes('admin'));
  expect(closed.map(([route]) => route).sort()).toEqual([
    // An administrator decides nothing about money.
    'GET /matching-rules',
    'GET /pulls/:id/release',
    'POST /account-changes/decide',
    'POST /agents',
    'POST /agents/:id/end',
    'POST /alterations/acknowledge',
    'POST /bookings/differences/:date',
    'POST /bookings/receipts',
    'POST /break/match',
    'POST /breaks/reopen',
    'POST /breaks/resolve',
    'POST /companies',
    'POST /companies/:id/end',
    'POST /days/:date/accept-rejects',
    'POST /days/:date/reopen',
    'POST /days/:date/sign-off',
    'POST /findings',
    'POST /holidays',
    'POST /holidays/:id/end',
    'POST /matches/:id/undo',
    'POST /matching-rules',
    'POST /months/:month/seal',
    'POST /proposals/confirm',
    'POST /pulls/:id/release',
    'POST /sign-offs',
  ]);
});

test('an action requires the token of its own visitor, on every route', async () => {
  const admin = await console.as('admin');
  const other = await console.as('admin', 'other-admin');
  const foreign = await other.csrf();
  const wrong: string[] = [];
  for (const route of ownRoutes().filter((name) => !name.startsWith('GET '))) {
    for (const csrf of [null, '', foreign, `${foreign}x`]) {
      const { status } = await ask(admin, route, csrf);
      if (status !== 403) wrong.push(`${route} answered ${status}`);
    }
  }
  expect(wrong).toEqual([]);
});

test('a page of another site is refused, with any cookie or token', async () => {
  const admin = await console.as('admin');
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ]) {
    const { status } = await admin.post('/days/2026-03-02/pull', {}, { headers });
    expect(status, JSON.stringify(headers)).toBe(403);
  }
  const headers = { origin: console.url, 'sec-fetch-site': 'same-origin' };
  expect((await admin.post('/days/2026-03-02/pull', {}, { headers })).status).toBe(303);
});

/** The status of a request whose body is sent after the user was disabled. */
async function statusAfterTheEnd(user: string, path: string, headers: object, body: string) {
  const sent = request(console.url + path, {
    method: 'POST',
    headers: { ...headers, 'content-length': body.length, expect: '100-continue' },
  });
  sent.flushHeaders();
  await once(sent, 'continue');
  await changeUser(world.database, { name: user, by: 'admin', isDisabled: true });
  sent.end(body);
  const [response] = await once(sent, 'response');
  response.resume();
  return response.statusCode;
}

test('a session or key that ends while the body of a request arrives does nothing', async () => {
  const gone = await console.as('admin', 'gone');
  const cookie = gone.cookies.get('conciliation') ?? '';
  const form = new URLSearchParams({ _csrf: csrfTokenOf(cookie), name: 'late', role: 'admin' });
  const type = 'application/x-www-form-urlencoded';
  const headers = { cookie: `conciliation=${cookie}`, 'content-type': type };
  expect(await statusAfterTheEnd('gone', '/users', headers, form.toString())).toBe(303);
  expect(await world.prisma.consoleUser.count({ where: { name: 'late' } })).toBe(0);

  await console.as('operator', 'gone-too');
  const key = await makeKey(world.database, 'operator', ['pull'], 'gone-too');
  const ofKey = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const path = '/api/days/2026-03-02/pull';
  expect(await statusAfterTheEnd('gone-too', path, ofKey, '{}')).toBe(401);
});

test('pages carry a policy that lets no other host and no inline script in', async () => {
  for (const path of ['/', '/login', '/titles', '/audit', '/nothing']) {
    const page = await clients.get('viewer')?.get(path);
    const policy = String(page?.headers['content-security-policy']);
    expect(policy, path).toContain("default-src 'none'");
    expect(policy, path).not.toMatch(/unsafe-inline|unsafe-eval|https?:|\*/);
    expect(page?.text, path).not.toMatch(/<script(?![^>]*src="\/assets\/)|<style|\son\w+=|style="/);
  }
});

test('a browser is told to use https only where the public address is https', async () => {
  const header = async (publicUrl: URL | null) => {
    const opened = await openConsole(world.database, { publicUrl });
    const { headers } = await fetch(`${opened.url}/login`);
    await opened.close();
    return headers.get('strict-transport-security');
  };
  expect(await header(new URL('https://console.example.com'))).toBe('max-age=31536000');
  expect(await header(new URL('http://console.localhost'))).toBeNull();
  expect(await header(null)).toBeNull();
});
