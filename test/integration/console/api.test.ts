import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  KEY_ROLES,
  KEY_SCOPES,
  type KeyRole,
  type KeyScope,
} from '../../../src/base/values/role.ts';
import { revokeApiKey } from '../../../src/console/access/api-keys.sql.ts';
import { knownAccess } from '../../../src/console/shell/route-access.ts';
import { makeKey } from '../../support/console-client.ts';
import { lastAudit, pagesForFile } from '../../support/pages-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

interface Operation {
  readonly responses: Record<string, { content?: Record<string, { schema: object }> }>;
}
interface OpenApi {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Operation>>;
}

let plannerRuns = 0;
const plan = () => {
  plannerRuns += 1;
};
const { world, console, viewer, operator } = pagesForFile({ plan });
let document: OpenApi;
const HELD = daysFrom(2);
beforeAll(async () => {
  document = (await viewer.get('/api/openapi.json')).json() as OpenApi;
  await world.serve(DAY, [titleText({ uid: 'a', more: ',"x":1' }), titleText({ uid: 'b' })]);
  await world.serve(DAY, [titleText({ uid: 'a', discount: '1' }), titleText({ uid: 'b' })]);
  await world.serve(HELD, [titleText({ uid: 'c', date: HELD })]);
  await world.serve(HELD, []);
  await world.database.prisma.alert.create({
    data: { kind: 'day_held', dedupeKey: 'x', message: 'held', messagePt: 'held', date: HELD },
  });
});

const newKey = (role: KeyRole, ...scopes: KeyScope[]) => makeKey(world.database, role, scopes);

const PAYABLE = { erpKey: '1', supplierExternalId: 'P-1', openValue: '10.10' };
const BALANCE = {
  ...{ company: '90021382000122', agent: '11222333000181' },
  ...{ asOf: DAY, balance: '-10.10' },
};

/** The path of the document for an address; one without parameters, if there are two. */
const pathOf = (url: string) =>
  Object.keys(document.paths)
    .filter((path) =>
      new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`).test(url.split('?')[0] ?? ''),
    )
    .sort((one, other) => one.split('{').length - other.split('{').length)[0] ?? '';

test('the document is OpenAPI 3.1 and names every route of /api', async () => {
  expect(document.openapi).toBe('3.1.0');
  const result = await new Validator().validate({ ...structuredClone(document) });
  expect(result.valid).toBe(true);
  const described = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map(
      (method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
    ),
  );
  const served = Object.keys(knownAccess()).filter(
    (route) => / \/api\//.test(route) && !route.endsWith('openapi.json'),
  );
  expect(described.sort()).toEqual(served.sort());
});

test('the answers match the document', async () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const key = await newKey('operator', 'read', 'pull', 'payables');
  const titleId = Number((await world.database.prisma.title.findFirstOrThrow()).id);
  const calls: readonly [number, string, object?][] = [
    [200, '/api/status'],
    [200, `/api/days?from=${DAY}&to=${HELD}`],
    [400, '/api/days?from=x&to=y'],
    [200, `/api/days/${DAY}`],
    [200, `/api/days/${HELD}`],
    [404, '/api/days/2020-01-01'],
    [200, `/api/titles?from=${DAY}&limit=1&sort=-value`],
    [400, '/api/titles?minValue=x'],
    [200, `/api/days/${DAY}/changes`],
    [200, `/api/titles/${titleId}`],
    [200, '/api/months'],
    [200, '/api/alerts'],
    [200, '/api/restated?limit=1'],
    [200, '/api/providers?state=pending'],
    [400, '/api/providers?state=x'],
    [200, '/api/account-changes?state=all'],
    [200, '/api/audit?limit=5'],
    [202, `/api/days/${DAY}/pull`, {}],
    [200, '/api/breaks?limit=2'],
    [200, '/api/erp-payables'],
    [200, '/api/erp-payables', { payables: [PAYABLE, 7] }],
    [201, '/api/erp-payables/imports', { kind: 'snapshot' }],
    [200, '/api/erp-payables/imports/2/payables', { payables: [PAYABLE] }],
    [200, '/api/erp-payables/imports/2/end', { count: 1 }],
    [200, '/api/erp-payables'],
    [200, '/api/erp-balances', { balances: [BALANCE] }],
    [400, '/api/erp-balances', { balances: [{ ...BALANCE, agent: '7' }] }],
    [200, '/api/balance?limit=2'],
    [200, '/api/balance-groups'],
    [200, '/api/disclosure?end=2026-03-31&limit=2'],
    [400, '/api/disclosure?end=x'],
    [201, '/api/backfills', { from: DAY, to: HELD }],
    [200, '/api/backfills'],
    [200, '/api/backfills/1'],
    [200, '/api/backfills/1/cancel', {}],
  ];
  for (const [status, url, body] of calls) {
    const answer = await console.call(key, url, body);
    expect([answer.status, answer.text], url).toEqual([status, expect.any(String)]);
    const { responses } = document.paths[pathOf(url)]?.[body === undefined ? 'get' : 'post'] ?? {};
    const schema = responses?.[String(status)]?.content?.['application/json']?.schema;
    const validate = ajv.compile(schema ?? { not: {} });
    validate(answer.json());
    expect(validate.errors, `${status} ${url}`).toBeNull();
  }
  // For the backfill, and for its end, which gives its places to other pulls.
  expect(plannerRuns).toBe(2);
});

test('a refusal names the parameter that no operation has, and the values that a parameter takes', async () => {
  const key = await newKey('operator', 'read');
  const messageOf = async (url: string) => (await console.call(key, url)).json().message;
  expect(await messageOf(`/api/titles?data=${DAY}`)).toBe(
    'querystring must NOT have additional properties: data',
  );
  expect(await messageOf('/api/providers?state=x')).toMatch(/allowed values: .*pending/);
});

test('no answer reveals identifiers', async () => {
  const key = await newKey('operator', 'read');
  for (const { id } of await world.database.prisma.title.findMany({ select: { id: true } })) {
    const { text } = await console.call(key, `/api/titles/${id}`);
    expect(text).not.toMatch(/52998224725|11222333000181|7654321|1234567|90021382000122/);
  }
});

describe('a key', () => {
  test('may do only what its role and its scopes both allow', async () => {
    const wrong: string[] = [];
    const answered = new Set<string>();
    for (const role of KEY_ROLES) {
      for (const scope of KEY_SCOPES) {
        const key = await newKey(role, scope);
        for (const [route, access] of Object.entries(knownAccess())) {
          const [method = '', url = ''] = route.split(' ');
          if (!url.startsWith('/api/')) continue;
          const isAllowed = access.scope === scope && access.who.includes(role);
          // The answer itself is made for one of the roles.
          if (isAllowed && answered.has(route)) continue;
          if (isAllowed) answered.add(route);
          const path = url.replace(':date', '2020-01-01').replace(':id', '999999');
          const { status } = await console.call(key, path, method === 'POST' ? {} : undefined);
          if ((status === 403) === isAllowed) wrong.push(`${role} ${scope} ${route}: ${status}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  test('is told the scope or the role that an action needs', async () => {
    const reader = await newKey('viewer', 'read');
    const scope = await console.call(reader, `/api/export?from=${DAY}&to=${DAY}&format=csv`);
    expect(scope.json()).toMatchObject({
      message: 'the key has no permission; expected the scope export',
    });
    const viewer = await newKey('viewer', 'pull');
    const role = await console.call(viewer, `/api/days/${DAY}/pull`, {});
    expect(role.json()).toMatchObject({
      message: 'the role viewer has no permission; expected operator or admin',
    });
  });

  test('is told the parameter that a request lacks', async () => {
    const answer = await console.call(await newKey('viewer', 'read'), '/api/days');
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({ message: expect.stringContaining("'from'") });
  });

  test('opens no page', async () => {
    const key = await newKey('operator', ...KEY_SCOPES);
    expect((await console.call(key, '/')).status).toBe(303);
  });

  test('stops working when it is revoked or expires, and no other text works', async () => {
    const key = await newKey('viewer', 'read');
    expect((await console.call(key, '/api/status')).status).toBe(200);
    const row = await world.database.prisma.apiKey.findFirstOrThrow({ orderBy: { id: 'desc' } });
    expect(JSON.stringify(row, (_, value) => String(value))).not.toContain(key);
    await revokeApiKey(world.database, row.id, 'test');
    expect((await console.call(key, '/api/status')).status).toBe(401);
    const late = await newKey('viewer', 'read');
    await world.database.prisma.$executeRaw`UPDATE conciliation.api_key SET expires_at = now()`;
    expect((await console.call(late, '/api/status')).status).toBe(401);
    for (const text of ['', 'x', row.keyHash, `${key}x`]) {
      expect((await console.call(text, '/api/status')).status).toBe(401);
    }
  });

  test('acts under its own name', async () => {
    const key = await newKey('operator', 'pull');
    await console.call(key, `/api/days/${DAY}/pull`, {});
    const entry = await lastAudit(world, { action: 'pull.request' });
    expect(entry?.actor).toMatch(/^key \d+: script$/);
  });
});

test('a session uses the API too, and requires its token for every action', async () => {
  expect((await operator.get('/api/status')).status).toBe(200);
  const path = `/api/days/${DAY}/pull`;
  expect((await operator.post(path, {}, { csrf: null })).status).toBe(403);
  const headers = { 'x-csrf-token': await operator.csrf() };
  expect((await operator.post(path, {}, { csrf: null, headers })).status).toBe(202);
});
