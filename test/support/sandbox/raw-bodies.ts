import type { Answer } from '../../../src/demo/sandbox.ts';

/** A complete answer with titles, byte for byte, for tests with hostile answers. */
export interface RawBody {
  /** A function returns a body of any length, chunk by chunk, again for every request. */
  readonly body: string | Uint8Array | (() => Iterable<Uint8Array>);
  /** Names in lower case; default: `content-type: application/json`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default 200. */
  readonly status?: number;
}

export function rawAnswer(raw: RawBody): Answer {
  const { body } = raw;
  return {
    status: raw.status ?? 200,
    headers: { 'content-type': 'application/json', ...raw.headers },
    body: typeof body === 'function' ? body() : [Buffer.from(body)],
  };
}
