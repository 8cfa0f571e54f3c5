import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { beforeAll, describe, expect, test } from 'vitest';
import { revokeApiKey } from '../../../src/console/access/api-keys.sql.ts';
import { ROUTE_ACCESS } from '../../../src/console/shell/route-access.ts';
import { KEY_ROLES, KEY_SCOPES, type KeyRole, type KeyScope } from '../../../src/domain/role.ts';
import { makeKey, openConsole } from '../../support/console-client.ts';
import { forFile } from '../../support/for-tests.ts';
import { DAY, daysFrom, openPullWorld } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

interface Operation {
  readonly responses: Record<string, { content?: Record<string, { schema: object }> }>;
}
interface OpenApi {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Operation>>;
}

const world = forFile(openPullWorld);
const console = forFile(() => openConsole(world.database));
let document: OpenApi;
const HELD = daysFrom(2);
beforeAll(async () => {
  document = (await (await console.as('viewer')).get('/api/openapi.json')).json() as OpenApi;
  world.sandbox.setDayTexts(DAY, [
    titleText({ uid: 'a', more: ',"x":1' }),
    titleText({ uid: 'b' }),
  ]);
  await world.pull(DAY);
  world.sandbox.setDayTexts(DAY, [titleText({ uid: 'a', discount: '1' }), titleText({ uid: 'b' })]);
  await world.pull(DAY);
  world.sandbox.setDayTexts(HELD, [titleText({ uid: 'c', date: HELD })]);
  await world.pull(HELD);
  world.sandbox.setDayTexts(HELD, []);
  await world.pull(HELD);
  await world.database.prisma.alert.create({
    data: {
      kind: 'day_held',
      dedupeKey: 'x',
      message: 'held',
      messagePt: 'held',
      date: new Date(HELD),
    },
  });
});

const newKey = (role: KeyRole, ...scopes: KeyScope[]) => makeKey(world.database, role, scopes);

const PAYABLE = { erpKey: '1', supplierExternalId: 'P-1', openValue: '10.10' };

const schemaOf = (method: string, path: string, status: number) =>
  document.paths[path]?.[method.toLowerCase()]?.responses[String(status)]?.content?.[
    'application/json'
  ]?.schema;

test('the document is OpenAPI 3.1 and names every route of /api', async () => {
  expect(document.openapi).toBe('3.1.0');
  const result = await new Validator().validate({ ...structuredClone(document) });
  expect(result.valid).toBe(true);
  const described = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map(
      (method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
    ),
  );
  const served = Object.keys(ROUTE_ACCESS).filter(
    (route) => / \/api\//.test(route) && !route.endsWith('openapi.json'),
  );
  expect(described.sort()).toEqual(served.sort());
});

test('the answers match the document', async () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const key = await newKey('operator', 'read', 'pull', 'payables');
  const titleId = Number((await world.database.prisma.title.findFirstOrThrow()).id);
  const calls = [
    ['GET', '/api/status', '/api/status', 200],
    ['GET', '/api/days', `/api/days?from=${DAY}&to=${HELD}`, 200],
    ['GET', '/api/days/{date}', `/api/days/${DAY}`, 200],
    ['GET', '/api/days/{date}/titles', `/api/days/${DAY}/titles?limit=1&sort=value`, 200],
    ['GET', '/api/days/{date}/changes', `/api/days/${DAY}/changes`, 200],
    ['GET', '/api/titles/{id}', `/api/titles/${titleId}`, 200],
    ['GET', '/api/months', '/api/months', 200],
    ['GET', '/api/months/{month}', `/api/months/${DAY.slice(0, 7)}`, 200],
    ['GET', '/api/months/{month}', '/api/months/2020-01', 404],
    ['GET', '/api/months/{month}', '/api/months/x', 400],
    ['GET', '/api/alerts', '/api/alerts', 200],
    ['GET', '/api/restated', '/api/restated?limit=1', 200],
    ['GET', '/api/providers', '/api/providers?state=pending', 200],
    ['GET', '/api/providers', '/api/providers?state=x', 400],
    ['GET', '/api/provider', '/api/provider?id=P-1', 200],
    ['GET', '/api/provider', '/api/provider?id=nobody', 404],
    ['GET', '/api/provider', '/api/provider?id=%00', 400],
    ['GET', '/api/account-changes', '/api/account-changes?state=all', 200],
    ['GET', '/api/days/{date}', `/api/days/${HELD}`, 200],
    ['GET', '/api/drift', '/api/drift', 200],
    ['GET', '/api/audit', '/api/audit?limit=5', 200],
    ['POST', '/api/days/{date}/pull', `/api/days/${DAY}/pull`, 202],
    ['GET', '/api/sweeps', '/api/sweeps', 200],
    ['GET', '/api/breaks', '/api/breaks?limit=2', 200],
    ['GET', '/api/erp-payables', '/api/erp-payables', 200],
    ['POST', '/api/erp-payables', '/api/erp-payables', 200, { payables: [PAYABLE, 7] }],
    ['POST', '/api/erp-payables/imports', '/api/erp-payables/imports', 201, { kind: 'snapshot' }],
    [
      'POST',
      '/api/erp-payables/imports/{id}/payables',
      '/api/erp-payables/imports/2/payables',
      200,
      { payables: [PAYABLE] },
    ],
    [
      'POST',
      '/api/erp-payables/imports/{id}/end',
      '/api/erp-payables/imports/2/end',
      200,
      { count: 1 },
    ],
    ['GET', '/api/erp-payables', '/api/erp-payables', 200],
    ['POST', '/api/backfills', '/api/backfills', 201, { from: DAY, to: HELD }],
    ['GET', '/api/backfills', '/api/backfills', 200],
    ['GET', '/api/backfills/{id}', '/api/backfills/1', 200],
    ['POST', '/api/backfills/{id}/cancel', '/api/backfills/1/cancel', 200],
    ['GET', '/api/days/{date}', '/api/days/2020-01-01', 404],
    ['GET', '/api/days', '/api/days?from=x&to=y', 400],
  ] as const;
  for (const [method, path, url, status, body] of calls) {
    const answer = await console.call(key, url, method === 'POST' ? (body ?? {}) : undefined);
    expect([answer.status, answer.text], url).toEqual([status, expect.any(String)]);
    const validate = ajv.compile(schemaOf(method, path, status) ?? { not: {} });
    validate(answer.json());
    expect(validate.errors, `${method} ${url}`).toBeNull();
  }
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
    for (const role of KEY_ROLES) {
      for (const scope of KEY_SCOPES) {
        const key = await newKey(role, scope);
        for (const [route, access] of Object.entries(ROUTE_ACCESS)) {
          const [method = '', url = ''] = route.split(' ');
          if (!url.startsWith('/api/')) continue;
          const path = url.replace(':date', '2020-01-01').replace(':id', '999999');
          const { status } = await console.call(key, path, method === 'POST' ? {} : undefined);
          const isAllowed = access.scope === scope && access.who.includes(role);
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
    const entry = await world.database.prisma.auditEntry.findFirstOrThrow({
      where: { action: 'pull.request' },
      orderBy: { id: 'desc' },
    });
    expect(entry.actor).toMatch(/^key \d+: script$/);
  });
});

test('a session uses the API too, and requires its token for every action', async () => {
  const operator = await console.as('operator');
  expect((await operator.get('/api/status')).status).toBe(200);
  const path = `/api/days/${DAY}/pull`;
  expect((await operator.post(path, {}, { csrf: null })).status).toBe(403);
  const headers = { 'x-csrf-token': await operator.csrf() };
  expect((await operator.post(path, {}, { csrf: null, headers })).status).toBe(202);
});
