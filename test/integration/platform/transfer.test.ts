import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  type ConciliationError,
  PlatformContractError,
  PlatformUnavailableError,
} from '../../../src/base/runtime/errors.ts';
import {
  failureOf,
  fetchDay,
  fetchText,
  openClient,
  readAll,
  serving,
  startServer,
} from './client-fixture.ts';
import { answer, head, JSON_TYPE } from './raw-server.ts';

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

describe('a whole body arrives', () => {
  test('in chunks of any size', async () => {
    const server = await startTransfer(['transfer-encoding: chunked'], async (socket) => {
      for (const piece of TEXT.match(/.{1,999}/g) ?? []) {
        socket.write(chunk(piece));
        await new Promise(setImmediate);
      }
      socket.write('0\r\n\r\n');
    });
    expect(await fetchText(openClient(server.url))).toBe(TEXT);
  });

  test('delimited by the end of the connection', async () => {
    const server = await startTransfer(['connection: close'], (socket) => socket.end(TEXT));
    expect(await fetchText(openClient(server.url))).toBe(TEXT);
  });

  test('whole, though the connection was reset before it was read', async () => {
    const server = await startTransfer(['content-length: 10'], (socket) =>
      socket.write('0123456789'),
    );
    const response = await fetchDay(openClient(server.url));
    await sleep(20);
    for (const { socket } of server.requests) socket.resetAndDestroy();
    await sleep(20);
    expect((await readAll(response)).toString()).toBe('0123456789');
  });
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
    ['goes on behind zeros', Buffer.concat([zipped, Buffer.from('\0\0\0{"titles":[]}')])],
    ['is padded with zeros', Buffer.concat([zipped, Buffer.alloc(3)])],
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
