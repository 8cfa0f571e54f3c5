import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { pushSuppliersAgain } from '../../../src/cli/setup.sql.ts';
import { readPushDelayMs } from '../../../src/features/providers/provider-batches.sql.ts';
import { recordingLogger } from '../../support/logger.ts';
import {
  cpfOf,
  providerOf,
  readBatches,
  readProviders,
  writeProviders,
} from '../../support/provider-rows.ts';
import { type PushWorld, pushWorldOfFile } from '../../support/push-world.ts';
import type { Fault } from '../../support/sandbox/faults.ts';

const { log, logger } = recordingLogger();
const world = pushWorldOfFile({ timeoutMs: 5_000, logger });
beforeEach(() => world.begin());

const write = (...providers: Record<string, unknown>[]) =>
  writeProviders(world.database, providers);
const many = (count: number, fields = {}) =>
  Array.from({ length: count }, (_, number) => providerOf(number, fields));
const rowOf = async (number: number) =>
  (await readProviders(world.database)).get(providerOf(number).externalId);
/** As if the ERP had written it that long ago. */
const age = (externalId: string, seconds: number) => world.prisma.$executeRaw`
  UPDATE conciliation.provider SET changed_at = changed_at - make_interval(secs => ${seconds}::float8)
  WHERE external_id = ${externalId}`;
const platformHas = (number: number) => world.sandbox.providers.get(providerOf(number).externalId);

const status = (code: number, more: object = {}): Fault => ({
  ...{ kind: 'status', status: code },
  ...more,
});
/** A platform with which something happens when an answer has arrived. */
const afterAnswer = (happen: () => unknown): Parameters<PushWorld['push']>[0] => {
  const { platform } = world.parts;
  return {
    platform: {
      async pushProviders(providers, aborted) {
        const answer = await platform.pushProviders(providers, aborted);
        await happen();
        return answer;
      },
    },
  };
};

describe('batches', () => {
  test.each([
    [0, []],
    [1, [1]],
    [100, [100]],
    [101, [100, 1]],
    [250, [100, 100, 50]],
  ])('%i pending rows take these requests: %j', async (count, sizes) => {
    if (count > 0) await write(...many(count));
    const outcome = await world.pushAll();
    expect(outcome).toMatchObject({ synced: count, requests: sizes.length });
    expect((await readBatches(world.database)).map(({ rows }) => rows)).toEqual(sizes);
    expect(world.requests()).toBe(sizes.length);
    expect(world.sandbox.providers.size).toBe(count);
  });

  test('is due when it is full, or its oldest row a minute old', async () => {
    const delayMs = () => readPushDelayMs(world.database);
    expect(await delayMs()).toBeNull();
    await write(...many(99));
    expect(await delayMs()).toBeGreaterThan(0);
    expect(await delayMs()).toBeLessThanOrEqual(60_000);
    await write(providerOf(99));
    expect(await delayMs()).toBe(0);
    await world.push();
    expect(await delayMs()).toBeNull();

    await write(providerOf(100));
    expect(await delayMs()).toBeGreaterThan(0);
    await age(providerOf(100).externalId, 61);
    expect(await delayMs()).toBe(0);
  });
});

describe('rows that the platform accepted', () => {
  test('is not sent again, neither written again nor changed and changed back', async () => {
    await write(...many(3));
    await world.push();
    await write(...many(3));
    await write(providerOf(1, { name: 'Other' }));
    await write(providerOf(1));
    expect(await rowOf(1)).toMatchObject({ state: 'pending' });
    expect(await world.push()).toMatchObject({ kind: 'done', requests: 0, unchanged: 1 });
    expect(await rowOf(1)).toMatchObject({ state: 'synced' });
    expect(world.requests()).toBe(1);
  });

  test('is sent again after a restore of the database, whose row may be an earlier one', async () => {
    await write(...many(2));
    await world.push();
    expect(await world.prisma.$transaction((tx) => pushSuppliersAgain(tx))).toBe(2);
    expect(await world.push()).toMatchObject({ requests: 1, synced: 2, unchanged: 0 });
  });

  test('stays pending where the ERP changed it meanwhile, also within the same millisecond', async () => {
    await write(providerOf(1), providerOf(2));
    const report = await world.push(
      afterAnswer(async () => {
        // Its time is that of the row that was sent, as where a transaction began earlier.
        await write(providerOf(1, { name: 'Meanwhile' }));
        await world.prisma.$executeRaw`
            UPDATE conciliation.provider SET changed_at =
              (SELECT changed_at FROM conciliation.provider WHERE external_id = ${providerOf(2).externalId})`;
      }),
    );
    expect(report).toMatchObject({ requests: 1, synced: 1 });
    expect(await rowOf(1)).toMatchObject({ state: 'pending' });
    await world.push();
    expect(platformHas(1)).toMatchObject({ name: 'Meanwhile' });
  });
});

describe('the check before a request', () => {
  test('keeps invalid rows back, says why, and looks again when they change', async () => {
    await write(
      providerOf(1),
      providerOf(2, { identificationNumber: '90025108000101' }),
      providerOf(3, { name: null, emailAddresses: [{ email: 'nowhere' }] }),
    );
    expect(await world.push()).toMatchObject({ requests: 1, synced: 1, invalid: 2 });
    expect(await rowOf(2)).toMatchObject({
      state: 'invalid',
      error:
        'identificationNumber: expected a CPF or CNPJ with the right check digits, and with its leading zeros',
    });
    expect((await rowOf(3))?.error).toBe(
      'name: missing; emailAddresses[0].email: expected an e-mail address',
    );
    expect(world.sandbox.providers.size).toBe(1);
    await write(providerOf(2));
    expect(await world.push()).toMatchObject({ synced: 1 });
  });

  test('more invalid rows than fit a batch do not keep the valid ones waiting', async () => {
    await write(...many(250, { name: null }));
    await write(providerOf(300));
    expect(await world.push()).toMatchObject({ requests: 1, synced: 1, invalid: 250 });
  });

  test('a number that another row has at the platform is refused, and sent again once that row has another one', async () => {
    await write(providerOf(1));
    await world.push();
    await write(providerOf(2, { identificationNumber: cpfOf(1) }));
    expect(await world.push()).toMatchObject({ requests: 1, rejected: 1 });
    expect(await world.push()).toMatchObject({ requests: 0, relieved: 0 });

    await write(providerOf(1, { identificationNumber: cpfOf(11) }));
    expect(await world.pushAll()).toMatchObject({ synced: 2 });
    expect(await rowOf(2)).toMatchObject({ state: 'synced', error: null });
    expect(platformHas(2)?.identificationNumber).toBe(cpfOf(1));
  });
});

describe('answers', () => {
  test('a status of a provider counts, the rest of a 200 is kept and changes nothing', async () => {
    await write(...many(3));
    const body = JSON.stringify({
      providers: [
        { externalId: providerOf(1).externalId, status: 'REJECTED', message: 'no such bank' },
        { externalId: providerOf(2).externalId, status: 'PROCESSED' },
      ],
    });
    world.sandbox.faults.add({ kind: 'body', body });
    expect(await world.push()).toMatchObject({ requests: 1, synced: 2, rejected: 1 });
    expect(await rowOf(1)).toMatchObject({
      state: 'rejected',
      error: expect.stringMatching(/answered 200 with .*"REJECTED","message":"no such bank"/),
    });
    expect(await readBatches(world.database)).toMatchObject([{ status: 200, answer: body }]);
  });

  test.each<[string, string, string]>([
    ['nothing at all', '', 'application/json'],
    ['JSON of another shape', '{"ok":[]}', 'application/json'],
    ['bytes that PostgreSQL cannot hold', 'a\u0000b', 'application/octet-stream'],
  ])('a 200 with %s is a success', async (_, body, contentType) => {
    await write(providerOf(1));
    world.sandbox.faults.add({ kind: 'body', body, contentType });
    expect(await world.push()).toMatchObject({ kind: 'done', synced: 1 });
    const [batch] = await readBatches(world.database);
    expect(batch?.answer).toBe(body.replace('\u0000', '\ufffd'));
  });

  const page: Fault = { kind: 'body', body: '<html>', contentType: 'text/html' };
  test.each<[string, Fault, string, number | null, string, object?]>([
    ['500', status(500, { body: 'oh' }), 'retry', 500, 'UNAVAILABLE', { answer: 'oh' }],
    ['401', status(401, { body: 'no' }), 'unauthorized', 401, 'AUTH', { answer: 'no' }],
    ['429', status(429, { headers: { 'retry-after': '77' } }), 'retry', 429, 'RATE_LIMITED'],
    ['404', status(404), 'retry', 404, 'CONTRACT'],
    [
      'a redirect',
      status(302, { headers: { location: 'https://example.com/' } }),
      'retry',
      302,
      'CONTRACT',
    ],
    ['a web page', page, 'retry', 200, 'CONTRACT', { answer: '<html>' }],
    [
      'silence',
      { kind: 'latency', latencyMs: 10_000 },
      'retry',
      null,
      'UNAVAILABLE',
      { answer: null },
    ],
    ['a lost answer', { kind: 'cut', afterBytes: 1, how: 'reset' }, 'retry', null, 'UNAVAILABLE'],
  ])(
    '%s decides nothing: every row stays pending, the request and its answer are kept',
    async (_, fault, kind, httpStatus, code, more) => {
      await write(...many(3));
      world.sandbox.faults.add(fault);
      expect(await world.push()).toMatchObject({ kind, requests: 1, synced: 0, rejected: 0 });
      const pending = { where: { syncState: 'pending' } };
      expect(await world.prisma.provider.count(pending)).toBe(3);
      expect(await readBatches(world.database)).toMatchObject([
        { rows: 3, status: httpStatus, errorCode: `PLATFORM_${code}`, ...more },
      ]);
      expect(await world.pushAll()).toMatchObject({ synced: 3 });
    },
  );

  test.each([409, 413, 422])('%i refuses the content, as 400 does', async (code) => {
    await write(...many(2));
    world.sandbox.faults.add(status(code, { body: 'too much' }));
    expect(await world.push()).toMatchObject({ kind: 'done', requests: 3, synced: 2, rejected: 0 });
    await write(providerOf(9));
    world.sandbox.faults.add(status(code, { body: 'too much' }));
    await world.push();
    expect(await rowOf(9)).toMatchObject({
      state: 'rejected',
      error: `the platform answered ${code}: too much`,
    });
  });
});

describe('after a failure', () => {
  const fail = (times: number, code = 500, more: object = {}) =>
    world.sandbox.faults.add(status(code, { times, ...more }));
  const slow = { random: () => 0.5, retry: { attempts: 3, backoffSeconds: 100 } };

  test('the waits grow with the failures in a row, and nothing is due before', async () => {
    await write(...many(100));
    fail(3);
    for (const delayMs of [50_000, 100_000, 200_000]) {
      expect(await world.push(slow)).toMatchObject({ delayMs });
    }
    expect(await readPushDelayMs(world.database)).toBeGreaterThan(0);
    expect(await readPushDelayMs(world.database)).toBeLessThanOrEqual(200_000);
    const planned = await world.prisma.$queryRaw`
      SELECT round(extract(epoch FROM next_attempt_at - finished_at))::int AS seconds
      FROM conciliation.provider_batch ORDER BY id`;
    expect(planned).toEqual([{ seconds: 50 }, { seconds: 100 }, { seconds: 200 }]);
    await world.push(slow);
    fail(1);
    await write(providerOf(500));
    expect(await world.push(slow)).toMatchObject({ delayMs: 50_000 });
  });

  test('the refusal of several rows does not end the failures in a row', async () => {
    await write(...many(2));
    for (const delayMs of [50_000, 100_000, 200_000]) {
      fail(1, 400);
      fail(1);
      expect(await world.push(slow)).toMatchObject({ kind: 'retry', requests: 2, delayMs });
    }
  });

  test('a refused token costs no wait and counts as no failure', async () => {
    await write(...many(100));
    fail(2, 401);
    expect(await world.push(slow)).toMatchObject({ kind: 'unauthorized', delayMs: 0 });
    expect(await readPushDelayMs(world.database)).toBe(0);
    await world.push(slow);
    fail(1);
    expect(await world.push(slow)).toMatchObject({ kind: 'retry', delayMs: 50_000 });
  });

  test('a stop in the middle of a request leaves its rows pending', async () => {
    await write(providerOf(1));
    world.sandbox.faults.add({ kind: 'stall', afterBytes: 1 });
    const stop = new AbortController();
    const pushing = world.push({}, stop.signal);
    await expect.poll(() => world.requests()).toBe(1);
    stop.abort();
    await expect(pushing).rejects.toMatchObject({ code: 'SHUTDOWN' });
    expect(await readBatches(world.database)).toMatchObject([{ errorCode: 'SHUTDOWN' }]);
    await age(providerOf(1).externalId, 61);
    expect(await readPushDelayMs(world.database)).toBe(0);
    expect(await world.push()).toMatchObject({ synced: 1 });
  });
});

describe('one at a time', () => {
  test('the second process does nothing, and nothing is sent twice', async () => {
    await write(...many(50));
    const others: unknown[] = [];
    const first = afterAnswer(async () => {
      others.push(...(await Promise.all([world.push(), world.push()])));
    });
    expect(await world.push(first)).toMatchObject({ kind: 'done', synced: 50 });
    expect(others).toMatchObject([{ kind: 'busy' }, { kind: 'busy' }]);
    expect(world.requests()).toBe(1);
  });

  test('a process that was stopped during its request records no answer after the request of another one', async () => {
    await write(providerOf(1));
    const whileStopped = afterAnswer(async () => {
      await world.forgetRequest();
      await write(providerOf(1, { name: 'Newer' }));
      expect(await world.push()).toMatchObject({ kind: 'done', synced: 1 });
    });
    await expect(world.push(whileStopped)).rejects.toMatchObject({ code: 'STAGING_UNAVAILABLE' });
    expect(await readBatches(world.database)).toMatchObject([
      { status: null, errorCode: null },
      { status: 200 },
    ]);
  });
});

test('the audit log has the decisions and the author of the push', async () => {
  await world.prisma.$executeRaw`DELETE FROM conciliation.provider`;
  const [{ last }] = await world.prisma.$queryRaw<[{ last: bigint }]>`
    SELECT coalesce(max(id), 0) AS last FROM conciliation.audit_entry`;
  await write(...many(2), providerOf(2, { name: null }));
  await world.push();
  const entries = await world.prisma.$queryRaw`
    SELECT actor, action, details - 'batchId' AS details FROM conciliation.audit_entry
    WHERE id > ${last} ORDER BY id`;
  expect(entries).toEqual([
    { actor: 'service', action: 'providers.invalid', details: { invalid: 1 } },
    { actor: 'service', action: 'providers.push', details: { synced: 2, rejected: 0 } },
  ]);
});

test('no identifier, address, phone, name or account is in any log line of these tests', async () => {
  await write(providerOf(1), providerOf(2, { identificationNumber: 'CANARY' }));
  world.sandbox.faults.add({ kind: 'status', status: 400, body: `CANARY ${cpfOf(1)}`, times: 3 });
  await world.push();
  world.sandbox.faults.add({ kind: 'status', status: 500, body: `CANARY ${cpfOf(1)}` });
  await write(providerOf(3));
  await world.push();
  await sleep(10);
  const logged = JSON.stringify(log);
  expect(logged).toContain('providers pushed');
  expect(logged).toContain('provider request failed');
  for (const secret of [
    'CANARY',
    'canary',
    '91234-5678',
    '7654321',
    cpfOf(1),
    providerOf(1).externalId,
  ]) {
    expect(logged).not.toContain(secret);
  }
});
