import { type AddressInfo, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { ConciliationError } from '../../../src/base/runtime/errors.ts';
import { toCivilDate } from '../../../src/base/values/business-day.ts';
import type {
  ConciliationResponse,
  PlatformClient,
} from '../../../src/core/platform/conciliation-client.ts';
import type { HttpOriginOptions } from '../../../src/core/platform/http-origin.ts';
import type { PullWindow } from '../../../src/core/title/title-contract.ts';
import { openPlatform } from '../../support/platform-client.ts';

export const TOKEN = 'eyJ.secret-token.sig';
export const DAY: PullWindow = { from: toCivilDate('2026-01-02'), to: toCivilDate('2026-01-02') };

interface RawRequest {
  /** `GET /path HTTP/1.1`. */
  readonly line: string;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly socket: Socket;
}

/**
 * A TCP server that sends the bytes of a test as its answers, without HTTP code, and lives as long as the test. What
 * `answer` returns is not used.
 */
export async function startServer(answer: (request: RawRequest, ordinal: number) => unknown) {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // A client that drops the connection is what several tests are about.
    socket.on('error', () => {});
    let pending = '';
    socket.on('data', (data) => {
      pending += data.toString('latin1');
      for (let end = pending.indexOf('\r\n\r\n'); end >= 0; end = pending.indexOf('\r\n\r\n')) {
        const request = toRequest(pending.slice(0, end), socket);
        pending = pending.slice(end + 4);
        requests.push(request);
        answer(request, requests.length);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(stop);
  return {
    requests: requests as readonly RawRequest[],
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get openSockets() {
      return sockets.size;
    },
    stop,
  };
}

function toRequest(head: string, socket: Socket): RawRequest {
  const [line = '', ...fields] = head.split('\r\n');
  const headers = fields.map((field): [string, string] => {
    const colon = field.indexOf(':');
    return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
  });
  return { line, headers: new Map(headers), socket };
}

/** The head of an answer: status line and header lines, each given as `name: value`. */
export function head(status: string, ...fields: string[]): string {
  return `${[`HTTP/1.1 ${status}`, ...fields].join('\r\n')}\r\n\r\n`;
}

/** A whole answer, delimited by its length, on a connection that stays open. */
export function answer(status: string, body: string | Buffer = '', ...fields: string[]): Buffer {
  const bytes = Buffer.from(body);
  const length = `content-length: ${bytes.length}`;
  return Buffer.concat([Buffer.from(head(status, length, ...fields)), bytes]);
}

export const JSON_TYPE = 'content-type: application/json';

/** A server that answers each request with these bytes. */
export const serving = (bytes: string | Buffer) => startServer(({ socket }) => socket.write(bytes));

/** A client that lives as long as the test. */
export function openClient(
  baseUrl: string,
  options: Partial<HttpOriginOptions> = {},
): PlatformClient {
  const client = openPlatform(baseUrl, TOKEN, options);
  onTestFinished(() => client.close());
  return client;
}

export function fetchDay(
  client: PlatformClient,
  signal: AbortSignal = new AbortController().signal,
): Promise<ConciliationResponse> {
  return client.fetchTitles(DAY, signal);
}

export async function readAll(response: ConciliationResponse): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.chunks) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The text of a whole day's answer. */
export async function fetchText(client: PlatformClient): Promise<string> {
  return (await readAll(await fetchDay(client))).toString();
}

/** The error that refused `work`. */
export async function failureOf(work: Promise<unknown>): Promise<ConciliationError> {
  const outcome = await work.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  );
  return outcome as ConciliationError;
}
