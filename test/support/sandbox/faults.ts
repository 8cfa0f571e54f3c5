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
        readonly headers?: Readonly<Record<string, string>>;
        readonly body?: string;
        readonly contentType?: string;
      }
    /** 200 with this body. */
    | {
        readonly kind: 'body';
        readonly body: string;
        readonly contentType?: string;
      }
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
  #waiting: { readonly fault: Fault; timesLeft: number }[] = [];

  add(...faults: readonly Fault[]): void {
    for (const fault of faults) {
      const { times = 1 } = fault;
      this.#waiting.push({ fault, timesLeft: times === 'forever' ? Infinity : times });
    }
  }

  clear(): void {
    this.#waiting = [];
  }

  /** Returns the first fault that applies to this request, and uses it once. */
  take(operation: Operation, dates: readonly string[]): Fault | null {
    const found = this.#waiting.find(
      ({ fault }) =>
        (fault.operation === undefined || fault.operation === operation) &&
        (fault.date === undefined || dates.includes(fault.date)),
    );
    if (found === undefined) return null;
    found.timesLeft -= 1;
    if (found.timesLeft === 0) this.#waiting = this.#waiting.filter((entry) => entry !== found);
    return found.fault;
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
 * It writes to the response itself, because a framework would repair the faults. `onHead` is called
 * when the head was sent. Resolves when the system has all bytes or the client has disconnected.
 */
export async function sendAnswer(
  response: ServerResponse,
  answer: Answer,
  fault: Fault | null,
  onHead: (status: number) => void,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    if (fault?.kind === 'latency') await delay(fault.latencyMs, undefined, { signal: gone.signal });
    const spoilt = withFault(answer, fault, gone.signal);
    response.writeHead(spoilt.status, spoilt.headers);
    response.flushHeaders();
    onHead(spoilt.status);
    await writeBody(response, spoilt.body, byteLimit(fault), gone.signal);
    await finish(response, fault);
  } catch (error) {
    const isClientGone = gone.signal.aborted || (response.socket?.destroyed ?? true);
    response.destroy();
    if (!isClientGone) throw error;
  }
}

/** Applies the fault to the head and the content of the answer, and `finish` to its end. */
function withFault(answer: Answer, fault: Fault | null, signal: AbortSignal): Answer {
  switch (fault?.kind) {
    case 'status': {
      const message = JSON.stringify({ status: fault.status, message: 'a fault on demand' });
      const contentType = { 'content-type': fault.contentType ?? JSON_TYPE };
      const headers = { ...contentType, ...lowerCaseNames(fault.headers ?? {}) };
      return bytesAnswer(fault.status, fault.body ?? message, headers);
    }
    case 'body': {
      const bytes = Buffer.from(fault.body);
      return bytesAnswer(200, bytes, { 'content-type': fault.contentType ?? JSON_TYPE });
    }
    case 'drip':
      return { ...answer, body: drip(answer.body, fault.bytes, fault.everyMs, signal) };
    case 'stall':
      return fault.until === undefined
        ? answer
        : { ...answer, body: pausing(answer.body, fault.afterBytes, fault.until) };
    case 'cut': {
      const { 'content-length': _, ...headers } = answer.headers;
      return { ...answer, headers };
    }
    default:
      return answer;
  }
}

async function finish(response: ServerResponse, fault: Fault | null): Promise<void> {
  if (fault?.kind === 'cut') {
    if (fault.how === 'end') {
      response.socket?.destroySoon();
      return;
    }
    await delay(RESET_DELAY_MS);
    response.socket?.resetAndDestroy();
  } else if (fault?.kind !== 'stall' || fault.until !== undefined) {
    // A stalled answer stays open until the client or the sandbox closes it.
    response.end();
  }
}

function byteLimit(fault: Fault | null): number {
  if (fault?.kind === 'cut') return fault.afterBytes;
  if (fault?.kind === 'stall' && fault.until === undefined) return fault.afterBytes;
  return Number.POSITIVE_INFINITY;
}

async function writeBody(
  response: ServerResponse,
  body: Answer['body'],
  limitBytes: number,
  signal: AbortSignal,
): Promise<void> {
  let leftBytes = limitBytes;
  if (leftBytes === 0) return;
  for await (const chunk of body) {
    const part = chunk.length > leftBytes ? chunk.subarray(0, leftBytes) : chunk;
    leftBytes -= part.length;
    await write(response, part, signal);
    if (leftBytes === 0) return;
    // With a fast reader no write ever waits, and other requests would get no turn.
    await nextTurn();
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

async function* pausing(
  body: Answer['body'],
  afterBytes: number,
  until: Promise<unknown>,
): AsyncGenerator<Uint8Array, void> {
  let leftBytes = afterBytes;
  for await (const chunk of body) {
    if (chunk.length <= leftBytes) {
      yield chunk;
      leftBytes -= chunk.length;
      continue;
    }
    yield chunk.subarray(0, leftBytes);
    await until;
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

function lowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
