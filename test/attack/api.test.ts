import { request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setConsumer } from '../../src/bookings/consumers.sql.ts';
import { checkDays } from '../../src/checks/check-day.sql.ts';
import { createApiKey } from '../../src/console/access/api-keys.sql.ts';
import { DEFAULT_RULES } from '../support/check-rules.ts';
import { type ConsoleWorld, openConsole } from '../support/console-client.ts';
import { importPayables } from '../support/payables.ts';
import { DAY, daysFrom, openPullWorld, type PullWorld } from '../support/pull-world.ts';
import { titleText } from '../support/titles.ts';

let world: PullWorld;
let console_: ConsoleWorld;
let key: string;
beforeAll(async () => {
  world = await openPullWorld();
  console_ = await openConsole(world.database);
  key = await createApiKey(world.database, { name: 'all', user: null, role: 'operator', scopes: ['read', 'export', 'decide', 'pull', 'payables'], validDays: 1, by: 'test' });
  const { id } = await world.database.prisma.apiKey.findFirstOrThrow({ select: { id: true } });
  await setConsumer(world.database, { name: 'erp', databaseRole: null, apiKeyId: Number(id), buyers: [] }, 'test');
  world.sandbox.setDayTexts(DAY, [titleText({ value: '0' }), titleText({ uid: 'b' })]);
  await world.pull(DAY);
  world.sandbox.setDayTexts(daysFrom(1), [titleText({ uid: 'b', date: daysFrom(1) })]);
  await world.pull(daysFrom(1));
  await importPayables(world.database, [{ erpKey: 'k1', openValue: '10' }, { erpKey: 'k2', openValue: '0', orderUid: 'b' }]);
  await checkDays(world.database, DEFAULT_RULES);
});
afterAll(async () => {
  await console_.close();
  await world.close();
});
async function call(method: string, path: string, body?: unknown) {
  const answer = await request(console_.url + path, {
    method: method as 'GET',
    headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: answer.statusCode, text: await answer.body.text() };
}
const HOSTILE = ['', '-1', '0', '1', '2147483647', '2147483648', '4294967296', '9007199254740991', '9007199254740993', '999999999999999999', '9223372036854775808', '1e308', '1.5', 'NaN', 'null', '%00', 'a%00b', '%ED%A0%80', '%27%20OR%201=1--', '0001-01-01', '9999-12-31', '10000-01-01', '-0001-01-01', '2026-02-30', 'infinity', '%F0%9F%98%80'.repeat(300), 'open', 'all', 'paid_to_supplier', 'value_not_positive', 'AAAA', 'eyJhIjoxfQ'];
test('no GET of the API answers 5xx', async () => {
  const spec = JSON.parse((await call('GET', '/api/openapi.json')).text);
  const bad: string[] = [];
  let calls = 0;
  for (const [path, item] of Object.entries<any>(spec.paths)) {
    const op = item.get;
    if (op === undefined) continue;
    const params = [...(op.parameters ?? []), ...(item.parameters ?? [])];
    const full = path.startsWith('/api') ? path : `/api${path}`;
    const good = full.replace('{date}', DAY).replace('{id}', '1').replace('{month}', '2026-03');
    const r = await call('GET', good);
    if (r.status >= 500) bad.push(`${good} ${r.status}`);
    for (const h of HOSTILE) {
      if (full.includes('{')) {
        const p = full.replace(/\{\w+\}/g, h === '' ? '%20' : h);
        const a = await call('GET', p);
        calls++;
        if (a.status >= 500) bad.push(`${p.slice(0, 90)} ${a.status} ${a.text.slice(0, 90)}`);
      }
      for (const q of params.filter((x: any) => x.in === 'query')) {
        const required = params.filter((x: any) => x.in === 'query' && x.required && x.name !== q.name).map((x: any) => `&${x.name}=${x.schema?.format === 'date' ? DAY : '1'}`).join('');
        const p = `${good}?${q.name}=${h}${required}`;
        const a = await call('GET', p);
        calls++;
        if (a.status >= 500) bad.push(`${p.slice(0, 90)} ${a.status} ${a.text.slice(0, 120)}`);
      }
    }
  }
  console.log(calls, bad);
  expect(bad).toEqual([]);
});
test('no POST of the API answers 5xx', async () => {
  const spec = JSON.parse((await call('GET', '/api/openapi.json')).text);
  const bad: string[] = [];
  const values = [null, '', 'x', 'a\u0000b', '\ud800', -1, 0, 1, 2147483648, 9007199254740991, 1e30, 1.5, [], {}, true, '2026-02-30', '0001-01-01', '9999-12-31', 'x'.repeat(5000)];
  let calls = 0;
  const sample = (schema: any): any => {
    if (schema === undefined) return 'x';
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return schema.enum[0];
    if (schema.anyOf) return sample(schema.anyOf[0]);
    const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
    if (type === 'object') return Object.fromEntries(Object.entries<any>(schema.properties ?? {}).map(([k, v]) => [k, sample(v)]));
    if (type === 'array') return [sample(schema.items)];
    if (type === 'integer' || type === 'number') return 1;
    if (type === 'boolean') return true;
    if (schema.format === 'date') return DAY;
    return 'x';
  };
  for (const [path, item] of Object.entries<any>(spec.paths)) {
    const op = item.post;
    if (op === undefined) continue;
    const full = path.startsWith('/api') ? path : `/api${path}`;
    const schema = op.requestBody?.content?.['application/json']?.schema;
    const base = schema === undefined ? undefined : sample(schema);
    for (const id of ['1', '9223372036854775808', '0', DAY, '2026-03']) {
      const p = full.replace(/\{\w+\}/g, id);
      const a = await call('POST', p, base);
      calls++;
      if (a.status >= 500) bad.push(`${p} ${JSON.stringify(base)?.slice(0, 150)} ${a.status} ${a.text.slice(0, 120)}`);
      if (!full.includes('{')) break;
    }
    const p = full.replace('{date}', DAY).replace('{id}', '1').replace('{month}', '2026-03');
    const walk = async (node: any, set: (v: any) => any) => {
      for (const v of values) {
        const b = set(v);
        const a = await call('POST', p, JSON.stringify(b));
        calls++;
        if (a.status >= 500) bad.push(`${p} ${JSON.stringify(b).slice(0, 150)} ${a.status} ${a.text.slice(0, 120)}`);
      }
      if (Array.isArray(node)) await walk(node[0], (v) => set([v]));
      else if (node !== null && typeof node === 'object') for (const k of Object.keys(node)) await walk(node[k], (v) => set({ ...node, [k]: v }));
    };
    if (base !== undefined) await walk(base, (v) => v);
  }
  console.log(calls, bad);
  expect(bad).toEqual([]);
});
