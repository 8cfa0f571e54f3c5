import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  PlatformAuthError,
  PlatformContractError,
  PlatformRateLimitedError,
  PlatformRequestError,
  PlatformUnavailableError,
  ShutdownError,
} from '../../../src/base/runtime/errors.ts';
import { MAX_ANSWER_BYTES } from '../../../src/core/platform/providers-client.ts';
import { failureOf, openClient, TOKEN } from './client-fixture.ts';

const SECRET = '11222333000181';
const PROVIDER = { externalId: 'F1', identificationNumber: SECRET, name: 'José' };
const signal = new AbortController().signal;

interface Platform {
  readonly url: string;
  readonly requests: { readonly message: IncomingMessage; readonly body: string }[];
}

/** A server that lives as long as the test, and answers once it has the whole request. */
async function startPlatform(answer: RequestListener): Promise<Platform> {
  const requests: Platform['requests'] = [];
  const server = createServer(async (message, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of message as AsyncIterable<Buffer>) pieces.push(piece);
    requests.push({ message, body: Buffer.concat(pieces).toString() });
    answer(message, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

const answering =
  (status: number, body: string | Buffer = '', headers = {}): RequestListener =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);

const push = (platform: Platform, options = {}) =>
  openClient(platform.url, options).pushProviders([PROVIDER], signal);

test('the request posts JSON with the token, below the base address’s path', async () => {
  const platform = await startPlatform(answering(200, '{}'));
  const answer = await openClient(`${platform.url}/x/`).pushProviders([PROVIDER, PROVIDER], signal);
  expect(answer).toEqual({ httpStatus: 200, body: Buffer.from('{}'), error: null });
  const [request] = platform.requests;
  expect(request?.message).toMatchObject({ method: 'POST', url: '/x/api/providers' });
  expect(request?.message.headers).toMatchObject({
    authorization: `Bearer ${TOKEN}`,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(request?.body ?? '')),
  });
  expect(JSON.parse(request?.body ?? '')).toEqual({ providers: [PROVIDER, PROVIDER] });
});

describe('the answer', () => {
  test.each<[number, unknown, Record<string, string>]>([
    [400, PlatformRequestError, {}],
    [401, PlatformAuthError, {}],
    [429, PlatformRateLimitedError, { 'retry-after': '7' }],
    [500, PlatformUnavailableError, {}],
    [201, PlatformContractError, {}],
    [422, PlatformContractError, {}],
  ])('%i is returned with its body and its meaning', async (status, errorClass, headers) => {
    const platform = await startPlatform(answering(status, `{"message":"${SECRET}"}`, headers));
    const { httpStatus, body, error } = await push(platform);
    expect(httpStatus).toBe(status);
    expect(body.toString()).toBe(`{"message":"${SECRET}"}`);
    expect(error).toBeInstanceOf(errorClass);
    expect(inspect(error, { depth: 9 })).not.toContain(SECRET);
    expect(platform.requests).toHaveLength(1);
  });

  test.each([
    ['nothing', '', {}],
    ['text', 'OK', { 'content-type': 'text/plain' }],
    ['JSON, compressed', gzipSync('{"ok":true}'), { 'content-encoding': 'gzip' }],
  ])('200 with %s is a success', async (_, body, headers) => {
    const { error } = await push(await startPlatform(answering(200, body, headers)));
    expect(error).toBeNull();
  });

  test('200 with a web page is not the platform’s', async () => {
    const headers = { 'content-type': 'Text/HTML; charset=utf-8' };
    const { error, body } = await push(await startPlatform(answering(200, '<html>', headers)));
    expect(error).toBeInstanceOf(PlatformContractError);
    expect(body.toString()).toBe('<html>');
  });

  test('is read up to a limit', async () => {
    const platform = await startPlatform(
      answering(200, Buffer.alloc(MAX_ANSWER_BYTES + 70_000, 'x')),
    );
    const { body, error } = await push(platform);
    expect(error).toBeNull();
    expect(body.length).toBe(MAX_ANSWER_BYTES);
  });

  test('200 that is cut is no answer', async () => {
    const platform = await startPlatform((_, response) => {
      response.writeHead(200, { 'content-length': '10' }).write('12345', () => response.destroy());
    });
    expect(await failureOf(push(platform))).toBeInstanceOf(PlatformUnavailableError);
  });

  const limits = { maxMinutes: 0.005, maxBytes: 1000 };
  const dripping = (status: number) =>
    startPlatform((_, response) => {
      response.writeHead(status);
      const drip = setInterval(() => response.write(' '), 20);
      response.once('close', () => clearInterval(drip));
    });

  test('200 that drips is no answer, as a pull’s', async () => {
    const failure = await failureOf(push(await dripping(200), { timeoutMs: 30_000, limits }));
    expect(failure).toBeInstanceOf(PlatformUnavailableError);
    expect(failure.context).toMatchObject({ limit: 'minutes' });
  });

  test('a slow 400 is still a refusal', async () => {
    expect(await push(await dripping(400), { limits })).toMatchObject({ httpStatus: 400 });
  });

  test('an abort ends the wait, also while the body of an error is read', async () => {
    const platform = await startPlatform((_, response) => response.writeHead(500).write('1'));
    const stop = new AbortController();
    const pushing = openClient(platform.url).pushProviders([PROVIDER], stop.signal);
    await expect.poll(() => platform.requests.length).toBe(1);
    stop.abort();
    expect(await failureOf(pushing)).toBeInstanceOf(ShutdownError);
  });
});
