/** The API: its document, keys, payables, and the sizes of bodies. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  KEY_ROLES,
  KEY_SCOPES,
  type KeyRole,
  type KeyScope,
} from '../../../src/base/values/role.ts';
import { TAX_ID_EXPECTATION } from '../../../src/base/values/tax-id.ts';
import { revokeApiKey } from '../../../src/console/access/api-keys.sql.ts';
import { knownAccess } from '../../../src/console/shell/route-access.ts';
import { setConsumer } from '../../../src/features/bookings/consumers.ts';
import { PAYABLE_FIELDS } from '../../../src/features/matching/payables/payable.ts';
import { makeKey } from '../../support/console-client.ts';
import { forFile, openFolder } from '../../support/for-tests.ts';
import { lastAudit, pagesForFile } from '../../support/pages-world.ts';
import { DAY, daysFrom } from '../../support/pull-world.ts';
import { titleText } from '../../support/titles.ts';

const REDOCLY = 'node_modules/@redocly/cli/bin/cli.js';

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
let documentText: string;
let document: OpenApi;
const folder = forFile(openFolder);
const HELD = daysFrom(2);
beforeAll(async () => {
  documentText = (await viewer.get('/api/openapi.json')).text;
  document = JSON.parse(documentText);
  await world.serve(DAY, [titleText({ uid: 'a', more: ',"x":1' }), titleText({ uid: 'b' })]);
  await world.serve(DAY, [titleText({ uid: 'a', discount: '1' }), titleText({ uid: 'b' })]);
  await world.serve(HELD, [titleText({ uid: 'c', date: HELD })]);
  await world.serve(HELD, []);
  await world.prisma.alert.create({
    data: { kind: 'day_held', dedupeKey: 'x', message: 'held', messagePt: 'held', date: HELD },
  });
});

const newKey = (role: KeyRole, ...scopes: KeyScope[]) => makeKey(world.database, role, scopes);

/** Why a request is refused. */
const messageOf = async (key: string, path: string, body?: object | string) =>
  (await console.call(key, path, body)).json().message;

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
  const titleId = Number((await world.prisma.title.findFirstOrThrow()).id);
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
    [400, '/api/erp-balances', { balances: [{ ...BALANCE, asOf: '2999-01-01' }] }],
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

test.each([
  [`/titles?data=${DAY}`, /^querystring must NOT have additional properties: data$/],
  ['/providers?state=x', /allowed values: .*pending/],
  ['/days', /'from'/],
  ['/titles?maxValue=x', /^maxValue: expected one amount/],
])('a refusal names the parameter: %s', async (path, message) => {
  const answer = await console.call(await newKey('viewer', 'read'), `/api${path}`);
  expect([answer.status, answer.json().message]).toEqual([400, expect.stringMatching(message)]);
});

test('no answer reveals identifiers', async () => {
  const key = await newKey('operator', 'read');
  for (const { id } of await world.prisma.title.findMany({ select: { id: true } })) {
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
    expect(await messageOf(reader, `/api/export?from=${DAY}&to=${DAY}&format=csv`)).toBe(
      'the key has no permission; expected the scope export',
    );
    const viewer = await newKey('viewer', 'pull');
    expect(await messageOf(viewer, `/api/days/${DAY}/pull`, {})).toBe(
      'the role viewer has no permission; expected operator or admin',
    );
  });

  test('opens no page', async () => {
    const key = await newKey('operator', ...KEY_SCOPES);
    expect((await console.call(key, '/')).status).toBe(303);
  });

  test('stops working when it is revoked or expires, and no other text works', async () => {
    const key = await newKey('viewer', 'read');
    expect((await console.call(key, '/api/status')).status).toBe(200);
    const row = await world.prisma.apiKey.findFirstOrThrow({ orderBy: { id: 'desc' } });
    expect(JSON.stringify(row, (_, value) => String(value))).not.toContain(key);
    await revokeApiKey(world.database, row.id, 'test');
    expect((await console.call(key, '/api/status')).status).toBe(401);
    const late = await newKey('viewer', 'read');
    await world.prisma.$executeRaw`UPDATE conciliation.api_key SET expires_at = now()`;
    expect((await console.call(late, '/api/status')).status).toBe(401);
    for (const text of ['', 'x', row.keyHash, `${key}x`]) {
      expect((await console.call(text, '/api/status')).status).toBe(401);
    }
  });

  test('acts under its own name', async () => {
    const key = await newKey('operator', 'pull');
    expect(await messageOf(key, `/api/days/${DAY}/pull`, '')).toMatch(/application.json/);
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

/** Runs the linter without telemetry and without the search for updates. */
async function lint(file: string, text: string) {
  await writeFile(file, text);
  const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [REDOCLY, 'lint', file, '--extends', 'recommended', '--format', 'json'],
    { env: { ...process.env, ...quiet } },
    // With problems, the status is 1, and the output is the same.
  ).catch((failed: { stdout: string }) => failed);
  return JSON.parse(stdout) as { totals: Record<string, number>; problems: unknown[] };
}

test('the recommended rules for OpenAPI documents find nothing', async () => {
  const file = join(folder.path, 'openapi.json');
  const { totals, problems } = await lint(file, documentText);
  expect(problems).toEqual([]);
  expect(totals).toMatchObject({ errors: 0, warnings: 0, ignored: 0 });
  // The rules do find what is missing.
  const without = await lint(file, documentText.replaceAll('"operationId"', '"x-operation"'));
  expect(without.totals['warnings']).toBeGreaterThan(20);
});

describe('an ERP sends', () => {
  let key: string;
  beforeAll(async () => {
    key = await newKey('operator', 'payables', 'read', 'export');
    const { id } = await world.prisma.apiKey.findFirstOrThrow({ orderBy: { id: 'desc' } });
    const consumer = { name: 'erp', databaseRole: null, apiKeyId: Number(id), buyers: [] };
    await setConsumer(world.database, consumer, 'test');
  });
  beforeEach(async () => {
    await world.prisma.$executeRaw`
      TRUNCATE conciliation.erp_payable, conciliation.erp_payable_reject, conciliation.erp_payable_import CASCADE`;
  });

  const call = async (path: string, body?: object | string) => {
    const answer = await console.call(key, `/api${path}`, body);
    return { status: answer.status, body: answer.json() };
  };
  const payable = (erpKey: string, openValue = '10.10') => ({ ...PAYABLE, erpKey, openValue });
  const begin = async () => {
    const { body } = await call('/erp-payables/imports', { kind: 'snapshot' });
    const path = `/erp-payables/imports/${body['importId']}`;
    return {
      add: (...payables: object[]) => call(`${path}/payables`, { payables }),
      end: (count: number) => call(`${path}/end`, { count }),
    };
  };

  test('a snapshot of several requests, which closes what it lacks once it has ended', async () => {
    await call('/erp-payables', { payables: [payable('a'), payable('gone')] });
    const snapshot = await begin();
    const batch = [payable('a'), payable('b')];
    expect((await snapshot.add(...batch)).body).toMatchObject({ inserted: 1, unchanged: 1 });
    // The answer was lost, and the ERP sends the batch again.
    const again = { inserted: 0, changed: 0, rejected: 0 };
    expect((await snapshot.add(...batch)).body).toMatchObject(again);
    await snapshot.add(payable('c', '0.01'), { ...payable('dollars'), currency: 'USD' });
    const read = async () => (await call('/erp-payables')).body.payables;
    expect(await read()).toMatchObject({ open: 4, openValue: '30.31' });
    expect((await snapshot.end(4)).body).toMatchObject({ isComplete: true, closed: 1 });
    const payables = await read();
    expect(payables).toMatchObject({ open: 3, openValue: '20.21', incompleteAt: null });
    expect(payables['snapshotAt']).not.toBeNull();
  });

  test('a delta during a snapshot, which does not close it', async () => {
    const snapshot = await begin();
    await snapshot.add(payable('a'));
    await call('/erp-payables', { payables: [payable('new')] });
    expect((await snapshot.end(1)).body).toMatchObject({ closed: 0 });
  });

  test('a payable with a fault, which is rejected alone, and its values are not in the answer', async () => {
    const { status, body } = await call('/erp-payables', {
      payables: [payable('a'), { ...payable('b'), supplierTaxId: '52998224726' }, { erpKey: 'c' }],
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ inserted: 1, rejected: 2 });
    expect(body['rejects']).toEqual([
      { at: 2, field: 'supplierTaxId', expected: TAX_ID_EXPECTATION },
      { at: 3, field: 'openValue', expected: expect.stringContaining('missing') },
      { at: 3, field: 'supplierExternalId', expected: expect.stringContaining('missing') },
    ]);
    expect(JSON.stringify(body)).not.toContain('52998224726');
  });

  test('no payables to an import that has ended or does not exist', async () => {
    const snapshot = await begin();
    await snapshot.end(0);
    const ended = { status: 400, body: { message: 'id: the import has ended' } };
    expect(await snapshot.add(payable('a'))).toMatchObject(ended);
    const batch = { payables: [payable('a')] };
    expect((await call('/erp-payables/imports/99/payables', batch)).status).toBe(400);
    expect((await call('/erp-payables', { payables: [] })).status).toBe(400);
  });

  /** JSON in ASCII, as many ERPs write it: each character beyond ASCII has six bytes. */
  const ascii = (value: unknown) =>
    JSON.stringify(value).replace(
      /[\u0080-\uffff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  const TOO_MANY = { status: 400, body: { message: expect.stringContaining('1000') } };

  test('1,000 receipts with the longest texts, and one more is refused with the number', async () => {
    const send = (count: number, text: string) => {
      const receipts = Array.from({ length: count }, (_, index) => ({
        idempotencyKey: `${index}`.padEnd(200, text),
        key: `${DAY}:${'f'.repeat(32)}:999999999:999999999`,
        contentHash: 'f'.repeat(32),
        ...(index % 2 === 0
          ? { status: 'posted', document: text.repeat(200) }
          : { status: 'failed', reason: text.repeat(2_000), isFinal: true }),
      }));
      return call('/bookings/receipts', ascii({ receipts }));
    };
    expect(await send(1_000, 'é')).toEqual({ status: 200, body: { stored: 1_000 } });
    expect(await send(1_001, 'x')).toMatchObject(TOO_MANY);
  });

  test('1,000 payables with the longest texts, and one more is refused with the number', async () => {
    const taxId = '52998224725';
    const amount = '1'.repeat(18);
    const bookingKey = `2026-03-02:${'0'.repeat(32)}:1:1`;
    const longest: Readonly<Record<string, string>> = {
      ...{ supplierTaxId: taxId, payee: taxId, paidTo: taxId },
      ...{ openValue: amount, totalValue: amount, currency: 'BRL', status: 'open' },
      ...{ dueDate: '2026-06-30', issueDate: '2026-05-30', settledOn: '2026-06-30' },
      ...{ settledAs: 'assignment', settledBy: bookingKey, bookingKey },
    };
    const fields = PAYABLE_FIELDS.map((name) => [name, longest[name] ?? '😀'.repeat(255)]);
    const payables = Array.from({ length: 1_000 }, (_, index) => ({
      ...Object.fromEntries(fields),
      erpKey: `${index}`.padEnd(255, 'é'),
    }));
    const taken = { status: 200, body: { inserted: 1_000, rejected: 0 } };
    expect(await call('/erp-payables', ascii({ payables }))).toMatchObject(taken);
    const more = { payables: Array(1_001).fill({}) };
    expect(await call('/erp-payables', more)).toMatchObject(TOO_MANY);
  });

  test('a body above the limit of its route, and the answer names the limit', async () => {
    const message = 'the body has more than 65536 bytes, the limit of this route';
    const body = { code: 'BODY_TOO_LARGE', message };
    const answer = await call('/erp-payables/imports', ' '.repeat(65_537));
    expect(answer).toEqual({ status: 413, body });
  });

  test.each([
    ['of another type', 'text/plain', '{}', 415, 'expected JSON as application/json'],
    ['that is cut', 'application/json', '{"a":', 400, 'the body is not JSON'],
    ['in Latin-1', 'application/json', '{"é":1}', 400, 'the body is not UTF-8'],
  ])('no body %s, and the answer says so', async (_, type, text, status, message) => {
    const headers = { authorization: `bearer ${key}`, 'content-type': type };
    const sent = { method: 'POST', headers, body: Buffer.from(text, 'latin1') };
    const answer = await fetch(`${console.url}/api/erp-payables`, sent);
    expect({ status: answer.status, ...(await answer.json()) }).toMatchObject({ status, message });
  });
});
