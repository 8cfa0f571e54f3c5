import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  type ConciliationError,
  PlatformContractError,
  PlatformUnavailableError,
  ShutdownError,
  StaleFenceError,
} from '../../../src/base/runtime/errors.ts';
import type { ConciliationResponse } from '../../../src/core/platform/conciliation-client.ts';
import {
  answer,
  failureOf,
  fetchDay,
  fetchText,
  head,
  JSON_TYPE,
  openClient,
  readAll,
  serving,
  startServer,
} from './client-fixture.ts';

const GZIP = 'content-encoding: gzip';
const TEXT = JSON.stringify({ titles: Array.from({ length: 2000 }, (_, index) => index) });

/** Opens an answer of 200 whose head has the fields, and lets `send` do the rest. */
function startTransfer(fields: readonly string[], send: (socket: Socket) => unknown) {
  return startServer(({ socket }) => {
    socket.write(head('200 OK', JSON_TYPE, ...fields));
    send(socket);
  });
}

/** Reads a day and returns the result. */
async function read(url: string): Promise<{ text: string; failure: ConciliationError | null }> {
  let text = '';
  const response = await fetchDay(openClient(url));
  try {
    for await (const chunk of response.chunks) text += Buffer.from(chunk).toString('latin1');
    return { text, failure: null };
  } catch (error) {
    return { text, failure: error as ConciliationError };
  }
}

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

test('a body is whole, though the connection was reset before it was read', async () => {
  const server = await startTransfer(['content-length: 10'], (socket) =>
    socket.write('0123456789'),
  );
  const response = await fetchDay(openClient(server.url));
  await sleep(20);
  for (const { socket } of server.requests) socket.resetAndDestroy();
  await sleep(20);
  expect((await readAll(response)).toString()).toBe('0123456789');
});

describe('a transfer that breaks off is an unavailable platform, never a short answer', () => {
  const faults: ReadonlyArray<readonly [string, readonly string[], (socket: Socket) => unknown]> = [
    ['closed before its length', ['content-length: 20'], (socket) => socket.end('0123456789')],
    [
      'closed between chunks',
      ['transfer-encoding: chunked'],
      (socket) => socket.end(chunk('0123456789')),
    ],
    [
      'closed before the last empty line',
      ['transfer-encoding: chunked'],
      (socket) => socket.end(`${chunk('0123456789')}0\r\n`),
    ],
    [
      'reset where only the end of the connection would end it',
      ['connection: close'],
      (socket) => socket.write('0123456789', () => setTimeout(() => socket.resetAndDestroy(), 50)),
    ],
  ];

  test.each(faults)('%s', async (_, fields, send) => {
    const server = await startTransfer(fields, send);
    const { text, failure } = await read(server.url);
    expect(text).toBe('0123456789');
    expect(failure).toBeInstanceOf(PlatformUnavailableError);
    expect(failure?.message).toBe('the transfer was cut after 10 bytes');
    expect(failure?.context).toEqual({ bytesReceived: 10 });
  });
});

describe('gzip', () => {
  const zipped = gzipSync(TEXT);
  const inChunks = [GZIP, 'transfer-encoding: chunked'];
  const sendInChunks = (bytes: Buffer, size: number) => async (socket: Socket) => {
    for (let from = 0; from < bytes.length; from += size) {
      const piece = bytes.subarray(from, from + size);
      socket.write(`${piece.length.toString(16)}\r\n`);
      socket.write(piece);
      socket.write('\r\n');
      await new Promise(setImmediate);
    }
    socket.write('0\r\n\r\n');
  };

  test.each([1, 1_000_000])('is decoded, in pieces of %i bytes', async (size) => {
    const small = gzipSync(TEXT.slice(0, 500));
    const server = await startTransfer(inChunks, sendInChunks(small, size));
    const response = await fetchDay(openClient(server.url));
    expect((await readAll(response)).toString()).toBe(TEXT.slice(0, 500));
    expect(response.bytesReceived()).toBe(500);
  });

  test('of several members is all of them', async () => {
    const members = Buffer.concat([gzipSync(TEXT.slice(0, 100)), gzipSync(TEXT.slice(100))]);
    for (const size of [5, 1_000_000]) {
      const server = await startTransfer(inChunks, sendInChunks(members, size));
      expect(await fetchText(openClient(server.url))).toBe(TEXT);
    }
  });

  test('may be announced as x-gzip, and identity is no encoding', async () => {
    const aged = await serving(answer('200 OK', zipped, JSON_TYPE, 'content-encoding: X-GZIP'));
    expect(await fetchText(openClient(aged.url))).toBe(TEXT);
    const plain = await serving(answer('200 OK', TEXT, JSON_TYPE, 'content-encoding: identity'));
    expect(await fetchText(openClient(plain.url))).toBe(TEXT);
  });

  test.each([0, 9, zipped.length - 1])(
    'that ends after %i bytes was cut, though the transfer was whole',
    async (length) => {
      const server = await serving(answer('200 OK', zipped.subarray(0, length), JSON_TYPE, GZIP));
      const { failure } = await read(server.url);
      expect(failure).toBeInstanceOf(PlatformUnavailableError);
      expect(failure?.message).toMatch(/^the transfer was cut after \d+ bytes$/);
    },
  );

  const flipped = Buffer.from(zipped);
  flipped.writeUInt32LE((flipped.readUInt32LE(zipped.length - 8) ^ 1) >>> 0, zipped.length - 8);
  test.each([
    ['is deflate', deflateSync(TEXT)],
    ['has a wrong checksum', flipped],
  ])('that %s breaks the contract', async (_, body) => {
    for (const size of [zipped.length, 1_000_000]) {
      const server = await startTransfer(inChunks, sendInChunks(body, size));
      const { failure } = await read(server.url);
      expect(failure).toBeInstanceOf(PlatformContractError);
    }
  });

  test.each(['br', 'deflate', 'gzip, gzip', ''])(
    'is the only encoding: %j breaks the contract before the body is read',
    async (encoding) => {
      const server = await startTransfer(
        [`content-encoding: ${encoding}`, 'content-length: 9'],
        () => {},
      );
      const failure = await failureOf(fetchDay(openClient(server.url)));
      expect(failure).toBeInstanceOf(PlatformContractError);
      await expect.poll(() => server.openSockets).toBe(0);
    },
  );
});

const TIMEOUT_MS = 200;
/** For what must not run out of time on a busy machine. */
const PATIENT_MS = 1_500;
const LENGTH = 'content-length: 1000';
const MEBIBYTE = Buffer.alloc(1024 * 1024, 0x20);
/** More than the connection's buffers on both sides hold, so that the server is not done early. */
const LARGE_MEBIBYTES = 16;

/** Answers the first request with half a body and every later one whole. */
function startHalfOnce() {
  return startServer(({ socket }, ordinal) => {
    if (ordinal === 1) socket.write(`${head('200 OK', JSON_TYPE, LENGTH)}half`);
    else socket.write(answer('200 OK', '{}', JSON_TYPE));
  });
}

/** Sends `block` again and again, as fast as it is taken, until the connection is closed. */
async function flood(socket: Socket, block: Buffer, times = Number.POSITIVE_INFINITY) {
  const closed = new Promise((resolve) => socket.once('close', resolve));
  for (let sent = 0; sent < times && !socket.destroyed; sent++) {
    if (socket.write(block)) continue;
    await Promise.race([closed, new Promise((resolve) => socket.once('drain', resolve))]);
  }
}

test.each([
  ['before the first byte', ''],
  ['within the head', 'HTTP/1.1 200 OK\r\ncontent-'],
  ['before the body', head('200 OK', JSON_TYPE, LENGTH)],
  ['within the body', `${head('200 OK', JSON_TYPE, LENGTH)}half of it`],
])('silence of the platform ends the attempt: %s', async (_, bytes) => {
  const server = await serving(bytes);
  const client = openClient(server.url, { timeoutMs: TIMEOUT_MS });
  const failure = await failureOf(fetchDay(client).then(readAll));
  expect(failure).toBeInstanceOf(PlatformUnavailableError);
  expect(failure.message).toBe('the platform sent nothing for 0.2 seconds');
  await expect.poll(() => server.openSockets).toBe(0);
});

describe('the limits of one answer', () => {
  const MINUTES = TIMEOUT_MS / 60_000;
  const LIMITS = { maxMinutes: 1, maxBytes: 1000 };

  test('end an answer that keeps dripping', async () => {
    const server = await startServer(async ({ socket }) => {
      socket.write(head('200 OK', JSON_TYPE, LENGTH));
      while (!socket.destroyed) {
        await sleep(TIMEOUT_MS / 8);
        socket.write(' ');
      }
    });
    const limits = { ...LIMITS, maxMinutes: MINUTES };
    const response = await fetchDay(openClient(server.url, { limits }));
    const failure = await failureOf(readAll(response));
    expect(failure).toBeInstanceOf(PlatformUnavailableError);
    expect(failure.message).toBe(`the answer had not ended after ${MINUTES} minutes`);
    expect(failure.context['limit']).toBe('minutes');
    await expect.poll(() => server.openSockets).toBe(0);
  });

  test.each([false, true])('end an answer that is too long, compressed: %s', async (compressed) => {
    const text = Buffer.alloc(2000, 0x20);
    const body = compressed ? gzipSync(text) : text;
    const encoding = compressed ? ['content-encoding: gzip'] : [];
    const server = await serving(answer('200 OK', body, JSON_TYPE, ...encoding));
    const fetchWithin = async (maxBytes: number) =>
      readAll(
        await fetchDay(
          openClient(server.url, { limits: { ...LIMITS, maxMinutes: MINUTES, maxBytes } }),
        ),
      );
    expect(await fetchWithin(2000)).toHaveLength(2000);
    const failure = await failureOf(fetchWithin(1999));
    expect(failure).toBeInstanceOf(PlatformContractError);
    expect(failure.message).toBe('the answer is longer than 1999 bytes');
    expect(failure.context['limit']).toBe('bytes');
    // The timer of the answer that ended has ended with the answer.
    await sleep(TIMEOUT_MS * 2);
    expect(await fetchWithin(2000)).toHaveLength(2000);
  });
});

describe('waits that do not count as silence', () => {
  test('a body that keeps dripping', async () => {
    const body = '{"titles":[]}';
    const server = await startServer(async ({ socket }) => {
      socket.write(head('200 OK', JSON_TYPE, `content-length: ${body.length}`));
      for (const byte of body) {
        await sleep(PATIENT_MS / 10);
        socket.write(byte);
      }
    });
    expect(await fetchText(openClient(server.url, { timeoutMs: PATIENT_MS }))).toBe(body);
  });

  test('a slow consumer of a large body', async () => {
    const server = await startServer(async ({ socket }) => {
      socket.write(head('200 OK', JSON_TYPE, 'connection: close'));
      await flood(socket, MEBIBYTE, LARGE_MEBIBYTES);
      socket.end();
    });
    const response = await fetchDay(openClient(server.url, { timeoutMs: PATIENT_MS }));
    let turns = 0;
    for await (const _chunk of response.chunks) if (turns++ === 0) await sleep(PATIENT_MS * 1.1);
    expect(response.bytesReceived()).toBe(LARGE_MEBIBYTES * MEBIBYTE.length);
  });
});

test('requests at once are never more than allowed, bodies included', async () => {
  const answered: Socket[] = [];
  const server = await startServer(({ socket }) => {
    socket.write(head('200 OK', JSON_TYPE, 'content-length: 2'));
    answered.push(socket);
  });
  const client = openClient(server.url, { concurrency: 3 });
  const texts = Array.from({ length: 6 }, () => fetchText(client));
  for (const round of [1, 2]) {
    await expect.poll(() => answered.length).toBe(3);
    // The others would have had the time.
    await sleep(50);
    expect(server.requests).toHaveLength(round * 3);
    for (const socket of answered.splice(0)) socket.write('{}');
  }
  await Promise.all(texts);
  expect(server.openSockets).toBe(3);
});

test.each([
  [
    'by leaving its loop',
    async ({ chunks }: ConciliationResponse) => {
      for await (const _chunk of chunks) break;
    },
  ],
  [
    'while it waits for a piece',
    async ({ chunks, drop }: ConciliationResponse) => {
      const iterator = chunks[Symbol.asyncIterator]();
      await iterator.next();
      const waiting = failureOf(iterator.next());
      drop();
      expect(await waiting).toBeInstanceOf(PlatformUnavailableError);
    },
  ],
])(
  'a consumer that leaves early %s drops the connection, and the next request works',
  async (_, leave) => {
    const server = await startHalfOnce();
    const client = openClient(server.url, { concurrency: 1 });
    await leave(await fetchDay(client));
    await expect.poll(() => server.openSockets).toBe(0);
    expect(await fetchText(client)).toBe('{}');
  },
);

describe('a signal that aborts', () => {
  const ours = new StaleFenceError('taken over');

  test.each([
    ['one of our errors is thrown as it is', ours, ours],
    ['anything else is a shutdown', new Error('other'), expect.any(ShutdownError)],
    ['no reason is a shutdown', undefined, expect.any(ShutdownError)],
  ])('%s', async (_, reason, expected) => {
    const server = await startServer(() => {});
    const failure = await failureOf(fetchDay(openClient(server.url), AbortSignal.abort(reason)));
    expect(failure).toEqual(expected);
    expect(server.requests).toHaveLength(0);
  });

  test('before the head ends the request', async () => {
    const server = await startServer(() => {});
    const stop = new AbortController();
    const work = failureOf(fetchDay(openClient(server.url), stop.signal));
    await expect.poll(() => server.requests.length).toBe(1);
    stop.abort(ours);
    expect(await work).toBe(ours);
    await expect.poll(() => server.openSockets).toBe(0);
  });

  test('while waiting for a connection ends the wait at once', async () => {
    const server = await startHalfOnce();
    const client = openClient(server.url, { concurrency: 1 });
    const first = await fetchDay(client);
    const stop = new AbortController();
    const second = failureOf(fetchDay(client, stop.signal));
    await sleep(20);
    stop.abort(ours);
    expect(await second).toBe(ours);
    expect(server.requests).toHaveLength(1);
    first.drop();
    expect(await fetchText(client)).toBe('{}');
  });

  test.each(['identity', 'gzip'])(
    'while a piece of a body in %s is awaited ends the body',
    async (encoding) => {
      const server = await serving(
        head('200 OK', JSON_TYPE, LENGTH, `content-encoding: ${encoding}`),
      );
      const stop = new AbortController();
      const response = await fetchDay(openClient(server.url), stop.signal);
      const work = failureOf(readAll(response));
      await sleep(20);
      stop.abort(ours);
      expect(await work).toBe(ours);
      await expect.poll(() => server.openSockets).toBe(0);
    },
  );

  test.each([
    ['plain', Buffer.from('{}'), []],
    ['compressed', gzipSync('{}'), ['content-encoding: gzip']],
  ])(
    'at the last piece of a %s body keeps it from passing for complete',
    async (_, body, fields) => {
      const server = await serving(answer('200 OK', body, JSON_TYPE, ...fields));
      const stop = new AbortController();
      const { chunks } = await fetchDay(openClient(server.url), stop.signal);
      const iterator = chunks[Symbol.asyncIterator]();
      expect(Buffer.from((await iterator.next()).value).toString()).toBe('{}');
      await sleep(20);
      stop.abort(ours);
      expect(await failureOf(iterator.next())).toBe(ours);
    },
  );
});
