import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';

export interface RawRequest {
  /** `GET /path HTTP/1.1`. */
  readonly line: string;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly socket: Socket;
}

/** The returned value is not used. */
type Answer = (request: RawRequest, ordinal: number) => unknown;

/** A TCP server that sends the bytes of a test as its answers, without HTTP code. */
export class RawServer {
  readonly requests: RawRequest[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(answer: Answer) {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      // A client that drops the connection is what several tests are about.
      socket.on('error', () => {});
      let pending = '';
      socket.on('data', (data) => {
        pending += data.toString('latin1');
        for (let end = pending.indexOf('\r\n\r\n'); end >= 0; end = pending.indexOf('\r\n\r\n')) {
          const request = toRequest(pending.slice(0, end), socket);
          pending = pending.slice(end + 4);
          this.requests.push(request);
          answer(request, this.requests.length);
        }
      });
    });
  }

  static async start(answer: Answer): Promise<RawServer> {
    const server = new RawServer(answer);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get openSockets(): number {
    return this.#sockets.size;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
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
