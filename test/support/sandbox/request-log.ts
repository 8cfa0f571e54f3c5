import type { IncomingMessage } from 'node:http';

export interface LoggedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly at: Date;
  /** 0 until the head of the answer is sent. */
  readonly status: number;
}

const MAX_ENTRIES = 10_000;

/** The latest requests to the paths of the platform, without headers and bodies. */
export class RequestLog {
  readonly #entries: (LoggedRequest & { status: number })[] = [];
  readonly #byMessage = new WeakMap<IncomingMessage, { status: number }>();

  get entries(): readonly LoggedRequest[] {
    return this.#entries;
  }

  received(message: IncomingMessage, at: Date): void {
    const [path = '', queryText = ''] = (message.url ?? '').split('?', 2);
    const query = Object.fromEntries(new URLSearchParams(queryText));
    const entry = { method: message.method ?? '', path, query, at, status: 0 };
    this.#entries.push(entry);
    if (this.#entries.length > MAX_ENTRIES) this.#entries.shift();
    this.#byMessage.set(message, entry);
  }

  answered(message: IncomingMessage, status: number): void {
    const entry = this.#byMessage.get(message);
    if (entry !== undefined) entry.status = status;
  }
}
