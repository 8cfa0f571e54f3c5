import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { CivilDate } from '../../src/domain/business-day.ts';
import { fileToken, fixedToken } from '../../src/platform/token.ts';
import type { Fault } from '../../src/sandbox/faults.ts';
import {
  AFTER,
  breaksContract,
  documentWith,
  type Expected,
  type HostileResponse,
  type HostileStage,
  merged,
  sends,
  spoils,
  toTexts,
  unavailable,
} from './hostile-responses.ts';

const status = (code: number, headers: Readonly<Record<string, string>> = {}): Fault => ({
  kind: 'status',
  status: code,
  headers,
  body: '{"message":"CANARY 52998224725"}',
});
const rateLimited = (httpStatus: number, delayMs: number): Expected => ({
  kind: 'retry',
  code: 'PLATFORM_RATE_LIMITED',
  message: new RegExp(`answered ${httpStatus}`),
  delayMs,
});
const refused = (message: RegExp): Expected => ({
  kind: 'unauthorized',
  code: 'PLATFORM_AUTH',
  message,
});
const gzip = { 'content-encoding': 'gzip' };
/** The four bytes before the last four are the checksum. */
const withWrongChecksum = (stream: Buffer) => stream.fill(0, stream.length - 8, stream.length - 4);
const zipped = (date: CivilDate) => gzipSync(documentWith(date));

/** The silence that a client of these cases bears, and one that is well within it. */
const PATIENCE_MS = 400;

function spoilsImpatient(name: string, fault: Fault, expected: Expected): HostileResponse {
  const response = spoils(name, fault, expected);
  return {
    ...response,
    serve(stage, date) {
      void response.serve(stage, date);
      return { platform: stage.openClient({ timeoutMs: PATIENCE_MS }) };
    },
  };
}

/** A server that says exactly this to whoever connects, and closes the connection. */
async function openRawServer(stage: HostileStage, answer: string): Promise<URL> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(Buffer.from(answer, 'latin1')));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stage.afterwards(() => server.close());
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

function saysRaw(name: string, answer: string, expected: Expected): HostileResponse {
  return {
    name,
    async serve(stage) {
      return { platform: stage.openClient({ baseUrl: await openRawServer(stage, answer) }) };
    },
    expected,
    requests: 0,
  };
}

async function closedPort(): Promise<URL> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return new URL(`http://127.0.0.1:${port}`);
}

/** A token file that is replaced just when the old token is on its way to the platform. */
function rotatedToken(stage: HostileStage, replacement: string) {
  const folder = mkdtempSync(join(tmpdir(), 'conciliation-token-'));
  stage.afterwards(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'token');
  writeFileSync(path, stage.tokens.expired);
  const file = fileToken(path);
  return {
    reread: () => file.reread(),
    async current() {
      const token = await file.current();
      writeFileSync(path, replacement);
      return token;
    },
  };
}

/** Answers that are wrong, cut or late on the wire, whatever their document says. */
export const HOSTILE_TRANSFERS: readonly HostileResponse[] = [
  spoils(
    'a connection that closes before the body',
    { kind: 'cut', afterBytes: 0, how: 'end' },
    unavailable(/cut after 0 bytes/),
  ),
  spoils(
    'a connection that is reset before the body',
    { kind: 'cut', afterBytes: 0, how: 'reset' },
    unavailable(/cut after 0 bytes/),
  ),
  spoils(
    'a whole document whose last chunk is missing',
    { kind: 'cut', afterBytes: 1e6, how: 'end' },
    unavailable(/transfer was cut/),
  ),
  spoils(
    'a whole document, then a reset',
    { kind: 'cut', afterBytes: 1e6, how: 'reset' },
    unavailable(/transfer was cut/),
  ),
  spoils(
    'a whole document that is shorter than its length',
    { kind: 'cut', afterBytes: 1e6, how: 'end', framing: 'length' },
    unavailable(/transfer was cut/),
  ),
  spoils('a body that ends with its connection', { kind: 'close-delimited' }, merged()),
  spoils('a gzip stream', { kind: 'gzip' }, merged()),
  spoils(
    'half a gzip stream',
    { kind: 'gzip', cutAfterBytes: 200 },
    unavailable(/transfer was cut/),
  ),
  sends(
    'a gzip stream without its last byte',
    (date) => zipped(date).subarray(0, -1),
    unavailable(/transfer was cut/),
    gzip,
  ),
  sends(
    'a gzip stream with a wrong checksum',
    (date) => withWrongChecksum(zipped(date)),
    breaksContract(/gzip stream is broken/),
    gzip,
  ),
  sends(
    'a gzip stream and something after it',
    (date) => Buffer.concat([zipped(date), Buffer.from('garbage')]),
    breaksContract(/gzip stream/),
    gzip,
  ),
  sends(
    'a gzip stream and zeros after it',
    (date) => Buffer.concat([zipped(date), Buffer.alloc(20)]),
    breaksContract(/gzip stream/),
    gzip,
  ),
  sends(
    'a gzip stream in two members',
    (date) =>
      Buffer.concat([
        gzipSync(documentWith(date).slice(0, 99)),
        gzipSync(documentWith(date).slice(99)),
      ]),
    merged(),
    gzip,
  ),
  sends(
    'a document that is said to be gzip and is not',
    documentWith,
    breaksContract(/gzip stream is broken/),
    gzip,
  ),
  sends('a gzip stream that nobody announced', zipped, breaksContract(/not a JSON object/)),
  sends(
    'a gzip stream that grows a thousandfold',
    (date) => gzipSync(documentWith(date).replace('[', `[${' '.repeat(8 * 1024 * 1024)}`)),
    merged(),
    gzip,
  ),
  sends('an encoding that was not asked for', documentWith, breaksContract(/content encoding/), {
    'content-encoding': 'br',
  }),

  sends('a good document called HTML', documentWith, breaksContract(/answered with text\/html/), {
    'content-type': 'text/html',
  }),
  sends('HTML', () => '<html>CANARY</html>', breaksContract(/answered with text\/html/), {
    'content-type': 'text/html; charset=utf-8',
  }),
  sends('JSON in another charset', documentWith, breaksContract(/not in UTF-8/), {
    'content-type': 'application/json; charset=iso-8859-1',
  }),
  sends('a content type of rubbish', documentWith, breaksContract(/no media type/), {
    'content-type': '{CANARY}',
  }),
  sends('JSON of a vendor', documentWith, merged(), {
    'content-type': 'application/vnd.platform+json;charset="UTF-8"',
  }),

  spoilsImpatient(
    'silence before the head',
    { kind: 'latency', latencyMs: 30_000 },
    unavailable(/sent nothing for 0\.4 seconds/),
  ),
  spoilsImpatient(
    'silence after the head',
    { kind: 'stall', afterBytes: 0 },
    unavailable(/sent nothing for 0\.4 seconds/),
  ),
  spoilsImpatient(
    'silence inside a title',
    { kind: 'stall', afterBytes: 300 },
    unavailable(/sent nothing for 0\.4 seconds/),
  ),
  spoilsImpatient(
    'silence after the whole document',
    { kind: 'stall', afterBytes: 1e6 },
    unavailable(/sent nothing for 0\.4 seconds/),
  ),
  spoilsImpatient(
    'a slow drip that takes longer than any silence may',
    { kind: 'drip', bytes: 60, everyMs: 20 },
    merged(),
  ),
  spoils('a few bytes at a time', { kind: 'drip', bytes: 5, everyMs: 0 }, merged()),

  spoils('204', status(204), breaksContract(/answered 204, expected 200/)),
  spoils('206 with a good head', status(206), breaksContract(/answered 206, expected 200/)),
  spoils('400', status(400), { kind: 'failed', code: 'PLATFORM_REQUEST', message: /answered 400/ }),
  spoils('401 to a token that stays the same', status(401), refused(/answered 401/)),
  spoils('403', status(403), refused(/answered 403/)),
  spoils('404', status(404), breaksContract(/answered 404, expected 200/)),
  spoils('408', status(408), unavailable(/answered 408/)),
  spoils('429', status(429), rateLimited(429, 0)),
  spoils('429 with Retry-After', status(429, { 'retry-after': '7' }), rateLimited(429, 7000)),
  spoils(
    '429 with a Retry-After of a century',
    status(429, { 'retry-after': '3155760000' }),
    rateLimited(429, 86_400_000),
  ),
  spoils(
    '429 with a Retry-After of rubbish',
    status(429, { 'retry-after': 'CANARY' }),
    rateLimited(429, 0),
  ),
  spoils('500', status(500), unavailable(/answered 500/)),
  spoils('502', status(502), unavailable(/answered 502/)),
  spoils('503', status(503), unavailable(/answered 503/)),
  spoils('503 with Retry-After', status(503, { 'retry-after': '3' }), rateLimited(503, 3000)),
  {
    name: '401 although the token was replaced by another that has expired',
    serve: (stage) => ({
      platform: stage.openClient({ token: rotatedToken(stage, stage.tokens.expired.concat('x')) }),
    }),
    expected: refused(/answered 401/),
    requests: 2,
  },
  {
    name: '401 to a token that was replaced meanwhile',
    serve(stage, date) {
      stage.sandbox.setDayTexts(date, toTexts(AFTER, date));
      return { platform: stage.openClient({ token: rotatedToken(stage, stage.tokens.good) }) };
    },
    expected: merged(),
    requests: 2,
  },
  {
    name: '401 to a fixed token that has expired',
    serve: (stage) => ({ platform: stage.openClient({ token: fixedToken(stage.tokens.expired) }) }),
    expected: refused(/answered 401/),
  },
  {
    name: 'a redirect on the same host',
    serve(stage, date) {
      const to = '/api/anticipations/conciliation?conciliationDate=2026-01-01';
      return spoils('', { kind: 'redirect', to }, refused(/ /)).serve(stage, date);
    },
    expected: breaksContract(/answered 302, expected 200/),
  },
  {
    name: 'a redirect to another host, method kept',
    serve(stage, date) {
      const to = `${stage.elsewhere.baseUrl}/api/anticipations/conciliation?conciliationDate=${date}`;
      return spoils('', { kind: 'redirect', to, status: 307 }, refused(/ /)).serve(stage, date);
    },
    expected: breaksContract(/answered 307, expected 200/),
  },
  {
    name: 'a connection that is refused',
    serve: async (stage) => ({ platform: stage.openClient({ baseUrl: await closedPort() }) }),
    expected: unavailable(/no answer from the platform \(ECONNREFUSED\)/),
    requests: 0,
  },
  {
    name: 'a host that nobody knows',
    serve: async (stage) => ({
      platform: stage.openClient({ baseUrl: new URL('http://platform.invalid') }),
    }),
    expected: unavailable(/no answer from the platform \((ENOTFOUND|EAI_AGAIN)\)/),
    requests: 0,
  },
  saysRaw(
    'a connection that is closed without a word',
    '',
    unavailable(/no answer from the platform/),
  ),
  saysRaw('something that is not HTTP', 'CANARY 52998224725\r\n\r\n', breaksContract(/not HTTP/)),
  saysRaw(
    'a head that is never finished',
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n',
    unavailable(/no answer from the platform/),
  ),
  saysRaw(
    'two lengths that differ',
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 13\r\ncontent-length: 30\r\n\r\n{"titles":[]}',
    breaksContract(/not HTTP/),
  ),
  saysRaw(
    'a chunk whose size is not a number',
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nCANARY\r\n{"titles":[]}\r\n0\r\n\r\n',
    unavailable(/transfer was cut/),
  ),
];
