import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  readProviderSummary,
  readPushDelayMs,
} from '../../../src/features/providers/providers.sql.ts';
import { pushWorldOfFile } from '../../support/file-world.ts';
import {
  cpfOf,
  providerOf,
  readBatches,
  readProviders,
  writeProviders,
} from '../../support/provider-rows.ts';
import type { PushWorld } from '../../support/push-world.ts';
import type { Fault } from '../../support/sandbox/faults.ts';

const log: string[] = [];
const world = pushWorldOfFile({ timeoutMs: 5_000, log: (line) => log.push(line) });
beforeEach(() => world.begin());

const write = (...providers: Record<string, unknown>[]) =>
  writeProviders(world.database, providers);
const many = (count: number, fields = {}) =>
  Array.from({ length: count }, (_, number) => providerOf(number, fields));
const signal = new AbortController().signal;
const rowOf = async (number: number) =>
  (await readProviders(world.database)).get(providerOf(number).externalId);
/** As if the ERP had written it that long ago. */
const age = (externalId: string, seconds: number) => world.database.prisma.$executeRaw`
  UPDATE conciliation.provider SET changed_at = changed_at - make_interval(secs => ${seconds}::float8)
  WHERE external_id = ${externalId}`;
const platformHas = (number: number) => world.sandbox.providers.get(providerOf(number).externalId);

const status = (code: number, more: object = {}): Fault => ({
  ...{ kind: 'status', status: code },
  ...more,
});
/** Rows with the number of another one. */
const withNumberOf = (number: number, of: number) =>
  providerOf(number, { identificationNumber: cpfOf(of) });
const expectToEnd = async (outcome: object) => expect(await world.pushAll()).toMatchObject(outcome);
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

  test('the rows that have waited longest go first', async () => {
    await write(...many(150).slice(100));
    await write(...many(100));
    await world.push();
    expect([...world.sandbox.providers.keys()].slice(0, 50)).toEqual(
      many(150)
        .slice(100)
        .map(({ externalId }) => externalId),
    );
  });

  test('a row carries the interface’s fields and nothing else', async () => {
    const { externalId, identificationNumber, name } = providerOf(1);
    const least = { externalId, identificationNumber, name };
    await write(least, providerOf(2));
    await world.push();
    expect(platformHas(1)).toEqual(least);
    expect(platformHas(2)).toEqual(providerOf(2));
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

  test('is sent again when only its earlier content was', async () => {
    await write(providerOf(1));
    await world.push();
    await write(providerOf(1, { name: 'Other' }));
    expect(await world.push()).toMatchObject({ requests: 1, synced: 1 });
    expect(platformHas(1)).toMatchObject({ name: 'Other' });
  });

  test('is sent again where an answer was lost in between', async () => {
    await write(providerOf(1));
    await world.push();
    await write(providerOf(1, { name: 'Other' }));
    world.sandbox.faults.add({ kind: 'cut', afterBytes: 0, how: 'reset' });
    expect(await world.push()).toMatchObject({ kind: 'retry' });
    await write(providerOf(1));
    expect(await world.push()).toMatchObject({ requests: 1, synced: 1 });
    expect(platformHas(1)).toEqual(providerOf(1));
  });

  test('stays pending where the ERP changed it meanwhile, also within the same millisecond', async () => {
    await write(providerOf(1), providerOf(2));
    const report = await world.push(
      afterAnswer(async () => {
        // Its time is that of the row that was sent, as where a transaction began earlier.
        await write(providerOf(1, { name: 'Meanwhile' }));
        await world.database.prisma.$executeRaw`
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

  test('sends tax identifiers bare and in upper case, and records them so', async () => {
    await write(providerOf(1, { identificationNumber: '12.abc.345/01de-35' }));
    await world.push();
    expect(platformHas(1)).toMatchObject({ identificationNumber: '12ABC34501DE35' });
    expect(await rowOf(1)).toMatchObject({ state: 'synced', taxId: '12ABC34501DE35' });
  });

  test('more invalid rows than fit a batch do not keep the valid ones waiting', async () => {
    await write(...many(250, { name: null }));
    await write(providerOf(300));
    expect(await world.push()).toMatchObject({ requests: 1, synced: 1, invalid: 250 });
  });

  test('two rows with one number are both invalid, also one that was taken, until one changes', async () => {
    await write(providerOf(1));
    await world.push();
    await write(providerOf(2, { identificationNumber: cpfOf(1).replace(/(...)$/, '-$1') }));
    expect(await world.push()).toMatchObject({ requests: 0, invalid: 2 });
    const duplicate = {
      state: 'invalid',
      error: 'identificationNumber: another row has the same number under another externalId',
    };
    expect(await rowOf(1)).toMatchObject(duplicate);
    expect(await rowOf(2)).toMatchObject(duplicate);

    await write(providerOf(2));
    expect(await world.push()).toMatchObject({ requests: 1, synced: 1, relieved: 1, unchanged: 1 });
    expect(await rowOf(1)).toMatchObject({ state: 'synced', error: null });
    expect(await rowOf(2)).toMatchObject({ state: 'synced', error: null });
  });

  test('a duplicate recovers when the other row is deleted, without anything else pending', async () => {
    await write(providerOf(1), withNumberOf(2, 1));
    await world.push();
    expect(await readPushDelayMs(world.database)).toBeNull();
    await world.database.prisma.$executeRaw`
      DELETE FROM conciliation.provider WHERE external_id = ${providerOf(2).externalId}`;
    expect(await readPushDelayMs(world.database)).toBe(0);
    expect(await world.push()).toMatchObject({ relieved: 1, synced: 1 });
  });

  test('a duplicate waits where the ERP has the other row locked, and then both are invalid', async () => {
    await write(providerOf(1));
    await world.push();
    await write(withNumberOf(2, 1), providerOf(3));
    await world.database.prisma.$transaction(async (tx) => {
      await tx.$executeRaw`
        SELECT FROM conciliation.provider WHERE external_id = ${providerOf(1).externalId} FOR UPDATE`;
      expect(await world.push()).toMatchObject({ synced: 1, invalid: 0 });
      expect(await rowOf(2)).toMatchObject({ state: 'pending' });
    });
    expect(await world.push()).toMatchObject({ requests: 0, invalid: 2 });
  });

  test('an invalid number is no duplicate', async () => {
    await write(...many(3, { identificationNumber: '00000000000' }));
    expect(await world.push()).toMatchObject({ invalid: 3 });
    expect((await rowOf(1))?.error).not.toContain('another row');
  });

  test('a number moves from one provider to another, in either order of the rows', async () => {
    await write(providerOf(1));
    await world.push();
    await write(withNumberOf(2, 1));
    await world.push();
    await write(withNumberOf(1, 11));
    await expectToEnd({ rejected: 0 });
    expect(platformHas(1)?.identificationNumber).toBe(cpfOf(11));
    expect(platformHas(2)?.identificationNumber).toBe(cpfOf(1));
  });

  describe('a duplicate is sent when the other row gives up the number and becomes invalid', () => {
    const taker = withNumberOf(2, 1);
    const invalid = providerOf(1, { identificationNumber: cpfOf(11), name: null });

    test('after a request for the other row that was lost', async () => {
      await write(providerOf(1));
      world.sandbox.faults.add(status(500));
      await world.push();
      await write(taker);
      expect(await world.push()).toMatchObject({ requests: 0, invalid: 2 });

      await write(invalid);
      await expectToEnd({ synced: 1 });
      expect(await rowOf(2)).toMatchObject({ state: 'synced', error: null });
      expect(platformHas(2)?.identificationNumber).toBe(cpfOf(1));
    });

    test('and stays invalid while a third row has the number', async () => {
      await write(providerOf(1));
      world.sandbox.faults.add(status(500));
      await world.push();
      await write(taker, withNumberOf(3, 1));
      expect(await world.push()).toMatchObject({ requests: 0, invalid: 3 });

      await write(invalid);
      await expectToEnd({ requests: 0 });
      expect(await rowOf(2)).toMatchObject({ state: 'invalid' });
      expect(await readPushDelayMs(world.database)).toBeNull();
    });

    test('and is rejected while the platform has the number under the other row', async () => {
      await write(providerOf(1));
      await world.push();
      await write(taker);
      await world.push();

      await write(invalid);
      await expectToEnd({ rejected: 1 });
      expect(await readPushDelayMs(world.database)).toBeNull();

      await write(withNumberOf(1, 11));
      await expectToEnd({ synced: 2 });
      expect(platformHas(2)?.identificationNumber).toBe(cpfOf(1));
    });
  });

  test('a row that was refused for its number is tried again when the other lets go of it', async () => {
    await write(providerOf(1));
    await world.push();
    // Both at once, and the row that wants the number first.
    await write(withNumberOf(0, 1), withNumberOf(1, 11));
    await expectToEnd({ synced: 2, rejected: 1 });
    expect(platformHas(0)?.identificationNumber).toBe(cpfOf(1));
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
      error: 'the platform answered 200 with status REJECTED: no such bank',
    });
    expect(await readBatches(world.database)).toMatchObject([{ status: 200, answer: body }]);
  });

  test.each<[string, string, string]>([
    ['nothing at all', '', 'application/json'],
    ['text', 'OK', 'text/plain'],
    ['bytes that PostgreSQL cannot hold', 'a\u0000b', 'application/octet-stream'],
    ['JSON of another shape', '{"ok":[]}', 'application/json'],
  ])('a 200 with %s is a success', async (_, body, contentType) => {
    await write(providerOf(1));
    world.sandbox.faults.add({ kind: 'body', body, contentType });
    expect(await world.push()).toMatchObject({ kind: 'done', synced: 1 });
    const [batch] = await readBatches(world.database);
    expect(batch?.answer).toBe(body.replace('\u0000', '\ufffd'));
  });

  test('a body that is too large is truncated, and its statuses still count', async () => {
    await write(providerOf(1));
    const { externalId } = providerOf(1);
    // The limit lies in the middle of a character.
    const body = JSON.stringify([
      { note: `x${'ç'.repeat(50_000)}` },
      { externalId, status: 'ERROR' },
    ]);
    world.sandbox.faults.add({ kind: 'body', body });
    expect(await world.push()).toMatchObject({ rejected: 1 });
    const answer = (await readBatches(world.database))[0]?.answer ?? '';
    expect(answer).toBe(`${Buffer.from(body).subarray(0, 65_535).toString()}\ufffd`);
  });

  const page: Fault = { kind: 'body', body: '<html>', contentType: 'text/html' };
  test.each<[string, Fault, string, number | null, string, object?]>([
    ['500', status(500, { body: 'oh' }), 'retry', 500, 'UNAVAILABLE', { answer: 'oh' }],
    ['401', status(401, { body: 'no' }), 'unauthorized', 401, 'AUTH', { answer: 'no' }],
    ['429', status(429, { headers: { 'retry-after': '77' } }), 'retry', 429, 'RATE_LIMITED'],
    ['404', status(404), 'retry', 404, 'CONTRACT'],
    ['a redirect', { kind: 'redirect', to: 'https://example.com/' }, 'retry', 302, 'CONTRACT'],
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
      expect((await readProviderSummary(world.database)).pending).toBe(3);
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

  test('a refusal counts even where its body is lost', async () => {
    await write(...many(2));
    world.sandbox.faults.add(status(400, { headers: { 'content-encoding': 'br' } }));
    expect(await world.push()).toMatchObject({ kind: 'done', synced: 2 });
    expect((await readBatches(world.database))[0]).toMatchObject({ status: 400, answer: '' });
  });

  test('decisions before a failure are kept', async () => {
    await write(...many(4));
    world.sandbox.faults.add(status(400));
    world.sandbox.faults.add({ kind: 'latency', latencyMs: 0 });
    world.sandbox.faults.add(status(503));
    expect(await world.push()).toMatchObject({ kind: 'retry', requests: 3, synced: 2 });
    expect((await readProviderSummary(world.database)).pending).toBe(2);
  });
});

describe('after a failure', () => {
  const fail = (times: number, code = 500, more: object = {}) =>
    world.sandbox.faults.add(status(code, { times, ...more }));
  const slow = { random: () => 0.5, retry: { attempts: 3, backoffSeconds: 100 } };

  test('the waits grow with the failures in a row, and nothing is due before', async () => {
    await write(...many(100));
    fail(3);
    expect(await world.push(slow)).toMatchObject({ delayMs: 50_000 });
    expect(await world.push(slow)).toMatchObject({ delayMs: 100_000 });
    expect(await world.push(slow)).toMatchObject({ delayMs: 200_000 });
    expect(await readPushDelayMs(world.database)).toBeGreaterThan(0);
    expect(await readPushDelayMs(world.database)).toBeLessThanOrEqual(200_000);
    const planned = await world.database.prisma.$queryRaw`
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

  test('a time that the platform names is kept', async () => {
    await write(providerOf(1));
    fail(1, 429, { headers: { 'retry-after': '77' } });
    expect(await world.push()).toMatchObject({ kind: 'retry', delayMs: 77_000 });
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

  test('a token that may not push is a failure like others, and says nothing about pulls', async () => {
    await write(...many(100));
    fail(2, 403);
    expect(await world.push(slow)).toMatchObject({ kind: 'failed', delayMs: 50_000 });
    expect(await world.push(slow)).toMatchObject({ kind: 'failed', delayMs: 100_000 });
  });

  test('a stop between two requests leaves the answered one as it is, and sends no other', async () => {
    await write(...many(4));
    world.sandbox.faults.add(status(400));
    const stop = new AbortController();
    const stopping = afterAnswer(() => setImmediate(() => stop.abort()));
    const pushing = world.push(stopping, stop.signal);
    await expect(pushing).rejects.toMatchObject({ code: 'SHUTDOWN' });
    expect(await readBatches(world.database)).toMatchObject([{ status: 400, errorCode: null }]);
    expect(world.requests()).toBe(1);
  });

  test('a stop that leaves time lets the request under way end, and sends no other', async () => {
    await write(...many(101));
    const stopping = new AbortController();
    const answered = afterAnswer(() => stopping.abort());
    const pushing = world.push(answered, signal, stopping.signal);
    expect(await pushing).toMatchObject({ kind: 'done', requests: 1, synced: 100 });

    await expect(world.push({}, signal, stopping.signal)).rejects.toMatchObject({
      code: 'SHUTDOWN',
    });
    expect(world.requests()).toBe(1);
    expect((await readProviderSummary(world.database)).pending).toBe(1);
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

test('each request is reported when it has ended, with its outcome and without its rows', async () => {
  await write(...many(2));
  const observed: unknown[] = [];
  const parts = { onRequest: (request: unknown) => observed.push(request) };
  world.sandbox.faults.add(status(400));
  await world.push(parts);
  await write(...many(2, { name: 'Other' }));
  for (const code of [500, 401, 403]) {
    world.sandbox.faults.add(status(code));
    await world.push(parts);
  }
  world.sandbox.faults.add({ kind: 'cut', afterBytes: 0, how: 'reset' });
  await world.push(parts);
  expect(observed).toEqual([
    { outcome: 'refused', httpStatus: 400 },
    { outcome: 'taken', httpStatus: 200 },
    { outcome: 'taken', httpStatus: 200 },
    { outcome: 'retry', httpStatus: 500 },
    { outcome: 'unauthorized', httpStatus: 401 },
    { outcome: 'failed', httpStatus: 403 },
    { outcome: 'retry', httpStatus: null },
  ]);
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

  test('a row that the ERP has locked waits, and does not delay others', async () => {
    await write(...many(3));
    const erp = await world.database.pool.connect();
    try {
      await erp.query('BEGIN');
      await erp.query(`UPDATE conciliation.provider SET name = 'Locked' WHERE external_id = $1`, [
        providerOf(1).externalId,
      ]);
      // A push that waited for the ERP here would wait for ever.
      expect(await world.push()).toMatchObject({ requests: 1, synced: 2 });
      expect(await world.push()).toMatchObject({ kind: 'done', requests: 0 });
      await erp.query('COMMIT');
    } finally {
      erp.release();
    }
    expect(await world.push()).toMatchObject({ synced: 1 });
    expect(platformHas(1)).toMatchObject({ name: 'Locked' });
  });
});

test('the audit log has the decisions and the author of the push', async () => {
  await world.database.prisma.$executeRaw`DELETE FROM conciliation.provider`;
  const [{ last }] = await world.database.prisma.$queryRaw<[{ last: bigint }]>`
    SELECT coalesce(max(id), 0) AS last FROM conciliation.audit_entry`;
  await write(...many(2), providerOf(2, { name: null }));
  await world.push();
  const entries = await world.database.prisma.$queryRaw`
    SELECT actor, action, details - 'batchId' AS details FROM conciliation.audit_entry
    WHERE id > ${last} ORDER BY id`;
  expect(entries).toEqual([
    { actor: 'test', action: 'providers.invalid', details: { invalid: 1 } },
    { actor: 'test', action: 'providers.push', details: { synced: 2, rejected: 0 } },
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
  expect(log.some((line) => line.includes('providers pushed'))).toBe(true);
  expect(log.some((line) => line.includes('provider request failed'))).toBe(true);
  for (const secret of [
    'CANARY',
    'canary',
    '91234',
    '7654321',
    cpfOf(1),
    providerOf(1).externalId,
  ]) {
    expect(log.filter((line) => line.includes(secret))).toEqual([]);
  }
});
