import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { CivilDate } from '../../src/domain/business-day.ts';
import {
  breaksContract,
  documentWith,
  type Expected,
  type HostileResponse,
  type HostileStage,
  merged,
  sends,
  spoils,
  unavailable,
} from './hostile-responses.ts';
import type { Fault } from './sandbox/faults.ts';

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

/** A server that sends exactly these bytes to each client, and closes the connection. */
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

/** Answers that are wrong, truncated or late on the connection, with any document. */
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
  sends('a gzip stream that no header announces', zipped, breaksContract(/not a JSON object/)),
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
  {
    name: 'a connection that is refused',
    serve: async (stage) => ({ platform: stage.openClient({ baseUrl: await closedPort() }) }),
    expected: unavailable(/no answer from the platform \(ECONNREFUSED\)/),
    requests: 0,
  },
  {
    name: 'an unknown host',
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
