import { Gauge, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { ConfigError } from '../../../src/base/runtime/errors.ts';
import { createTestLog, passing, startConsole } from './console-world.ts';

test('one check that fails is enough, and being not ready is not being dead', async () => {
  const console = await startConsole({
    checks: [passing('database'), { name: 'queue', run: async () => 'not reachable' }],
  });
  const answer = await console.get('/readyz');
  expect(answer.status).toBe(503);
  expect(answer.json()).toMatchObject({
    status: 'not ready',
    checks: [{ ok: true }, { name: 'queue', ok: false, reason: 'not reachable' }],
  });
  expect((await console.get('/healthz')).status).toBe(200);
});

test('the error of a check is neither returned nor logged, but the failure is logged once', async () => {
  const { logger, lines } = createTestLog();
  let fails = true;
  const run = async () => {
    if (fails) throw new Error('password canary of CANARY LTDA');
    return null;
  };
  const console = await startConsole({ logger, checks: [{ name: 'database', run }] });
  for (let asked = 0; asked < 3; asked += 1) {
    const answer = await console.get('/readyz');
    expect(answer.json()).toMatchObject({ checks: [{ ok: false, reason: 'failed' }] });
    expect(answer.text).not.toMatch(/canary/i);
  }
  fails = false;
  await console.get('/readyz');
  await console.get('/readyz');
  expect(lines().map(({ msg }) => msg)).toEqual(['console listening', 'not ready', 'ready again']);
  expect(JSON.stringify(lines())).not.toMatch(/canary/i);
});

test('a check that hangs is over when its time is, and is not asked a second time meanwhile', async () => {
  let asked = 0;
  const run = () => {
    asked += 1;
    return new Promise<never>(() => {});
  };
  const checks = [passing('database'), { name: 'queue', run }];
  const console = await startConsole({ checkTimeoutMs: 100, checks });
  const answers = await Promise.all([console.get('/readyz'), console.get('/readyz')]);
  for (const answer of answers) {
    expect(answer.status).toBe(503);
    expect(answer.json()).toMatchObject({
      checks: [{ ok: true }, { ok: false, reason: 'no answer in 100 ms' }],
    });
  }
  expect(asked).toBe(1);
});

test('every answer carries the security headers, refusals too', async () => {
  const console = await startConsole();
  for (const path of ['/healthz', '/readyz', '/metrics', '/nothing']) {
    const { headers } = await console.get(path);
    expect(headers, path).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    expect(headers).not.toHaveProperty('x-powered-by');
  }
});

test('an error inside answers nothing of itself, and is logged without its message', async () => {
  const { logger, lines } = createTestLog();
  const registry = new Registry();
  new Gauge({
    name: 'broken',
    help: 'broken',
    registers: [registry],
    collect() {
      throw new Error('duplicate key (52998224725)');
    },
  });
  const console = await startConsole({ logger, registry });
  const answer = await console.get('/metrics');
  expect([answer.status, answer.json()]).toEqual([
    500,
    { code: 'INTERNAL', message: 'the request failed; the log has more' },
  ]);
  expect(lines()).toContainEqual(
    expect.objectContaining({ msg: 'request failed', route: '/metrics', method: 'GET' }),
  );
  expect(JSON.stringify(lines())).not.toContain('52998224725');
});

test('a port that is taken is a fault of the configuration', async () => {
  const console = await startConsole();
  const port = Number(new URL(console.url).port);
  await expect(startConsole({ port })).rejects.toThrow(ConfigError);
  await expect(startConsole({ port })).rejects.toThrow(
    `cannot listen on 127.0.0.1, port ${port} (EADDRINUSE)`,
  );
});
