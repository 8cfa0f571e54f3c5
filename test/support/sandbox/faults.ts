import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { type Answer, bytesAnswer, JSON_TYPE } from '../../../src/demo/sandbox.ts';

interface Scope {
  readonly operation?: Operation;
  /** Only requests with this date in either parameter. */
  readonly date?: string;
  /** Number of requests; default 1. */
  readonly times?: number | 'forever';
}

/** A function returns a body of any length, chunk by chunk, again for every request. */
export type RawBody = string | Uint8Array | (() => Iterable<Uint8Array>);

export type Operation = 'conciliation' | 'providers';

/**
 * A fault of one answer. `status` and `body` replace the answer, and the request has no effect.
 * The other faults change the regular answer as networks and gateways do; a provider batch is still applied.
 */
export type Fault = Scope &
  (
    | {
        readonly kind: 'status';
        readonly status: number;
        /** Names in lower case. */
        readonly headers?: Readonly<Record<string, string>>;
        readonly body?: string;
        readonly contentType?: string;
      }
    /** 200 with this body, byte for byte. */
    | { readonly kind: 'body'; readonly body: RawBody; readonly contentType?: string }
    /** Silence for this time, then the regular answer. */
    | { readonly kind: 'latency'; readonly latencyMs: number }
    /** The head and this many bytes, then silence on an open connection, and the rest once `until` is resolved. */
    | { readonly kind: 'stall'; readonly afterBytes: number; readonly until?: Promise<unknown> }
    /**
     * The connection ends after this many bytes, or at the end of the body: `end` closes it in order
     * (FIN), `reset` does not (RST). In both cases the last chunk is missing.
     */
    | {
        readonly kind: 'cut';
        readonly afterBytes: number;
        readonly how: 'reset' | 'end';
      }
    /** This many bytes at a time, with a pause in between. */
    | { readonly kind: 'drip'; readonly bytes: number; readonly everyMs: number }
  );

/** The faults in the order in which requests use them. */
export class FaultPlan {
  #waiting: Fault[] = [];

  add(...faults: readonly Fault[]): void {
    for (const fault of faults) {
      const { times = 1 } = fault;
      this.#waiting.push(...Array<Fault>(times === 'forever' ? 1 : times).fill(fault));
    }
  }

  clear(): void {
    this.#waiting = [];
  }

  /** Returns the first fault that applies to this request, and uses it once. */
  take(operation: Operation, dates: readonly string[]): Fault | null {
    const at = this.#waiting.findIndex(
      (fault) =>
        (fault.operation ?? operation) === operation &&
        (fault.date === undefined || dates.includes(fault.date)),
    );
    const found = this.#waiting[at] ?? null;
    if (found !== null && found.times !== 'forever') this.#waiting.splice(at, 1);
    return found;
  }
}

/**
 * A reset discards data that the client has not read yet, and libuv reports a reset together with
 * data as an orderly end. The delay lets the client read first.
 */
const RESET_DELAY_MS = 50;

/** Whether the fault replaces the answer, so that the request must have no effect. */
export function standsIn(fault: Fault | null): boolean {
  return fault?.kind === 'status' || fault?.kind === 'body';
}

/**
 * Sends the answer with the fault applied. This is the only function that turns faults into bytes.
 * It writes to the response itself, because a framework would repair the faults. Resolves when the system has all
 * bytes or the client has disconnected.
 */
export async function sendAnswer(
  response: ServerResponse,
  answer: Answer,
  fault: Fault | null,
): Promise<void> {
  const gone = new AbortController();
  const { signal } = gone;
  response.once('close', () => gone.abort());
  try {
    if (fault?.kind === 'latency') await delay(fault.latencyMs, undefined, { signal });
    const spoilt = withFault(answer, fault, signal);
    response.writeHead(spoilt.status, spoilt.headers);
    response.flushHeaders();
    for await (const chunk of spoilt.body) {
      await write(response, chunk, signal);
      // With a fast reader no write ever waits, and other requests would get no turn.
      await nextTurn();
    }
    if (fault?.kind !== 'cut') response.end();
    else if (fault.how === 'end') response.socket?.destroySoon();
    else {
      await delay(RESET_DELAY_MS);
      response.socket?.resetAndDestroy();
    }
  } catch (error) {
    const isClientGone = signal.aborted || (response.socket?.destroyed ?? true);
    response.destroy();
    if (!isClientGone) throw error;
  }
}

/** Applies the fault to the head and the content of the answer. */
function withFault(answer: Answer, fault: Fault | null, signal: AbortSignal): Answer {
  switch (fault?.kind) {
    case 'status': {
      const message = JSON.stringify({ status: fault.status, message: 'a fault on demand' });
      const headers = { 'content-type': fault.contentType ?? JSON_TYPE, ...fault.headers };
      return bytesAnswer(fault.status, fault.body ?? message, headers);
    }
    case 'body': {
      const body = typeof fault.body === 'function' ? fault.body() : [Buffer.from(fault.body)];
      return { status: 200, headers: { 'content-type': fault.contentType ?? JSON_TYPE }, body };
    }
    case 'drip':
      return { ...answer, body: drip(answer.body, fault.bytes, fault.everyMs, signal) };
    case 'stall': {
      // For ever, unless told: until the client or the sandbox closes the connection.
      const until = async () => fault.until ?? once(new EventEmitter(), 'never', { signal });
      return { ...answer, body: pausing(answer.body, fault.afterBytes, until) };
    }
    case 'cut': {
      const { 'content-length': _, ...headers } = answer.headers;
      return { ...answer, headers, body: beginning(answer.body, fault.afterBytes) };
    }
    default:
      return answer;
  }
}

/** Resolves when the system has taken the bytes. This is the backpressure: one chunk at a time. */
function write(response: ServerResponse, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onGone = () => reject(signal.reason);
    if (signal.aborted) return onGone();
    signal.addEventListener('abort', onGone, { once: true });
    response.write(bytes, (error) => {
      signal.removeEventListener('abort', onGone);
      if (error) reject(error);
      else resolve();
    });
  });
}

async function* beginning(body: Answer['body'], bytes: number): AsyncGenerator<Uint8Array, void> {
  let leftBytes = bytes;
  for await (const chunk of body) {
    if (leftBytes > 0) yield chunk.subarray(0, leftBytes);
    leftBytes -= chunk.length;
    if (leftBytes <= 0) return;
  }
}

async function* pausing(
  body: Answer['body'],
  afterBytes: number,
  until: () => Promise<unknown>,
): AsyncGenerator<Uint8Array, void> {
  let leftBytes = afterBytes;
  for await (const chunk of body) {
    if (chunk.length <= leftBytes) {
      yield chunk;
      leftBytes -= chunk.length;
      continue;
    }
    yield chunk.subarray(0, leftBytes);
    await until();
    yield chunk.subarray(leftBytes);
    leftBytes = Number.POSITIVE_INFINITY;
  }
}

async function* drip(
  body: Answer['body'],
  bytes: number,
  everyMs: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of body) {
    for (let offset = 0; offset < chunk.length; offset += bytes) {
      yield chunk.subarray(offset, offset + bytes);
      await delay(everyMs, undefined, { signal });
    }
  }
}
