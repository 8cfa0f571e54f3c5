import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { inspect } from 'node:util';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  PlatformAuthError,
  PlatformContractError,
  PlatformRateLimitedError,
  PlatformRequestError,
  PlatformUnavailableError,
} from '../../../src/base/runtime/errors.ts';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import type { TokenSource } from '../../../src/core/platform/token.ts';
import { SERVER_CERTIFICATE, SERVER_KEY } from '../../support/certificates.ts';
import {
  answer,
  failureOf,
  fetchDay,
  fetchText,
  head,
  JSON_TYPE,
  openClient,
  serving,
  startServer,
  TOKEN,
} from './client-fixture.ts';

const SECRET = '52998224725';

describe('the request', () => {
  test('asks for a day by conciliationDate, below the base address’s path', async () => {
    const server = await serving(answer('200 OK', '{}', JSON_TYPE));
    expect(await fetchText(openClient(`${server.url}/x/y/`))).toBe('{}');
    expect(server.requests[0]?.line).toBe(
      'GET /x/y/api/anticipations/conciliation?conciliationDate=2026-01-02 HTTP/1.1',
    );
    expect(Object.fromEntries(server.requests[0]?.headers ?? [])).toMatchObject({
      accept: 'application/json',
      'accept-encoding': 'gzip',
      authorization: `Bearer ${TOKEN}`,
      'user-agent': 'test/1',
    });
  });

  test('asks for a sweep by anticipationDate alone', async () => {
    const server = await serving(answer('200 OK', '{}', JSON_TYPE));
    const client = openClient(server.url);
    await client.fetchTitles(
      { from: toCivilDate('2026-01-02'), to: null },
      new AbortController().signal,
    );
    expect(server.requests[0]?.line).toBe(
      'GET /api/anticipations/conciliation?anticipationDate=2026-01-02 HTTP/1.1',
    );
  });
});

describe('a status other than 200', () => {
  test.each([
    ['201 Created', PlatformContractError],
    ['206 Partial Content', PlatformContractError],
    ['304 Not Modified', PlatformContractError],
    ['400 Bad Request', PlatformRequestError],
    ['403 Forbidden', PlatformAuthError],
    ['404 Not Found', PlatformContractError],
    ['408 Request Timeout', PlatformUnavailableError],
    ['422 Unprocessable Entity', PlatformContractError],
    ['500 Internal Server Error', PlatformUnavailableError],
    ['503 Service Unavailable', PlatformUnavailableError],
    ['999 Odd', PlatformUnavailableError],
  ])('%s: one request and its own error, without the body', async (status, errorClass) => {
    const body = JSON.stringify({ message: `${SECRET} is not welcome` });
    const server = await serving(answer(status, body, JSON_TYPE));
    const failure = await failureOf(fetchDay(openClient(server.url)));
    expect(failure).toBeInstanceOf(errorClass);
    expect(failure.context).toEqual({ httpStatus: Number(status.slice(0, 3)) });
    expect(failure.message).toContain(status.slice(0, 3));
    expect(inspect(failure, { depth: null })).not.toContain(SECRET);
    expect(server.requests).toHaveLength(1);
  });

  test.each(['301 Moved', '302 Found', '303 See Other', '307 Temporary', '308 Permanent'])(
    '%s is not followed: the token is for this origin alone',
    async (status) => {
      const elsewhere = await startServer(() => {});
      const server = await serving(answer(status, '', `location: ${elsewhere.url}/`));
      const failure = await failureOf(fetchDay(openClient(server.url)));
      expect(failure).toBeInstanceOf(PlatformContractError);
      expect(failure.message).not.toContain(elsewhere.url);
      expect(server.requests).toHaveLength(1);
      expect(elsewhere.requests).toHaveLength(0);
    },
  );

  test.each([
    ['429 Too Many Requests', '17', 17],
    ['429 Too Many Requests', null, null],
    ['503 Service Unavailable', '17', 17],
  ])('%s with Retry-After %s names the seconds to wait', async (status, retryAfter, seconds) => {
    const fields = retryAfter === null ? [] : [`retry-after: ${retryAfter}`];
    const server = await serving(answer(status, '{}', ...fields));
    const failure = await failureOf(fetchDay(openClient(server.url)));
    expect(failure).toBeInstanceOf(PlatformRateLimitedError);
    expect(failure).toMatchObject({
      retryAfterSeconds: seconds,
      context: { httpStatus: Number(status.slice(0, 3)), retryAfterSeconds: seconds },
    });
  });

  test('is reported immediately, for a body of any length, and the connection is dropped', async () => {
    const server = await serving(head('500 Internal Server Error', 'content-length: 1000000'));
    expect(await failureOf(fetchDay(openClient(server.url)))).toBeInstanceOf(
      PlatformUnavailableError,
    );
    await expect.poll(() => server.openSockets).toBe(0);
  });
});

describe('a refused token', () => {
  /** Refuses every token but `good`. */
  const guarded = (good: string, status = '401 Unauthorized') =>
    startServer(({ socket, headers }) => {
      const isGood = headers.get('authorization') === `Bearer ${good}`;
      socket.write(isGood ? answer('200 OK', '{}', JSON_TYPE) : answer(status, 'no', JSON_TYPE));
    });

  test.each(['401 Unauthorized', '403 Forbidden'])(
    '%s fails the request, and the next one reads the token again',
    async (status) => {
      const server = await guarded('new', status);
      const tokens = ['old', 'new'];
      const token: TokenSource = { current: async () => tokens.shift() ?? '' };
      const client = openClient(server.url, { token, concurrency: 1 });
      const failure = await failureOf(fetchDay(client));
      expect(failure).toBeInstanceOf(PlatformAuthError);
      expect(failure.context).toEqual({ httpStatus: Number(status.slice(0, 3)) });
      expect(server.requests).toHaveLength(1);
      expect(await fetchText(client)).toBe('{}');
      expect(server.requests).toHaveLength(2);
    },
  );

  test('is shown in no error', async () => {
    const server = await guarded('good');
    const refused = await failureOf(fetchDay(openClient(server.url)));
    const unreachable = await failureOf(fetchDay(openClient('http://127.0.0.1:1')));
    for (const failure of [refused, unreachable]) {
      expect(inspect(failure, { depth: null, showHidden: true })).not.toContain(TOKEN);
    }
  });
});

describe('an answer with status 200', () => {
  test('is refused by its media type before its body is read', async () => {
    const server = await serving(
      head('200 OK', 'content-type: text/html; charset=utf-8', 'content-length: 99'),
    );
    const failure = await failureOf(fetchDay(openClient(server.url)));
    expect(failure).toBeInstanceOf(PlatformContractError);
    expect(failure.message).toBe('the platform answered with text/html, expected application/json');
    await expect.poll(() => server.openSockets).toBe(0);
  });

  test.each([
    ['without a media type', []],
    ['with a media type that is no JSON', ['content-type: application/json-seq']],
    ['with a media type that is none', ['content-type: <script>/json']],
    ['in another charset', ['content-type: application/json; charset="iso-8859-1"']],
    ['that is a part of the document', [JSON_TYPE, 'content-range: bytes 0-1/4']],
  ])('%s is refused', async (_, fields) => {
    const server = await serving(answer('200 OK', '{}', ...fields));
    const failure = await failureOf(fetchDay(openClient(server.url)));
    expect(failure).toBeInstanceOf(PlatformContractError);
    expect(failure.context).toEqual({ httpStatus: 200 });
    expect(failure.message).not.toContain('script');
  });

  test('may have a JSON type of its own, in UTF-8', async () => {
    const type = 'content-type: application/vnd.platform.v2+json; charset=UTF-8';
    const server = await serving(answer('200 OK', '{}', type));
    expect(await fetchText(openClient(server.url))).toBe('{}');
  });
});

describe('no usable answer', () => {
  test('a refused connection is an unavailable platform', async () => {
    const server = await startServer(() => {});
    const { url } = server;
    await server.stop();
    const failure = await failureOf(fetchDay(openClient(url)));
    expect(failure).toBeInstanceOf(PlatformUnavailableError);
    expect(failure.context).toEqual({ systemCode: 'ECONNREFUSED' });
  });

  test.each([
    ['closed', (socket: Socket) => socket.end()],
    ['reset', (socket: Socket) => socket.resetAndDestroy()],
  ])('a connection that is %s instead is an unavailable platform', async (_, act) => {
    const server = await startServer(({ socket }) => {
      act(socket);
    });
    const failure = await failureOf(fetchDay(openClient(server.url)));
    expect(failure).toBeInstanceOf(PlatformUnavailableError);
    expect(failure.message).toMatch(/^no answer from the platform/);
  });

  test.each([
    ['no HTTP at all', `SSH-2.0-${SECRET}\r\n`],
    ['endless headers', `HTTP/1.1 200 OK\r\nx: ${SECRET.repeat(10_000)}\r\n\r\n`],
  ])('%s breaks the contract, and is not shown', async (_, bytes) => {
    const server = await serving(bytes);
    const failure = await failureOf(fetchDay(openClient(server.url)));
    expect(failure).toBeInstanceOf(PlatformContractError);
    expect(inspect(failure, { depth: null, showHidden: true })).not.toContain(SECRET);
  });
});

/** Its certificate is right otherwise: test/integration/database/tls.long.test.ts has its authority. */
async function startTlsServer() {
  let requests = 0;
  const server = createTlsServer({ key: SERVER_KEY, cert: SERVER_CERTIFICATE }, (_, response) => {
    requests += 1;
    response.setHeader('content-type', 'application/json').end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, requests: () => requests };
}

const given = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
afterEach(() => {
  if (given === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = given;
});

test.each([undefined, '0'])(
  'a certificate without a trusted authority is refused, with NODE_TLS_REJECT_UNAUTHORIZED %s',
  async (setting) => {
    if (setting !== undefined) process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = setting;
    const { port, requests } = await startTlsServer();
    const failure = await failureOf(fetchDay(openClient(`https://localhost:${port}`)));
    expect(failure).toBeInstanceOf(PlatformUnavailableError);
    expect(failure.context).toEqual({ systemCode: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
    expect(requests()).toBe(0);
  },
);
